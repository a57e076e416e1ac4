"""The attempt directory's files: what is written once, and what an agent left, read without trusting it."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from inspan.attempt.contract import AttemptRequest, TerminalRecord
from inspan.errors import StateError
from inspan.spec.paths import AttemptPaths

REPORT_LIMIT = 64 << 10
"""Bytes of a report; a larger one is not read."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def timestamp() -> str:
    """Now, RFC 3339 UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def starts(paths: AttemptPaths) -> Path:
    """One line per runner that got the lock; it never has more than one."""
    return paths.root / "starts"


def write_once(path: Path, data: bytes) -> bool:
    """Create ``path`` whole or not at all; False when it is there already. Durable before it returns."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
    finally:
        os.unlink(temporary)
    directory = os.open(path.parent, _DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
    return True


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


def _enter(parent: int, name: str, owner: tuple[int, int] | None) -> int:
    """Open a directory below ``parent`` without following links; with an owner it is made when missing."""
    if owner is not None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
    fd = os.open(name, _DIRECTORY, dir_fd=parent)
    if owner is not None:
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
    fd = os.open(home, _DIRECTORY)
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
    parts = [p for p in relative.split("/") if p]
    try:
        fd = os.open(home, _DIRECTORY)
    except OSError:
        return None
    try:
        for name in parts[:-1]:
            below = _enter(fd, name, None)
            os.close(fd)
            fd = below
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(parts[-1], flags, dir_fd=fd)
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
                return None
            data = b""
            while len(data) <= limit and (chunk := os.read(file, limit + 1 - len(data))):
                data += chunk
            return data if len(data) <= limit else None
        finally:
            os.close(file)
    except OSError:
        return None
    finally:
        os.close(fd)
