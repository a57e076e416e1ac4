"""What the tables hold, as values."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import msgspec

from inspan.spec.job import Job


class NewJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job about to be stored. ``resolved`` is what routing and the levels decided, frozen before anything starts."""

    id: str
    spec: Job
    repo: str
    base: str
    backend: str
    resolved: dict[str, Any]
    executor: str
    retry_of: str | None = None


class JobRow(msgspec.Struct, frozen=True, kw_only=True):
    """One stored job. ``state`` is a word of ``inspan.store.states``; ``verdict`` and ``reason`` copy the outcome's."""

    id: str
    spec: Job
    repo: str
    base: str
    backend: str
    resolved: dict[str, Any]
    state: str
    executor: str | None
    created: str
    ended: str | None
    verdict: str | None
    reason: str | None
    cancel_at: str | None
    retry_of: str | None


class AttemptRow(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt. ``state`` is ``running``, then the runner's word for how it ended."""

    id: str
    job: str
    n: int
    state: str
    started: str
    ended: str | None


class EventRow(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened to a job; ``seq`` counts from 1 without gaps."""

    seq: int
    at: str
    kind: str
    data: dict[str, Any]


class ArtifactRow(msgspec.Struct, frozen=True, kw_only=True):
    """One kept file of a job: ``digest`` is ``sha256:`` and hexadecimal, ``size`` in bytes."""

    kind: str
    digest: str
    size: int


class KeptRow(msgspec.Struct, frozen=True, kw_only=True):
    """One file that is kept for one job; ``ended``: when that job ended."""

    job: str
    kind: str
    digest: str
    ended: str | None


def job_row(row: sqlite3.Row) -> JobRow:
    """A row of ``job``. Fields of the specification that only a newer program knows are left out."""
    values = dict(row)
    spec = {key: value for key, value in json.loads(values["spec"]).items() if key in Job.__struct_fields__}
    values["spec"] = msgspec.convert(spec, Job)
    values["resolved"] = json.loads(values["resolved"])
    return JobRow(**values)


def event_row(row: sqlite3.Row) -> EventRow:
    """A row of ``event``."""
    return EventRow(seq=row["seq"], at=row["at"], kind=row["kind"], data=json.loads(row["data"]))
