"""What the reading verbs share: a job as a document, and whether anybody still works on it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from inspan.outcome.records import Outcome, encode
from inspan.spec.paths import State
from inspan.store import read
from inspan.store.records import JobRow

SCHEMA = "inspan.job/1"


def summary(state: State, row: JobRow) -> dict[str, Any]:
    """One line of ``ps --json``. ``driver`` is ``alive`` or ``gone`` for a job that has not ended, else null."""
    return {
        "job": row.id,
        "state": row.state,
        "verdict": row.verdict,
        "reason": row.reason,
        "backend": row.backend,
        "repo": row.repo,
        "base": row.base,
        "created": row.created,
        "ended": row.ended,
        "cancelling": row.cancel_at is not None and row.ended is None,
        "driver": driver(state, row),
        "retry_of": row.retry_of,
        "prompt": row.spec.prompt.strip().splitlines()[0][:200],
    }


def driver(state: State, row: JobRow) -> str | None:
    """Whether the process that drives a job lives, seen from its lock and not from its row."""
    if row.ended is not None:
        return None
    from inspan.engine.leases import alive

    return "alive" if row.executor is not None and alive(state, row.executor) else "gone"


def document(state: State, row: JobRow) -> dict[str, Any]:
    """``show --json``: the job, its attempts, what is kept of it, and its outcome or null."""
    outcome = read.get_outcome(state, row.id)
    return {
        "schema": SCHEMA,
        **summary(state, row),
        "spec": msgspec.to_builtins(row.spec),
        "config_digest": row.resolved.get("config_digest"),
        "attempts": msgspec.to_builtins(read.attempts(state, row.id)),
        "artifacts": msgspec.to_builtins(read.artifacts(state, row.id)),
        "outcome": as_document(outcome) if outcome else None,
    }


def as_document(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain data."""
    made: dict[str, Any] = json.loads(encode(outcome))
    return made
