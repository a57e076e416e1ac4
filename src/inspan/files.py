"""Regular files read without being led elsewhere or flooded, files written whole or not at all, and lock files.

Every failure is an ``OSError`` whose ``strerror`` says why in a few words; callers give it its place in the error tree.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags that open a directory and never a link to one."""
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # without O_NONBLOCK a pipe would be waited for
_PRIVATE = 0o600
_CHUNK = 1 << 16

AnyPath = str | bytes | os.PathLike[str]


@contextmanager
def beneath(root: AnyPath, parts: Sequence[str] | Sequence[bytes] = ()) -> Iterator[int]:
    """A descriptor of the directory ``parts`` below ``root``, reached component by component, following nothing.

    Raises:
        OSError: a component is missing or is no directory.
    """
    here = os.open(root, DIRECTORY)
    try:
        for part in parts:
            inner = os.open(part, DIRECTORY, dir_fd=here)
            os.close(here)
            here = inner
        yield here
    finally:
        os.close(here)


def open_regular(path: AnyPath, *, at: int | None = None, follow: bool = False) -> BufferedReader:
    """Open a file for reading once it is known to be a regular one; nothing else is read from or waited for.

    Args:
        path: what to open.
        at: the directory a relative ``path`` starts from.
        follow: whether ``path`` itself may be a symbolic link; never for a file somebody else could have placed.

    Raises:
        OSError: it is missing, a link, a directory, a pipe, a device, or may not be read.
    """
    try:
        descriptor = os.open(path, _FILE if follow else _FILE | os.O_NOFOLLOW, dir_fd=at)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link", path) from None
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_capped(file: BufferedReader, limit: int) -> bytes:
    """The rest of an open file, however it grows meanwhile.

    Raises:
        OSError: (EFBIG) it holds more than ``limit`` bytes.
    """
    chunks, left = [], limit + 1
    while left and (chunk := file.read(min(left, _CHUNK))):
        chunks.append(chunk)
        left -= len(chunk)
    if not left:
        raise OSError(errno.EFBIG, f"it is larger than {limit} bytes")
    return b"".join(chunks)


def read_regular(path: AnyPath, limit: int, *, at: int | None = None, follow: bool = False) -> bytes:
    """The whole of a regular file of at most ``limit`` bytes; see ``open_regular`` and ``read_capped``."""
    with open_regular(path, at=at, follow=follow) as file:
        return read_capped(file, limit)


def write_whole(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path``, mode 0600, in place of what was there. Durable before it returns.

    Raises:
        OSError: full disk, no permission; what was at ``path`` is then unchanged.
    """
    with _beside(path, data) as written:
        os.replace(written, path)


def write_once(path: Path, data: bytes) -> bool:
    """As ``write_whole``, but what is there already stands: False then. Of many writers exactly one wins."""
    with _beside(path, data) as written:
        try:
            os.link(written, path)
        except FileExistsError:
            return False
    return True


@contextmanager
def _beside(path: Path, data: bytes) -> Iterator[Path]:
    """A new file of the same directory that holds ``data``, gone afterwards unless it was given another name."""
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield scratch
    finally:
        with contextlib.suppress(OSError):
            os.unlink(scratch)
    with beneath(path.parent) as directory:
        os.fsync(directory)


@contextmanager
def holding(lock: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold a lock file, made when missing; who comes second waits. It falls with the process, however that ends.

    Args:
        shared: together with others who say so.

    Raises:
        OSError: it cannot be made or locked.
    """
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
