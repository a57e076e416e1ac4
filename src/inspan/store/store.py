"""The driver's side of the state: jobs, attempts, events, artifacts, and outcomes that are written once."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import threading
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from inspan.errors import StateError
from inspan.outcome.reasons import Verdict
from inspan.outcome.records import Outcome, decode
from inspan.redact import Redactor
from inspan.spec.paths import State
from inspan.store.artifacts import Artifacts, unremoved
from inspan.store.database import explained, open_writer, transaction
from inspan.store.ids import attempt_id
from inspan.store.kinds import KINDS
from inspan.store.named import queries
from inspan.store.records import ArtifactRow, AttemptRow, JobRow, NewJob, job_row
from inspan.store.states import LEGAL, STAGES
from inspan.times import timestamp

CANCEL_WINS: Literal["cancel_wins"] = "cancel_wins"
"""``record_outcome`` refused: a person cancelled before the outcome was written."""


class Store:
    """One open state. Safe to share between threads; every method is one transaction."""

    def __init__(self, state: State, connection: sqlite3.Connection, redactor: Redactor, exact: Redactor) -> None:
        self.state = state
        self.artifacts = Artifacts(state.artifacts, redactor, exact)
        self.redactor = redactor
        self._connection, self._lock = connection, threading.RLock()

    @classmethod
    def open(cls, state: State, secrets: Iterable[str] = ()) -> Store:
        """Open the state, creating and migrating it as needed.

        Args:
            state: where.
            secrets: values that must never be written, besides what looks like a key.

        Raises:
            StateError: no permission, full disk, damaged, or written by a newer program (``state_too_new``).
        """
        known = tuple(secrets)
        return cls(state, open_writer(state), Redactor(known), Redactor(known, patterns=False))

    def close(self) -> None:
        """Close the connection. Idempotent."""
        with self._lock:
            self._connection.close()

    # -- jobs

    def insert_job(self, job: NewJob) -> None:
        """Store a new job, ``queued``.

        Raises:
            StateError: the id is taken.
        """
        values = {
            "id": job.id,
            "spec": msgspec.json.encode(job.spec).decode(),
            "resolved": json.dumps(self._clean(job.resolved)),
            "repo": job.repo,
            "base": job.base,
            "backend": job.backend,
            "executor": job.executor,
            "created": timestamp(),
            "retry_of": job.retry_of,
        }
        try:
            self._run("insert_job", values)
        except sqlite3.IntegrityError as error:
            raise StateError(f"Job {job.id} cannot be stored: {error}.", do="Start the job again.") from error

    def job(self, job: str) -> JobRow | None:
        """One job, None when there is none of this id."""
        row = self._one("get_job", {"id": job})
        return None if row is None else job_row(row)

    def open_jobs(self) -> list[JobRow]:
        """Jobs that have not ended, oldest first, whoever holds them."""
        return [job_row(row) for row in self._all("open_jobs", {})]

    def enter(self, job: str, state: str) -> bool:
        """Move a job on to a stage. True also when it is there already: a step that runs again.

        False when it has ended, is further on, or was cancelled and would be delivered: delivering is the point of no
        return, after which in turn nobody can cancel.
        """
        with self._lock:
            row = self._one("get_job", {"id": job})
            if row is None or row["ended"] is not None or state not in STAGES:
                return False
            if row["state"] == state or state not in LEGAL[row["state"]]:
                return bool(row["state"] == state)
            return self._run("set_state", {"id": job, "state": state, "was": row["state"]}) == 1

    def set_base(self, job: str, base: str) -> None:
        """Fix the base of a job whose base is made during preparation (a snapshot of uncommitted work)."""
        self._run("set_base", {"id": job, "base": base})

    def take_job(self, job: str, was: str | None, executor: str) -> bool:
        """Hand an open job from one executor to another; False when somebody else was first."""
        return self._run("set_executor", {"id": job, "was": was, "executor": executor}) == 1

    def request_cancel(self, job: str) -> bool:
        """Note that a person wants the job to end. False when it has ended, is delivering, or was cancelled before."""
        with self._lock:
            noted = self._run("request_cancel", {"id": job, "at": timestamp()}) == 1
            if noted:
                self.append(job, "cancel_requested", once="cancel_requested")
        return noted

    def cancel_requested(self, job: str) -> bool:
        """Whether a person cancelled the job."""
        row = self._one("get_job", {"id": job})
        return row is not None and row["cancel_at"] is not None

    # -- attempts

    def begin_attempt(self, job: str, n: int) -> str:
        """Note the start of an attempt and return its id. Idempotent."""
        attempt = attempt_id(job, n)
        self._run("insert_attempt", {"id": attempt, "job": job, "n": n, "started": timestamp()})
        return attempt

    def end_attempt(self, attempt: str, state: str, ended: str | None = None) -> None:
        """Note how an attempt ended. The first word stands."""
        self._run("end_attempt", {"id": attempt, "state": state, "ended": ended or timestamp()})

    def attempts(self, job: str) -> list[AttemptRow]:
        """The attempts of a job in order."""
        return [AttemptRow(**dict(row)) for row in self._all("attempts", {"job": job})]

    # -- events and artifacts

    def append(self, job: str, kind: str, data: dict[str, Any] | None = None, *, once: str | None = None) -> int:
        """Append one event and return the job's last sequence number.

        Args:
            job: whose.
            kind: a word of ``inspan.store.kinds``.
            data: facts; strings in it are redacted before they are written.
            once: a key within the job; the event is written only if none with this key exists.
        """
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is not a kind of event")
        said = json.dumps(self._clean(data or {}))
        values = {"job": job, "at": timestamp(), "kind": kind, "once": once, "data": said}
        with self._lock:
            self._run("append_event", values)
            return self.last_seq(job)

    def last_seq(self, job: str) -> int:
        """The sequence number of a job's latest event, 0 without one."""
        row = self._one("last_seq", {"job": job})
        return int(row["seq"]) if row is not None else 0

    def count(self, job: str, kind: str) -> int:
        """How many events of one kind a job has."""
        row = self._one("count_events", {"job": job, "kind": kind})
        return int(row["n"]) if row is not None else 0

    def keep(self, job: str, kind: str, data: bytes, *, exact: bool = False) -> str:
        """Keep ``data`` as an artifact of ``job`` and return its digest. ``exact``: see ``Artifacts``."""
        with unremoved(self.state.artifacts):
            digest, size = self.artifacts.put(data, exact=exact)
            self._run("insert_artifact", {"job": job, "kind": kind, "digest": digest, "size": size})
        return digest

    def kept(self, job: str) -> list[ArtifactRow]:
        """The artifacts of a job by kind."""
        return [ArtifactRow(**dict(row)) for row in self._all("artifacts", {"job": job})]

    def mark_gone(self, digest: str) -> None:
        """Note that the file of an artifact was removed. Only once it is gone. Idempotent."""
        self._run("mark_gone", {"digest": digest, "at": timestamp()})

    # -- outcomes

    def record_outcome(self, outcome: Outcome) -> Outcome | Literal["cancel_wins"]:
        """Write the one outcome of a job and end it.

        Returns:
            the outcome that stands: this one, or the one written before; ``CANCEL_WINS`` when the job was cancelled and
            this outcome says something else. The caller then decides again, knowing that.
        """
        document = json.dumps(self._clean(msgspec.to_builtins(outcome)))
        with self._lock, explained(self.state.database), transaction(self._connection):
            return self._record(outcome, document)

    def _record(self, outcome: Outcome, document: str) -> Outcome | Literal["cancel_wins"]:
        standing = self._one("get_outcome", {"job": outcome.job})
        if standing is not None:
            return decode(standing["document"])
        job = self._one("get_job", {"id": outcome.job})
        if job is None:
            raise StateError(f"There is no job {outcome.job}.", where=str(self.state.database), do="Start it again.")
        if job["cancel_at"] is not None and outcome.verdict is not Verdict.CANCELLED:
            return CANCEL_WINS
        at = timestamp()
        self._run("insert_outcome", {"job": outcome.job, "at": at, "document": document})
        end = {"id": outcome.job, "verdict": outcome.verdict.value, "reason": outcome.reason, "at": at}
        self._run("end_job", end)
        ended = {"verdict": outcome.verdict.value, "reason": outcome.reason}
        self.append(outcome.job, "ended", ended, once="ended")
        return decode(document)

    def outcome(self, job: str) -> Outcome | None:
        """The outcome of a job, None while it has none."""
        row = self._one("get_outcome", {"job": job})
        return None if row is None else decode(row["document"])

    # -- executors

    def begin_executor(self, executor: str) -> None:
        """Note a driver of this process."""
        values = {"id": executor, "pid": os.getpid(), "host": socket.gethostname(), "started": timestamp()}
        self._run("insert_executor", values)

    def end_executor(self, executor: str) -> None:
        """Note that a driver is gone."""
        self._run("end_executor", {"id": executor, "ended": timestamp()})

    # -- statements

    def _run(self, name: str, values: dict[str, Any]) -> int:
        with self._lock, explained(self.state.database):
            return self._connection.execute(queries()[name], values).rowcount

    def _one(self, name: str, values: dict[str, Any]) -> sqlite3.Row | None:
        rows = self._all(name, values)
        return rows[0] if rows else None

    def _all(self, name: str, values: dict[str, Any]) -> list[sqlite3.Row]:
        with self._lock, explained(self.state.database):
            return self._connection.execute(queries()[name], values).fetchall()

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            # A path may hold bytes that are not UTF-8 (lone surrogates in text); documents spell them out.
            return self.redactor.text(value.encode("utf-8", "backslashreplace").decode())
        if isinstance(value, dict):
            return {key: self._clean(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._clean(item) for item in value]
        return value
