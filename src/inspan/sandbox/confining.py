"""What the keeper does for level ``landlock`` before the program runs. Standard library and siblings only.

The keeper makes the rules, then takes the job's identity. Its child takes rules and filters upon itself, tries what
must be refused, and says what it found. Nothing of the job has run by then, so that the report cannot be forged.
"""

from __future__ import annotations

import array
import ctypes
import errno
import os
import socket
import struct
from collections.abc import Callable
from typing import Any

_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 1 << 3, 1 << 5

_REFUSED = (errno.EACCES, errno.EPERM, errno.EAFNOSUPPORT)
_ANSWERED = (errno.ECONNREFUSED,)  # by the watcher: somebody does listen there

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def become(uid: int, gid: int) -> None:
    """Take the job's identity for good, where the caller is root."""
    if os.geteuid() == 0 and uid != 0:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        _checked(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl")


def restrict(spec: dict[str, Any], rules: int, landlock: Any) -> int:
    """Give up new privileges, then files and TCP, then system calls.

    Returns:
        The descriptor by which the watcher answers ``connect``.
    """
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    landlock.restrict(rules)
    _filter(bytes.fromhex(spec["filter"]), 0)
    return _filter(bytes.fromhex(spec["shared_filter"]), _NEW_LISTENER | _WAIT_KILLABLE)


def _filter(program: bytes, flags: int) -> int:
    held = ctypes.create_string_buffer(program, len(program))
    wanted = _Program(len(program) // 8, ctypes.cast(held, ctypes.c_void_p))
    number = _SECCOMP[os.uname().machine]
    return _checked(_libc.syscall(number, _SET_MODE_FILTER, flags, ctypes.byref(wanted)), "seccomp")


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def tried(spec: dict[str, Any], version: int, scoped_from: int) -> dict[str, Any]:
    """Try what must be refused, from inside.

    Returns:
        ``landlock`` (version of the interface), ``refused`` (names of what was), ``signals`` (``held`` where a process
        outside cannot be signalled, else ``same user``).

    Raises:
        OSError: something was not refused; says what.
    """
    attempts: dict[str, Callable[[], object]] = {
        "reading the host": lambda: os.listdir("/"),
        "reading a file": lambda: open(spec["canary"], "rb").close(),
        "writing a file": lambda: os.close(os.open(spec["canary"], os.O_WRONLY)),
        "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
        "path sockets": lambda: socket.socket(socket.AF_UNIX).close(),
        "vsock": lambda: socket.socket(socket.AF_VSOCK).close(),
        "tcp bind": lambda: socket.socket().bind(("127.0.0.1", 0)),
        "listen": lambda: socket.socket().listen(1),
        "tcp": lambda: socket.socket().connect(("127.0.0.1", spec["canary_port"])),
        "metadata of a file": lambda: os.chmod(spec["canary"], 0o600),
        "other processes": lambda: open(f"/proc/{os.getppid()}/environ", "rb").close(),
    }
    if version >= scoped_from:
        attempts["signals"] = lambda: os.kill(os.getppid(), 0)
    for name, attempt in attempts.items():
        try:
            attempt()
        except OSError as error:
            if error.errno not in (_ANSWERED if name == "tcp" else _REFUSED):
                raise OSError(f"{name}: {error.strerror}") from error
        else:
            raise OSError(f"the level does not hold: {name} was not refused")
    signals = "held" if version >= scoped_from else "same user"
    return {"landlock": version, "refused": sorted(attempts), "signals": signals}


def closed(program: str) -> str | None:
    """Why the program's file is out of reach from inside; None when it is not."""
    try:
        os.close(os.open(program, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as error:
        return f"{program}: {error.strerror}"
    return None


def hand_over(channel: socket.socket, notify: int) -> None:
    """Give the watcher its descriptor; the program must not have it."""
    channel.sendmsg([b"w"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [notify]))])
    os.close(notify)


def take_over(channel: socket.socket) -> int | None:
    """The watcher's descriptor; None when the process died before it had one."""
    message, ancillary, _, _ = channel.recvmsg(1, socket.CMSG_SPACE(struct.calcsize("i")))
    if not message or not ancillary:
        return None
    return int(array.array("i", ancillary[0][2][: struct.calcsize("i")])[0])
