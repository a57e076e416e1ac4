"""The system call filter where network, IPC and process numbers are the host's: put before the filter of ``seccomp``.

Landlock holds files and TCP. What reaches past it is refused here: every socket that is not plain TCP (UDP carries DNS;
a path socket leads to a session bus or an agent that starts programs outside; MPTCP is no TCP to Landlock), listening
without a bind, fast open, which connects without the call that is watched, and the host's System V and message queues.
``connect`` is answered by a watcher outside, which alone knows the one address there is (see ``connecting``), and so is
what changes the metadata of files (see ``metadata``). Extended attributes cannot be set.
"""

from __future__ import annotations

import errno
import platform
import socket
import struct

from inspan.errors import SandboxError
from inspan.sandbox.metadata import FORMS

_ALLOW, _ERRNO, _NOTIFY = 0x7FFF0000, 0x00050000, 0x7FC00000
_LOAD, _EQUAL, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
_FAST_OPEN = 0x20000000
_TYPE = 0xF
"""The bits of a socket's type that are not flags."""

_NUMBERS = {
    "x86_64": {
        "connect": 42, "listen": 50, "socket": 41, "socketpair": 53, "sendto": 44, "sendmsg": 46, "sendmmsg": 307,
        "prlimit64": 302, "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66,
        "semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "mq_open": 240, "mq_unlink": 241,
        "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "fchown": 93, "lchown": 94,
        "fchownat": 260, "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188,
        "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
        "setxattrat": 463, "removexattrat": 466, "file_setattr": 469,
    },
    "aarch64": {
        "connect": 203, "listen": 201, "socket": 198, "socketpair": 199, "sendto": 206, "sendmsg": 211,
        "sendmmsg": 269, "prlimit64": 261, "shmget": 194, "shmat": 196, "shmctl": 195, "semget": 190, "semop": 193,
        "semctl": 191, "semtimedop": 192, "msgget": 186, "msgsnd": 189, "msgrcv": 188, "msgctl": 187, "mq_open": 180,
        "mq_unlink": 181, "fchmod": 52, "fchmodat": 53, "fchmodat2": 452, "fchownat": 54, "fchown": 55,
        "utimensat": 88, "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15,
        "fremovexattr": 16, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469,
    },
}  # fmt: skip

REFUSED = (
    "listen", "shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop", "msgget", "msgsnd", "msgrcv",
    "msgctl", "mq_open", "mq_unlink",
)  # fmt: skip
"""Calls that have no use left, or reach objects of the host that no rule covers."""

WATCHED = ("connect", *FORMS)
"""Calls that a watcher outside answers."""

_UNSUPPORTED = (
    "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "setxattrat", "removexattrat",
    "file_setattr",
)  # fmt: skip
"""Calls on metadata that hardly a program needs, and whose refusal each knows from other file systems."""

_Step = tuple[int, int, int, int]
"""Operation, instructions to skip when true, when false, operand."""


def program(machine: str | None = None) -> bytes:
    """The filter for ``machine`` (this one by default), as an array of ``struct sock_filter``.

    It allows what it does not know: the filter of ``seccomp`` judges as well, and the stricter answer counts.

    Raises:
        SandboxError: for an architecture whose call numbers are not known.
    """
    machine = machine or platform.machine()
    numbers = _NUMBERS.get(machine)
    if numbers is None:
        raise SandboxError(f"no system call filter for the architecture {machine}", do="run on x86_64 or aarch64")
    steps: list[_Step] = [(_LOAD, 0, 0, 0)]
    for number in watched(machine).values():
        steps += _block(number, [(_RETURN, 0, 0, _NOTIFY)])
    for name in _UNSUPPORTED:
        steps += _block(numbers[name], [_refuse(errno.EOPNOTSUPP)])
    for name in REFUSED:
        steps += _block(numbers[name], [_refuse(errno.EPERM)])
    for name, flags in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)):
        steps += _block(numbers[name], [_argument(flags), (_ANY_BIT, 0, 1, _FAST_OPEN), _refuse(errno.EOPNOTSUPP)])
    # Limits of another process are a way to end it; 0 is the caller itself.
    steps += _block(numbers["prlimit64"], [_argument(0), (_EQUAL, 1, 0, 0), _refuse(errno.EPERM)])
    steps += _block(numbers["socket"], _sockets())
    steps += _block(numbers["socketpair"], _pairs())
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def watched(machine: str | None = None) -> dict[str, int]:
    """Numbers of the calls a watcher answers, by name, as far as the architecture has them."""
    numbers = _NUMBERS[machine or platform.machine()]
    return {name: numbers[name] for name in WATCHED if name in numbers}


def _block(number: int, steps: list[_Step]) -> list[_Step]:
    """``steps`` for one call, then allowed; another call goes on behind them with its number still loaded."""
    whole = [*steps, (_RETURN, 0, 0, _ALLOW)]
    return [(_EQUAL, 0, len(whole), number), *whole]


def _argument(index: int) -> _Step:
    """Load the low half of an argument, which is all of an int."""
    return (_LOAD, 0, 0, 16 + 8 * index)


def _refuse(error: int) -> _Step:
    return (_RETURN, 0, 0, _ERRNO | error)


def _sockets() -> list[_Step]:
    """TCP over IPv4 and IPv6, and netlink's routes, by which programs list their interfaces; nothing else."""
    return [
        _argument(0),
        (_EQUAL, 3, 0, socket.AF_INET),
        (_EQUAL, 2, 0, socket.AF_INET6),
        (_EQUAL, 8, 0, socket.AF_NETLINK),
        _refuse(errno.EAFNOSUPPORT),
        _argument(1),
        (_AND, 0, 0, _TYPE),
        (_EQUAL, 0, 3, socket.SOCK_STREAM),
        _argument(2),
        (_EQUAL, 5, 0, 0),
        (_EQUAL, 4, 0, socket.IPPROTO_TCP),
        _refuse(errno.EACCES),
        _argument(2),  # netlink
        (_EQUAL, 1, 0, 0),
        _refuse(errno.EACCES),
    ]


def _pairs() -> list[_Step]:
    """Connected pairs without a name. A datagram one could still be sent to any path."""
    return [
        _argument(0),
        (_EQUAL, 0, 4, socket.AF_UNIX),
        _argument(1),
        (_AND, 0, 0, _TYPE),
        (_EQUAL, 2, 0, socket.SOCK_STREAM),
        (_EQUAL, 1, 0, socket.SOCK_SEQPACKET),
        _refuse(errno.EAFNOSUPPORT),
    ]
