"""Landlock by system calls: what may be reached of the file system, and no TCP of one's own. Standard library only.

Used by the keeper, which makes the ruleset while it may still look at everything, and by the process that becomes the
program, which takes it upon itself. Source: Documentation/userspace-api/landlock.rst of the kernel.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

CREATE, ADD_RULE, RESTRICT = 444, 445, 446  # the same numbers on every architecture
_VERSION, _PATH_BENEATH = 1, 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
_OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

READ = EXECUTE | READ_FILE | READ_DIR
"""Rights over what may be read and run."""

LEAST = 4
"""The first interface version that holds TCP; what is older is no level."""
SCOPED = 6
"""The first one by which a process can signal only processes of its own domain."""

_libc = ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def interface() -> int:
    """Version of the kernel's Landlock interface; minus an errno where there is none (ENOSYS), it is switched off
    (EOPNOTSUPP), or a filter refuses the call (EPERM, or ENOSYS again)."""
    try:
        return _call(CREATE, None, ctypes.c_size_t(0), _VERSION)
    except OSError as error:
        return -(error.errno or 1)


def file_rights(version: int) -> int:
    """Every right over files that an interface version knows."""
    return (1 << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1


def ruleset(read: Iterable[str], write: Iterable[str], version: int) -> int:
    """A descriptor of rules: everything is refused but reading below ``read`` and reading and writing below ``write``.

    No TCP port is granted, neither to connect nor to bind. Paths that do not exist are passed over. Devices cannot be
    made anywhere.

    Raises:
        OSError: when the kernel refuses.
    """
    everything = file_rights(version)
    scope = 3 if version >= SCOPED else 0  # abstract sockets, signals
    handled = struct.pack("QQQ", everything, 3, scope)[: 24 if version >= SCOPED else 16]
    rules = _call(CREATE, handled, ctypes.c_size_t(len(handled)), 0)
    try:
        for paths, rights in ((read, READ), (write, everything & ~(_MAKE_CHAR | _MAKE_BLOCK))):
            for path in paths:
                _allow(rules, path, rights)
    except BaseException:
        os.close(rules)
        raise
    return rules


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        at = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        kept = rights if stat.S_ISDIR(os.fstat(at).st_mode) else rights & _OF_A_FILE
        rule = struct.pack("=Qi", kept, at)
        _call(ADD_RULE, rules, _PATH_BENEATH, rule, 0)
    finally:
        os.close(at)


def restrict(rules: int) -> None:
    """Take the rules upon this process and all its descendants, for good. New privileges must be given up before.

    Raises:
        OSError: when the kernel refuses.
    """
    _call(RESTRICT, rules, 0)
