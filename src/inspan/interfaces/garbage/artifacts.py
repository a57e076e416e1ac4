"""Kept files: what is still somebody's only copy of work stays, everything else of an ended job has its time.

One file may be kept for several jobs, and goes only when none of them needs it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from inspan.errors import InspanError
from inspan.interfaces.garbage import work
from inspan.interfaces.garbage.found import Found, aged, idle, remove, stays
from inspan.spec.paths import State
from inspan.spec.tables import GcTable
from inspan.store.read import get_job, get_outcome, kept_artifacts
from inspan.store.records import KeptRow

_WORK = ("patch", "changes", "answer")
"""Kinds that are a job's work or say what it was; everything else only tells how it came about."""


def survey(state: State, ages: GcTable, now: float) -> list[Found]:
    """Every file of the artifact store, in the order of their names."""
    rows: dict[str, list[KeptRow]] = {}
    for row in kept_artifacts(state):
        rows.setdefault(row.digest, []).append(row)
    words = _Words(state, ages, now)
    out = []
    for path in _files(state):
        name, digest = str(path.relative_to(state.root)), f"sha256:{path.name}"
        needed = next((why for row in rows.get(digest, ()) if (why := words.needs(row)) is not None), None)
        if needed is not None:
            out.append(stays("artifact", name, needed))
            continue
        known = digest in rows
        why = "its jobs ended long ago" if known else "no job of this state keeps it"
        # A lost or restored table of jobs must cost nobody a patch: what no job knows has the longest time there is.
        grace = 0.0 if known else ages.artifacts
        found = aged("artifact", name, why, [str(path)], idle=idle(str(path), now), grace=grace)
        out.append(msgspec.structs.replace(found, digest=digest if known else None))
    return out


def collect(state: State, found: Found, ages: GcTable, now: float) -> str | None:
    """Remove one file; None when it is gone. The caller then marks its rows, and holds ``removing`` all the while."""
    words = _Words(state, ages, now)
    for row in kept_artifacts(state, digest=f"sha256:{found.name[-64:]}"):  # also where nobody knew it before
        needed = words.needs(row)
        if needed is not None:
            return needed
    return next((why for place in found.places if (why := remove(place)) is not None), None)


class _Words:
    """Why a row's file is still needed, asked once per job."""

    def __init__(self, state: State, ages: GcTable, now: float) -> None:
        self._state, self._ages, self._now = state, ages, now
        self._merged: dict[str, bool] = {}

    def needs(self, row: KeptRow) -> str | None:
        """None when the file has had its time for this job."""
        if row.ended is None:
            return f"job {row.job} has not ended"
        if self._now - datetime.fromisoformat(row.ended).timestamp() < self._ages.artifacts:
            return f"job {row.job} ended not long ago"
        if row.kind == "answer" or (row.kind in _WORK and not self._is_merged(row.job)):
            return f"it is work of job {row.job} that is in no branch of yours"
        return None

    def _is_merged(self, job: str) -> bool:
        if job not in self._merged:
            self._merged[job] = self._ask(job)
        return self._merged[job]

    def _ask(self, job: str) -> bool:
        try:
            row, outcome = get_job(self._state, job), get_outcome(self._state, job)
            repo = work.repository(row) if row is not None else None
            return repo is not None and outcome is not None and work.merged(self._state, repo, outcome)
        except InspanError:
            return False


def _files(state: State) -> Iterator[Path]:
    with contextlib.suppress(FileNotFoundError):
        for folder in sorted(os.listdir(state.artifacts)):
            place = state.artifacts / folder
            if len(folder) == 2 and place.is_dir() and not place.is_symlink():
                yield from (place / n for n in sorted(os.listdir(place)) if len(n) == 64 and n.isalnum())
