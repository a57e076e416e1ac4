"""The readers' side of the state: ``ps``, ``show``, ``logs``, ``diff``. Nothing is written, no engine is imported."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

from inspan.errors import UnknownName
from inspan.outcome.records import Outcome, decode
from inspan.spec.paths import State
from inspan.store.database import explained, open_reader
from inspan.store.named import queries
from inspan.store.records import ArtifactRow, AttemptRow, EventRow, JobRow, KeptRow, event_row, job_row


def list_jobs(state: State, *, repo: str | None = None, limit: int = 50) -> list[JobRow]:
    """Jobs, newest first; only those of the checkout ``repo`` when given. No state yet: none."""
    return [job_row(row) for row in _rows(state, "list_jobs", {"repo": repo, "limit": limit})]


def open_jobs(state: State) -> list[JobRow]:
    """Jobs that have not ended, oldest first."""
    return [job_row(row) for row in _rows(state, "open_jobs", {})]


def get_job(state: State, job: str) -> JobRow | None:
    """One job by its full id."""
    rows = _rows(state, "get_job", {"id": job})
    return job_row(rows[0]) if rows else None


def find_job(state: State, text: str) -> JobRow:
    """One job by its id, by a unique beginning of it, or ``@last`` for the newest.

    Raises:
        UnknownName: no job, or more than one; names the nearest.
    """
    if text == "@last":
        newest = list_jobs(state, limit=1)
        if newest:
            return newest[0]
    found: list[str] = []
    if text.isascii() and text.isalnum():  # nothing that LIKE would take as a pattern
        found = [row["id"] for row in _rows(state, "jobs_by_prefix", {"prefix": text.lower()})]
    if len(found) == 1 or text in found:
        job = get_job(state, text if text in found else found[0])
        if job is not None:
            return job
    if found:
        raise UnknownName(
            f"{text!r} begins the ids of {len(found)} jobs.", where=", ".join(found), do="Give more of it."
        )
    recent = [row["id"] for row in _rows(state, "recent_ids", {})]
    from difflib import get_close_matches

    near = get_close_matches(text, recent, 3) or recent[:3]
    do = f"Did you mean {', '.join(near)}? inspan ps lists them." if near else "Start one with inspan run."
    raise UnknownName(f"There is no job {text!r}.", where=str(state.database), do=do)


def events_since(state: State, job: str, seq: int = 0, *, limit: int = 1000) -> list[EventRow]:
    """Events of a job after sequence number ``seq``, oldest first, at most ``limit``."""
    return [event_row(row) for row in _rows(state, "events_since", {"job": job, "seq": seq, "limit": limit})]


def get_outcome(state: State, job: str) -> Outcome | None:
    """The outcome of a job, None while it has none."""
    rows = _rows(state, "get_outcome", {"job": job})
    return decode(rows[0]["document"]) if rows else None


def attempts(state: State, job: str) -> list[AttemptRow]:
    """The attempts of a job in order."""
    return [AttemptRow(**dict(row)) for row in _rows(state, "attempts", {"job": job})]


def artifacts(state: State, job: str) -> list[ArtifactRow]:
    """What is kept of a job."""
    return [ArtifactRow(**dict(row)) for row in _rows(state, "artifacts", {"job": job})]


def kept_artifacts(state: State, *, digest: str | None = None) -> list[KeptRow]:
    """Every file that is kept for a job, or those of one digest; not those whose file was removed."""
    return [KeptRow(**dict(row)) for row in _rows(state, "kept_artifacts", {"digest": digest})]


def artifact(state: State, digest: str) -> bytes:
    """The bytes of one artifact. ``StateError`` when it is gone or was changed."""
    from inspan.store.artifacts import read_artifact

    return read_artifact(state.artifacts, digest)


@contextlib.contextmanager
def _reader(state: State) -> Iterator[sqlite3.Connection | None]:
    connection = open_reader(state)
    try:
        with explained(state.database):
            yield connection
    finally:
        if connection is not None:
            connection.close()


def _rows(state: State, name: str, values: dict[str, Any]) -> list[sqlite3.Row]:
    with _reader(state) as connection:
        return [] if connection is None else connection.execute(queries()[name], values).fetchall()
