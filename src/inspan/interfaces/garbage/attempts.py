"""Attempts: their workspaces, and what is left of them besides.

A workspace goes only when nobody holds its attempt's lock, its job has ended with a stored outcome, the work in it is
kept elsewhere, and it holds nothing that is not. Everything else stays and is named.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from inspan.interfaces.garbage import work
from inspan.interfaces.garbage.found import Found, aged, going, idle, mounted, remove, stays
from inspan.outcome.records import Outcome
from inspan.spec.paths import AttemptPaths, State
from inspan.spec.tables import GcTable
from inspan.store.read import get_job, get_outcome
from inspan.store.records import JobRow
from inspan.workspace.remove import ASIDE

_ATTEMPT = re.compile(r"(.+)\.a[1-9][0-9]*")


def survey(state: State, ages: GcTable, now: float, discard: frozenset[str] = frozenset()) -> list[Found]:
    """Every attempt that has something left, in the order of their names.

    ``discard``: jobs whose work a person wants gone although it is nowhere else.
    """
    try:
        names = sorted(os.listdir(state.attempts))
    except FileNotFoundError:
        return []
    return [found for name in names for found in _classified(state, name, ages, now, discard)]


def collect(state: State, found: Found, ages: GcTable, now: float, discard: frozenset[str] = frozenset()) -> str | None:
    """Remove what was found of an attempt; None when it is gone, else why not: somebody may be working on it by now."""
    attempt = found.name.split("/")[1]
    paths = state.attempt(attempt)
    with _locked(paths) as ours:
        again = {f.name: f for f in _classified(state, attempt, ages, now, discard, held=ours)}.get(found.name)
        if not ours or again is None or not again.goes:
            return "somebody works on it" if not ours else again.why if again is not None else "it has changed"
        # A directory that goes as a whole holds the lock file; nobody who waits for it may be left with a gone one.
        return next((why for place in again.places if (why := remove(place)) is not None), None)


def _classified(
    state: State, attempt: str, ages: GcTable, now: float, discard: frozenset[str], held: bool = False
) -> list[Found]:
    paths = state.attempt(attempt)
    name = f"attempts/{attempt}"
    named = _ATTEMPT.fullmatch(attempt)
    if not named or paths.root.is_symlink() or not paths.root.is_dir():
        return [stays("orphan", name, "it does not have the name of an attempt")]
    if not held and _busy(paths):
        return [stays("active", name, "its runner lives")]
    row = get_job(state, named[1])
    if row is None:
        return [_orphan(paths, name, ages, now)]
    outcome = get_outcome(state, row.id)
    if row.ended is None or outcome is None:
        return [stays("active", name, f"its job has not ended: {row.state}")]
    rest = [str(p) for p in paths.root.glob(f"{ASIDE}*")]
    out = [going("scratch", f"{name}/{ASIDE}", "a removal that was cut off", rest)] if rest else []
    places = [str(p) for p in (paths.workspace, paths.home) if os.path.lexists(p)]
    since = max(0.0, now - datetime.fromisoformat(row.ended).timestamp())
    if places:
        found = _workspace(state, paths, name, row, outcome, places, ages, since)
        if found.kind in ("unkept", "merged-dirty") and row.id in discard:
            found = going(found.kind, name, f"you asked for it to be discarded, though {found.why}", places)
        return [*out, found]
    why = "its workspace is gone and its job ended long ago"
    return [*out, aged("journal", name, why, [str(paths.root)], idle=since, grace=ages.artifacts)]


def _workspace(
    state: State,
    paths: AttemptPaths,
    name: str,
    row: JobRow,
    outcome: Outcome,
    places: list[str],
    ages: GcTable,
    since: float,
) -> Found:
    if not os.path.lexists(paths.workspace):
        return aged("kept", name, "only a scratch home is left", places, idle=since, grace=ages.workspaces)
    if not work.kept(state, outcome):
        return stays("unkept", name, "its work could not be collected and is nowhere else")
    point = mounted(places)
    if point:
        return stays("active", name, f"something is mounted at {point}")
    repo = work.repository(row)
    if repo is None:
        return stays("unkept", name, "its job does not say where its repository is")
    merged = work.merged(state, repo, outcome)
    more = work.beyond(state, repo, outcome, paths)
    if more is not None:
        return stays("merged-dirty" if merged else "unkept", name, more)
    why = "its result is in a branch of yours" if merged else "its patch is kept"
    if outcome.change is not None and not outcome.change.files:
        why = "it changed nothing"
    return aged("merged-clean" if merged else "kept", name, why, places, idle=since, grace=ages.workspaces)


def _orphan(paths: AttemptPaths, name: str, ages: GcTable, now: float) -> Found:
    """An attempt nobody knows goes when it was never worked in, and then only after a long while."""
    why = "no job of this state knows it"
    place = mounted([str(paths.root)])
    if place:
        return stays("orphan", name, f"{why}, and something is mounted at {place}")
    if not _untouched(paths.workspace):
        return stays("orphan", name, f"{why}, and its workspace may hold work: {paths.workspace}")
    age = min(idle(str(path), now) for path in (paths.root, *paths.root.iterdir()))
    return aged("orphan", name, f"{why}, and nobody worked in it", [str(paths.root)], idle=age, grace=ages.orphans)


def _untouched(workspace: Path) -> bool:
    """Whether a workspace was only planned: there is none, or an overlay's upper with nothing but our own ``.git``."""
    if not os.path.lexists(workspace):
        return True
    upper = workspace / "upper"
    try:
        names = set(os.listdir(upper))
        inner = set(os.listdir(upper / ".git")) if ".git" in names else set()
    except OSError:
        return False
    return names <= {".git"} and inner <= {"HEAD", "refs", "info"} and not (workspace / "tree").exists()


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
