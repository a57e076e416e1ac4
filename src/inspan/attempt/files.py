"""The attempt directory's files: what is written once, and what an agent left, read without trusting it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from inspan.attempt.contract import AttemptRequest, TerminalRecord
from inspan.errors import StateError
from inspan.files import DIRECTORY, beneath, open_regular, read_capped, write_once
from inspan.spec.paths import AttemptPaths

REPORT_LIMIT = 64 << 10
"""Bytes of a report; a larger one is not read."""


def starts(paths: AttemptPaths) -> Path:
    """One line per runner that got the lock; it never has more than one."""
    return paths.root / "starts"


def write_record(paths: AttemptPaths, record: TerminalRecord) -> bool:
    """Write the terminal record; False when one was there first, which then stands."""
    return write_once(paths.record, msgspec.json.encode(record))


def read_record(paths: AttemptPaths) -> TerminalRecord | None:
    """The terminal record, None while there is none.

    Raises:
        StateError: for a record that cannot be read.
    """
    try:
        return msgspec.json.decode(paths.record.read_bytes(), type=TerminalRecord)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as e:
        raise StateError(
            f"the terminal record cannot be read: {e}", where=str(paths.record), do="report this as a bug"
        ) from e


def read_request(paths: AttemptPaths) -> AttemptRequest:
    """The frozen request.

    Raises:
        StateError: for a request that is missing or cannot be read.
    """
    try:
        return msgspec.json.decode(paths.request.read_bytes(), type=AttemptRequest)
    except (OSError, msgspec.MsgspecError) as e:
        raise StateError(f"the attempt's request cannot be read: {e}", where=str(paths.request)) from e


def _enter(parent: int, name: str, owner: tuple[int, int]) -> int:
    """Open a directory below ``parent`` without following links; made when missing, the owner's in any case."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=parent)
    fd = os.open(name, DIRECTORY, dir_fd=parent)
    _own(fd, owner)
    return fd


def _own(fd: int, owner: tuple[int, int]) -> None:
    if os.geteuid() == 0:
        os.fchown(fd, *owner)


def place(home: str, relative: str, data: bytes | None, owner: tuple[int, int]) -> None:
    """Put a file (or, with no data, a directory) below a HOME that set-up commands may have written to.

    Raises:
        OSError: when a link stands in the way.
    """
    parts = [p for p in relative.split("/") if p]
    if ".." in parts or not parts:
        raise ValueError(f"not a path below HOME: {relative!r}")
    fd = os.open(home, DIRECTORY)
    try:
        for name in parts if data is None else parts[:-1]:
            below = _enter(fd, name, owner)
            os.close(fd)
            fd = below
        if data is None:
            return
        with contextlib.suppress(FileNotFoundError):
            os.unlink(parts[-1], dir_fd=fd)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(parts[-1], flags, 0o600, dir_fd=fd), "wb") as f:
            _own(f.fileno(), owner)
            f.write(data)
    finally:
        os.close(fd)


def take(home: str, relative: str, limit: int = REPORT_LIMIT) -> bytes | None:
    """A regular file the agent left below HOME, by descriptors and without following links.

    None when there is none, when it is not a plain file, or when it is larger than ``limit`` bytes.
    """
    *above, name = [p for p in relative.split("/") if p]
    try:
        with beneath(home, above) as at, open_regular(name, at=at) as file:
            return read_capped(file, limit) if os.fstat(file.fileno()).st_nlink == 1 else None
    except OSError:
        return None
