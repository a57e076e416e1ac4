"""Opening the state's database, and what its failures mean to people."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from inspan.errors import StateError
from inspan.spec.paths import State
from inspan.store.named import migrations, version

_BUSY_SECONDS = 30.0
_PRIVATE_DIRECTORY, _PRIVATE_FILE = 0o700, 0o600


DISK_FULL = "The disk is full; the state cannot be written."


@contextlib.contextmanager
def explained(where: Path) -> Iterator[None]:
    """Turn what SQLite and the file system say into a ``StateError`` that says what to do."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise  # a guard of ours; the caller knows which
    except (sqlite3.Error, OSError) as error:
        raise explanation(error, where) from error


def explanation(error: Exception, where: Path) -> StateError:
    """What a failure of SQLite or of the file system means, and what to do about it."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if full or "disk is full" in text:
        return StateError(
            DISK_FULL,
            where=str(where),
            do="Free some space, or set INSPAN_HOME to a directory on a larger disk.",
            reason="disk_full",
        )
    denied = isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
    if denied or "readonly" in text or "unable to open" in text:
        return StateError(
            f"The state directory cannot be written: {text}.",
            where=str(where),
            do="Make it writable for you, or set INSPAN_HOME to a directory that is.",
        )
    if "not a database" in text or "malformed" in text:
        return StateError(
            f"The state's database is damaged: {text}.",
            where=str(where),
            do="Move the file aside and restore a copy; branches already delivered are in your repository.",
        )
    if "locked" in text:
        return StateError(
            f"Another program kept the state's database locked for {_BUSY_SECONDS:.0f} seconds.",
            where=str(where),
            do="Try again; if it stays locked, look for a stopped inspan process.",
        )
    return StateError(f"The state cannot be used: {text}.", where=str(where), do="Check the state directory.")


def make_private_directory(path: Path) -> None:
    """Create ``path`` and its parents with mode 0700; what is there already stays as it is."""
    with explained(path):
        missing: list[Path] = []
        at = path
        while not at.exists():
            missing.append(at)
            at = at.parent
        for directory in reversed(missing):
            with contextlib.suppress(FileExistsError):
                os.mkdir(directory, _PRIVATE_DIRECTORY)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "it is not a directory", str(path))


def open_writer(state: State) -> sqlite3.Connection:
    """A connection for one driver: tables migrated, WAL set, mode 0600. Guard it with a lock when threads share it.

    Raises:
        StateError: ``state_too_new`` when a newer program wrote the state; otherwise what the disk says.
    """
    make_private_directory(state.root)
    path = state.database
    with explained(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE_FILE))
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.row_factory = sqlite3.Row
            _refuse_newer(connection, path)
            _set_wal(connection)
            connection.execute("pragma foreign_keys = on")
            connection.execute("pragma synchronous = full")  # an outcome that was announced survives a power cut
            _migrate(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def open_reader(state: State) -> sqlite3.Connection | None:
    """A read-only connection, None when there is no state yet. Creates and migrates nothing.

    Raises:
        StateError: as ``open_writer``.
    """
    path = state.database
    with explained(path):
        if not path.exists():
            if state.root.exists() and not state.root.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, "it is not a directory", str(state.root))
            return None
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
        try:
            connection.row_factory = sqlite3.Row
            _refuse_newer(connection, path)
            if _written(connection) == 0:
                connection.close()
                return None
        except BaseException:
            connection.close()
            raise
    return connection


def _written(connection: sqlite3.Connection) -> int:
    return int(connection.execute("pragma user_version").fetchone()[0])


def _refuse_newer(connection: sqlite3.Connection, path: Path) -> None:
    found = _written(connection)
    if found > version():
        raise StateError(
            f"The state was written by a newer Inspan: version {found} of the tables, this program knows {version()}.",
            where=str(path),
            do="Upgrade Inspan, or set INSPAN_HOME to another directory.",
            reason="state_too_new",
        )


def _set_wal(connection: sqlite3.Connection) -> None:
    """Switching the journal needs the file alone for a moment and does not honour the busy timeout by itself."""
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            if connection.execute("pragma journal_mode = wal").fetchone()[0] == "wal":
                return
            raise sqlite3.OperationalError("this file system cannot hold a write-ahead log; use a local one")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.02)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    if _written(connection) == version():
        return
    with transaction(connection):
        _refuse_newer(connection, path)
        for number, script in migrations():
            if number > _written(connection):
                for statement in _statements(script):
                    connection.execute(statement)
                connection.execute(f"pragma user_version = {number}")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Everything of the block or nothing of it, under the write lock."""
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:  # a full disk has rolled back already, and must not be hidden by a second error
            connection.execute("rollback")
        raise


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; ``executescript`` would commit the transaction that holds the lock."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if line.rstrip().endswith(";") and sqlite3.complete_statement(pending):
            yield pending
            pending = ""
