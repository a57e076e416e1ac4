"""Reading a small file somebody else may have written."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from inspan.errors import InvalidSpec

LARGEST = 1 << 20
"""Bytes of the largest file that is read."""


def read_file(path: Path, *, follow: bool) -> bytes | None:
    """The bytes of ``path``, None when there is no such file.

    Args:
        path: what to read.
        follow: whether ``path`` itself may be a symbolic link; never for a file that came with a repository.

    Raises:
        InvalidSpec: for a link, a directory, a device, a file over 1 MiB, or one that may not be read.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        why = "it is a symbolic link" if error.errno == errno.ELOOP else str(error.strerror)
        raise _unreadable(path, why) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _unreadable(path, "it is not a regular file")
        if status.st_size > LARGEST:
            raise _unreadable(path, f"it is larger than {LARGEST} bytes")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(LARGEST)
    finally:
        os.close(descriptor)


def _unreadable(path: Path, why: str) -> InvalidSpec:
    return InvalidSpec(f"{path.name} cannot be read: {why}", where=str(path), do="make it a regular, readable file")
