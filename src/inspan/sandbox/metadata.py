"""Mode, owner and times of files, changed for a tree that shares the host's files. Standard library only.

Landlock asks about content and not about these, so that a program of the user's own identity could open the user's
files to others, or close them to the user, anywhere. So they are changed outside, and only below what may be written:
the path is opened as the caller would open it, what it led to is judged, and that file is changed; see ``watching``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

_AT_FDCWD, _NO_FOLLOW, _EMPTY_PATH = -100, 0x100, 0x1000
_LONGEST = 4096

_libc = ctypes.CDLL(None, use_errno=True)


class _Form(NamedTuple):
    """Where a call has what: indexes of its arguments, None where it has none.

    ``at`` is a directory, or the file itself where there is no ``path``; ``follow``: whether a link is followed.
    """

    change: str
    value: int
    at: int | None = None
    path: int | None = None
    flags: int | None = None
    follow: bool = True


FORMS = {
    "chmod": _Form("mode", 1, path=0),
    "fchmod": _Form("mode", 1, at=0),
    "fchmodat": _Form("mode", 2, at=0, path=1),
    "fchmodat2": _Form("mode", 2, at=0, path=1, flags=3),
    "chown": _Form("owner", 1, path=0),
    "lchown": _Form("owner", 1, path=0, follow=False),
    "fchown": _Form("owner", 1, at=0),
    "fchownat": _Form("owner", 2, at=0, path=1, flags=4),
    "utime": _Form("seconds", 1, path=0),
    "utimes": _Form("microseconds", 1, path=0),
    "futimesat": _Form("microseconds", 2, at=0, path=1),
    "utimensat": _Form("nanoseconds", 2, at=0, path=1, flags=3),
}
"""Every call that is watched, by its name."""


def answers(numbers: dict[str, int], roots: Collection[str]) -> dict[int, Callable[[Any], int]]:
    """What ``watching.watch`` needs to know.

    Args:
        numbers: of the system calls, by name; those this architecture does not have are left out.
        roots: real paths below which files may be changed.
    """

    def one(form: _Form) -> Callable[[Any], int]:
        return lambda call: change(call, form, roots)

    return {numbers[name]: one(form) for name, form in FORMS.items() if name in numbers}


def allowed(real: str, roots: Collection[str]) -> bool:
    """Whether a file that the kernel calls ``real`` may be changed."""
    if real.startswith("/memfd:") or not real.startswith("/"):
        return True  # memory of the caller's own, or a pipe
    return any(real == root or real.startswith(root.rstrip("/") + "/") for root in roots)


def change(call: Any, form: _Form, roots: Collection[str]) -> int:
    """Do what a call asks for where it is allowed; 0 or an error number.

    Args:
        call: a ``watching.Call`` of the form ``form``.
    """
    held = _opened(call, form)
    try:
        if not allowed(os.readlink(f"/proc/self/fd/{held}"), roots):
            return errno.EPERM
        if form.change == "mode":
            if stat.S_ISLNK(os.fstat(held).st_mode):
                return errno.EOPNOTSUPP
            os.chmod(f"/proc/self/fd/{held}", call.number(form.value) & 0o7777)
            return 0
        if form.change == "owner":
            uid, gid = call.number(form.value), call.number(form.value + 1)
            return _result(_libc.fchownat(held, b"", ctypes.c_int(uid), ctypes.c_int(gid), _EMPTY_PATH))
        return _result(_libc.utimensat(held, b"", _times(call, form), _EMPTY_PATH))
    finally:
        os.close(held)


def _opened(call: Any, form: _Form) -> int:
    """The file a call means, as a descriptor that can be nothing but named."""
    address = None if form.path is None else call.arguments[form.path]
    if not address:  # the file is the descriptor itself
        if form.at is None:
            raise OSError(errno.EFAULT, "no path")
        return int(call.descriptor(call.number(form.at)))
    flags = 0 if form.flags is None else call.number(form.flags)
    path = _path(call, address)
    at = _AT_FDCWD if form.at is None else call.number(form.at)
    if not path:
        if not flags & _EMPTY_PATH:
            raise OSError(errno.ENOENT, "no path")
        if at != _AT_FDCWD:
            return int(call.descriptor(at))
        path = b"."
    if os.readlink(f"/proc/{call.pid}/root") != "/":
        raise OSError(errno.EPERM, "another root")
    how = os.O_PATH | os.O_CLOEXEC | (0 if form.follow and not flags & _NO_FOLLOW else os.O_NOFOLLOW)
    if path.startswith(b"/"):
        return os.open(_own(path, call.pid), how)
    directory = os.open(f"/proc/{call.pid}/cwd", os.O_PATH | os.O_CLOEXEC) if at == _AT_FDCWD else call.descriptor(at)
    try:
        return os.open(path, how, dir_fd=directory)
    finally:
        os.close(directory)


def _path(call: Any, address: int) -> bytes:
    """A path in the caller's memory, read page by page: what stands behind its end may not be there."""
    found = b""
    while b"\0" not in found:
        if len(found) >= _LONGEST:
            raise OSError(errno.ENAMETOOLONG, "path")
        block = call.memory(address + len(found), 4096 - (address + len(found)) % 4096)
        if not block:
            raise OSError(errno.EFAULT, "path")
        found += block
    return found[: found.index(b"\0")]


def _own(path: bytes, pid: int) -> bytes:
    """What the caller calls its own in /proc would be ours."""
    for name in (b"/proc/self/", b"/proc/thread-self/", b"/dev/fd/"):
        if path.startswith(name):
            return b"/proc/%d/%s" % (pid, b"fd/" * (name == b"/dev/fd/") + path[len(name) :])
    return path


def _times(call: Any, form: _Form) -> bytes | None:
    """Two ``struct timespec``; None for now."""
    address = call.arguments[form.value]
    if not address:
        return None
    length = 16 if form.change == "seconds" else 32
    copied = call.memory(address, length)
    if len(copied) < length:
        raise OSError(errno.EFAULT, "times")
    if form.change == "seconds":
        return struct.pack("qqqq", *(part for second in struct.unpack("qq", copied) for part in (second, 0)))
    if form.change == "microseconds":
        first, micro, second, more = struct.unpack("qqqq", copied)
        if not (0 <= micro < 1_000_000 and 0 <= more < 1_000_000):
            raise OSError(errno.EINVAL, "times")
        return struct.pack("qqqq", first, micro * 1000, second, more * 1000)
    return bytes(copied)


def _result(status: int) -> int:
    return 0 if status == 0 else ctypes.get_errno()
