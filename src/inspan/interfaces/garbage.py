"""What ended jobs left on disk, classified before anything is removed. Works from the files, not from the rows.

A workspace is removed only when nobody holds its attempt's lock, its job has ended with a stored outcome, and the work
in it is kept elsewhere (its patch is an artifact, or the gate saw that nothing changed). Everything else stays and is
named.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from inspan.outcome.records import Outcome
from inspan.spec.paths import AttemptPaths, State
from inspan.store.read import artifact, get_job, get_outcome
from inspan.workspace.remove import remove_tree

Kind = Literal["ended", "active", "unkept", "orphan"]
_ATTEMPT = re.compile(r"(.+)\.a[1-9][0-9]*")


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """What one attempt left.

    Attributes:
        kind: ``ended`` (may be removed), ``active`` (somebody works on it), ``unkept`` (the only place where its work
            is), ``orphan`` (no job of this state knows it).
        why: the kind in words.
        places: directories that would be removed; empty but for ``ended``.
        bytes: allocated space of ``places``.
    """

    attempt: str
    kind: Kind
    why: str
    places: tuple[str, ...] = ()
    bytes: int = 0


def survey(state: State) -> list[Left]:
    """Every attempt that has something left, in the order of their names."""
    try:
        names = sorted(os.listdir(state.attempts))
    except FileNotFoundError:
        return []
    return [left for name in names if (left := _classified(state, name)) is not None]


def collect(state: State, left: Left) -> bool:
    """Remove what an ended attempt left. False when somebody has begun to work on it, or something of it remains."""
    paths = state.attempt(left.attempt)
    with _locked(paths) as ours:
        again = _classified(state, left.attempt, held=ours)
        if not ours or again is None or again.kind != "ended":
            return False
        for place in again.places:
            remove_tree(Path(place))
    return not any(os.path.lexists(place) for place in left.places)


def _classified(state: State, attempt: str, held: bool = False) -> Left | None:
    paths = state.attempt(attempt)
    places = [str(p) for p in _places(paths) if os.path.lexists(p)]
    named = _ATTEMPT.fullmatch(attempt)
    if not places:
        return None
    if not named or paths.root.is_symlink():
        return Left(attempt=attempt, kind="orphan", why="it does not have the name of an attempt")
    if not held and _busy(paths):
        return Left(attempt=attempt, kind="active", why="its runner lives")
    row = get_job(state, named[1])
    if row is None:
        return Left(attempt=attempt, kind="orphan", why="no job of this state knows it")
    outcome = get_outcome(state, row.id)
    if row.ended is None or outcome is None:
        return Left(attempt=attempt, kind="active", why=f"its job has not ended: {row.state}")
    if not _kept(state, outcome):
        return Left(attempt=attempt, kind="unkept", why="its work could not be collected and is nowhere else")
    mounted = _mounted(places)
    if mounted:
        return Left(attempt=attempt, kind="active", why=f"something is mounted at {mounted}")
    space = sum(_space(place) for place in places)
    return Left(attempt=attempt, kind="ended", why="its work is kept", places=tuple(places), bytes=space)


def _places(paths: AttemptPaths) -> Iterator[Path]:
    yield paths.workspace
    yield paths.home


def _kept(state: State, outcome: Outcome) -> bool:
    """Whether the work is in the state besides the workspace: read back, not believed."""
    change = outcome.change
    if change is None or change.result is None:
        return False
    if not change.files:
        return True
    digest = outcome.artifacts.get("patch")
    try:
        return digest is not None and len(artifact(state, digest)) > 0
    except Exception:
        return False


def _busy(paths: AttemptPaths) -> bool:
    with _locked(paths) as ours:
        return not ours


@contextlib.contextmanager
def _locked(paths: AttemptPaths) -> Iterator[bool]:
    """Hold the runner's lock; False when a runner holds it. An attempt without a lock file never had a runner."""
    try:
        descriptor = os.open(paths.lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield True
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(descriptor)


def _mounted(places: list[str]) -> str | None:
    """A mount at or below one of ``places``, which a removal would reach into."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        points = [re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), line.split(" ")[4]) for line in file]
    return next((m for m in points for p in places if m == p or m.startswith(f"{p}/")), None)


def _space(top: str) -> int:
    total = 0
    for folder, _, files in os.walk(top, followlinks=False):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
    return total
