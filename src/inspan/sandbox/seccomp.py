"""The seccomp filter every process inside a sandbox runs under, as a classic BPF program for ``bwrap --seccomp``.

A network namespace does not cover every address family (AF_VSOCK reaches the hypervisor), so ``socket`` is an
allow-list; ``io_uring`` could open sockets past it and is answered with "no such call"; calls that reach kernel state
no namespace covers are refused. A foreign architecture (or x32), whose call numbers would mean something else, is
killed.
"""

from __future__ import annotations

import errno
import platform
import socket
import struct

from inspan.errors import SandboxError

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_OFFSET_NR, _OFFSET_ARCH, _OFFSET_ARG0, _OFFSET_ARG1 = 0, 4, 16, 24
_X32_BIT = 0x40000000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
"""Address families a job may open sockets in."""

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_NUMBERS = {
    "x86_64": {
        "socket": 41, "socketpair": 53, "ioctl": 16, "io_uring_setup": 425, "io_uring_enter": 426,
        "io_uring_register": 427, "add_key": 248, "request_key": 249, "keyctl": 250, "bpf": 321,
        "perf_event_open": 298, "userfaultfd": 323, "kexec_load": 246, "kexec_file_load": 320, "init_module": 175,
        "finit_module": 313, "delete_module": 176, "open_by_handle_at": 304, "acct": 163, "swapon": 167,
        "swapoff": 168, "reboot": 169, "syslog": 103, "quotactl": 179, "quotactl_fd": 443, "lookup_dcookie": 212,
        "nfsservctl": 180, "vhangup": 153, "iopl": 172, "ioperm": 173, "settimeofday": 164, "clock_settime": 227,
        "clock_adjtime": 305, "adjtimex": 159, "fanotify_init": 300, "uselib": 134, "ustat": 136,
    },
    "aarch64": {
        "socket": 198, "socketpair": 199, "ioctl": 29, "io_uring_setup": 425, "io_uring_enter": 426,
        "io_uring_register": 427, "add_key": 217, "request_key": 218, "keyctl": 219, "bpf": 280,
        "perf_event_open": 241, "userfaultfd": 282, "kexec_load": 104, "kexec_file_load": 294, "init_module": 105,
        "finit_module": 273, "delete_module": 106, "open_by_handle_at": 265, "acct": 89, "swapon": 224,
        "swapoff": 225, "reboot": 142, "syslog": 116, "quotactl": 60, "quotactl_fd": 443, "lookup_dcookie": 18,
        "nfsservctl": 42, "vhangup": 58, "settimeofday": 170, "clock_settime": 112, "clock_adjtime": 266,
        "adjtimex": 171, "fanotify_init": 262,
    },
}  # fmt: skip

_MISSING = ("io_uring_setup", "io_uring_enter", "io_uring_register")
_SPECIAL = (*_MISSING, "socket", "socketpair", "ioctl")


def program(machine: str | None = None) -> bytes:
    """The filter for ``machine`` (this one by default), as an array of ``struct sock_filter``.

    Raises:
        SandboxError: for an architecture whose call numbers are not known.
    """
    machine = machine or platform.machine()
    if machine not in _NUMBERS:
        raise SandboxError(
            f"no system call filter for the architecture {machine}", do="run on x86_64 or aarch64, or use another level"
        )
    numbers = _NUMBERS[machine]
    steps = _foreign(machine)
    for name, number in numbers.items():
        if name not in _SPECIAL:
            steps += _answer(number, errno.EPERM)
    for name in _MISSING:
        steps += _answer(numbers[name], errno.ENOSYS)
    steps += _terminal_injection(numbers["ioctl"])
    for name in ("socket", "socketpair"):
        steps += _families(numbers[name])
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *step) for step in steps)


_Step = tuple[int, int, int, int]
"""Operation, instructions to skip when true, when false, operand."""


def _foreign(machine: str) -> list[_Step]:
    steps: list[_Step] = [
        (_LOAD, 0, 0, _OFFSET_ARCH),
        (_EQUAL, 1, 0, _AUDIT_ARCH[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _OFFSET_NR),
    ]
    if machine == "x86_64":
        steps += [(_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, _KILL)]
    return steps


def _answer(number: int, error: int) -> list[_Step]:
    return [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | error)]


def _terminal_injection(ioctl: int) -> list[_Step]:
    """TIOCSTI and TIOCLINUX would type into the terminal the job was started from."""
    return [
        (_EQUAL, 0, 5, ioctl),
        (_LOAD, 0, 0, _OFFSET_ARG1),
        (_EQUAL, 1, 0, _TIOCSTI),
        (_EQUAL, 0, 1, _TIOCLINUX),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_LOAD, 0, 0, _OFFSET_NR),
    ]


def _families(call: int) -> list[_Step]:
    known = len(FAMILIES)
    steps: list[_Step] = [(_EQUAL, 0, known + 3, call), (_LOAD, 0, 0, _OFFSET_ARG0)]
    steps += [(_EQUAL, known - index, 0, int(family)) for index, family in enumerate(FAMILIES)]
    return [*steps, (_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT), (_LOAD, 0, 0, _OFFSET_NR)]
