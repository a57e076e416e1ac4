"""One lock file per live driver: who holds it lives, who does not is dead, whatever its rows say."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from inspan.files import holding
from inspan.spec.paths import State
from inspan.store.database import explained, make_private_directory

_SUFFIX = ".lock"


class Lease(NamedTuple):
    """A held lock. It is lost with the process, however that ends."""

    executor: str
    path: Path
    descriptor: int

    def release(self) -> None:
        """Remove the file, then let go: whoever opened it meanwhile finds that it is gone."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        os.close(self.descriptor)

    def abandon(self) -> None:
        """Let go and leave the file: somebody else may take over."""
        os.close(self.descriptor)


def take(state: State, executor: str) -> Lease:
    """Lock a file of our own. It gets its name only once it is locked: nobody mistakes it for a dead one."""
    make_private_directory(state.executors)
    path, partial = state.executors / f"{executor}{_SUFFIX}", state.executors / f".{executor}"
    with explained(path):
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(partial, path)
    return Lease(executor, path, descriptor)


def alive(state: State, executor: str) -> bool:
    """Whether the driver of this id lives. Takes nothing."""
    try:
        descriptor = os.open(state.executors / f"{executor}{_SUFFIX}", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def wait_until_dead(state: State, executor: str, patience: float) -> None:
    """Wait for the end of a driver that is about to leave, at most ``patience`` seconds."""
    until = time.monotonic() + patience
    while alive(state, executor) and time.monotonic() < until:
        time.sleep(0.05)


def dead(state: State) -> Iterator[Lease]:
    """Locks of drivers that are gone, each held by us until the caller releases or abandons it."""
    with explained(state.executors):
        names = sorted(entry.name for entry in os.scandir(state.executors)) if state.executors.is_dir() else []
    for name in names:
        lease = _seize(state.executors / name) if name.endswith(_SUFFIX) else None
        if lease is not None:
            yield lease


@contextlib.contextmanager
def taking_over(state: State) -> Iterator[None]:
    """One taker at a time, so that a taker's death in the middle leaves its work to exactly one other."""
    make_private_directory(state.executors)
    path = state.executors / ".takeover"
    with contextlib.ExitStack() as until_done:
        with explained(path):
            until_done.enter_context(holding(path))
        yield


def _seize(path: Path) -> Lease | None:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:  # otherwise another taker was faster and has removed it
            return Lease(path.name.removesuffix(_SUFFIX), path, descriptor)
    except BlockingIOError:
        pass
    os.close(descriptor)
    return None
