"""Layers of repositories: pristine trees and set-ups that nobody has used for long, and what killed builders left.

A layer is made again when it is missing, so nothing is lost with it but time. One that stands below a workspace, or
below another layer that stays, is in use whatever its age.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal

from inspan.attempt.files import read_request
from inspan.errors import InspanError
from inspan.files import holding
from inspan.interfaces.garbage.found import Found, aged, going, idle, mounted, remove, spoken, stays
from inspan.interfaces.garbage.work import repository
from inspan.spec.paths import AttemptPaths, State
from inspan.spec.tables import GcTable
from inspan.store.read import open_jobs
from inspan.workspace.layout import read_meta
from inspan.workspace.remove import ASIDE
from inspan.workspace.use import last_use, take_away

_BUILDING = ".new-"
"""Prefix of what is being built."""
_CLOCK = 1.0  # seconds by which a file's time may lie before that of a row
_BEGINNING = 600.0  # seconds a builder may take between making its directory and noting that it runs


def survey(state: State, ages: GcTable, now: float) -> list[Found]:
    """Every layer of every repository of this state."""
    used = _below_workspaces(state)
    out: list[Found] = []
    for home in _homes(state):
        out += _unfinished(state, home, ages, now)
        begun = _begun_jobs(state, home)
        since = min([now - ages.layers, *begun.values()])
        needed = _closed(home / "pristine", since, used)
        for layer in _named(home / "pristine"):
            out.append(_layer(state, "pristine", layer, needed, used, begun, ages, now))
        for layer in _named(home / "setup"):
            out.append(_layer(state, "setup", layer, needed, used, begun, ages, now))
    return out


def collect(state: State, found: Found, ages: GcTable, now: float) -> str | None:
    """Remove one layer or what is left of one; None when it is gone, else why not."""
    home = state.root / "/".join(found.name.split("/")[:2])
    if found.kind == "scratch":
        with holding(home / "lock"):  # who builds holds it: what has not been finished by now never will be
            return next((why for place in found.places if (why := remove(place)) is not None), None)
    layer = state.root / found.name
    with holding(home / "lock"):
        again = {f.name: f for f in survey(state, ages, now)}.get(found.name)
        if again is None or not again.goes:
            return again.why if again is not None else "it has changed"
        try:
            taken = take_away(layer, before=min([now - ages.layers, *_begun_jobs(state, home).values()]))
        except OSError as error:
            return f"{error.strerror or error} ({error.filename or layer})"
    return None if taken else "it has been used since"


def _homes(state: State) -> list[Path]:
    try:
        return sorted(p for p in (state.root / "repos").iterdir() if p.is_dir() and not p.is_symlink())
    except FileNotFoundError:
        return []


def _named(place: Path) -> list[Path]:
    """Finished layers: directories of ours with a ``meta.json``."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return sorted(p for p in place.iterdir() if not p.name.startswith(".") and last_use(p) is not None)
    return []


def _layer(
    state: State,
    kind: Literal["pristine", "setup"],
    layer: Path,
    needed: set[str],
    used: frozenset[str],
    begun: dict[str, float],
    ages: GcTable,
    now: float,
) -> Found:
    name = str(layer.relative_to(state.root))
    if str(layer) in used or (kind == "pristine" and layer.name in needed):
        return stays(kind, name, "a workspace or another layer stands on it")
    point = mounted([str(layer)])
    if point:
        return stays(kind, name, f"something is mounted at {point}")
    last = last_use(layer) or now
    job = next((job for job, created in begun.items() if created <= last), None)
    if job is not None:
        return stays(kind, name, f"it was used since job {job} began, which has not ended")
    since = max(0.0, now - last)
    return aged(kind, name, f"last used {spoken(since)} ago", [str(layer)], idle=since, grace=ages.layers)


def _closed(place: Path, since: float, used: frozenset[str]) -> set[str]:
    """Names of the pristine layers that one which stays stands on: it is used by a workspace, or was used ``since``."""
    out: set[str] = set()
    for layer in _named(place):
        meta = read_meta(layer)
        if meta is not None and (str(layer) in used or (last_use(layer) or since) >= since):
            out |= set(meta.lowers)
    return out


def _below_workspaces(state: State) -> frozenset[str]:
    """Layers that a workspace which is still there stands on, by their directories."""
    out: set[str] = set()
    for paths in _attempts(state):
        if not os.path.lexists(paths.workspace):
            continue
        try:
            plan = read_request(paths).plan
        except InspanError:
            continue
        out |= {os.path.dirname(lower) for lower in plan.lowers}
    return frozenset(out)


def _begun_jobs(state: State, home: Path) -> dict[str, float]:
    """Jobs of a repository that have not ended, and when they began: in set-up, before its attempt starts and for its
    checks a job stands on layers that no workspace names, and has noted each of them as used since."""
    return {
        row.id: datetime.fromisoformat(row.created).timestamp() - _CLOCK
        for row in open_jobs(state)
        if (repo := repository(row)) is not None and repo.key == home.name
    }


def _attempts(state: State) -> Iterator[AttemptPaths]:
    with contextlib.suppress(FileNotFoundError):
        yield from (state.attempt(name) for name in os.listdir(state.attempts))


def _running_setups(state: State) -> str:
    """The notes of set-ups that have begun and not ended, one after the other."""
    notes = []
    for paths in _attempts(state):
        with contextlib.suppress(OSError):
            notes.append(paths.setup_note.read_text("utf-8", "surrogateescape"))
    return "\n".join(notes)


def _unfinished(state: State, home: Path, ages: GcTable, now: float) -> list[Found]:
    """Directories of builders and removals that were killed. A set-up runs outside the lock, noted while it does."""
    out: list[Found] = []
    running = _running_setups(state)
    for place in (home / "pristine", home / "setup", home / "ignore", home):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for left in sorted(place.iterdir()):
                name = str(left.relative_to(state.root))
                if left.name.startswith(ASIDE):
                    out.append(going("scratch", name, "a removal that was cut off", [str(left)]))
                elif left.name.startswith(_BUILDING):
                    out.append(_begun(name, left, running, ages, now))
    return out


def _begun(name: str, left: Path, running: str, ages: GcTable, now: float) -> Found:
    if str(left) in running:
        return stays("active", name, "a set-up runs in it")
    grace = max(ages.workspaces, _BEGINNING)
    return aged("scratch", name, "a builder that was cut off", [str(left)], idle=idle(str(left), now), grace=grace)
