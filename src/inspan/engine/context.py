"""What the steps running in this process work with. One driver per process, so one context."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from inspan.engine.records import Progress, Resolved
from inspan.errors import InspanError, StateError
from inspan.spec.job import Job
from inspan.spec.paths import State
from inspan.store.records import EventRow, JobRow
from inspan.store.store import Store
from inspan.times import timestamp

Listener = Callable[[str, EventRow], None]
"""Called with a job's id and what happened to it. ``seq`` is 0 for passing events that are not stored."""


class Context:
    """The state, the environment and the listener of this driver."""

    def __init__(self, store: Store, executor: str, environ: Mapping[str, str], listener: Listener | None) -> None:
        self.store, self.executor, self.environ = store, executor, environ
        self.state: State = store.state
        self._listener = listener

    def row(self, job: str) -> JobRow:
        """The stored job."""
        row = self.store.job(job)
        if row is None:
            raise StateError(
                f"Job {job} is not in the state any more.", where=str(self.state.database), do="Run it again."
            )
        return row

    def spec(self, job: str) -> Job:
        """The job as asked."""
        return self.row(job).spec

    def resolved(self, job: str) -> Resolved:
        """What was decided about the job before it was stored."""
        return msgspec.convert(self.row(job).resolved, Resolved)

    def cancelled(self, job: str) -> bool:
        """Whether a person cancelled the job."""
        return self.store.cancel_requested(job)

    def say(self, job: str, kind: str, data: dict[str, Any] | None = None, *, once: str | None = None) -> None:
        """Store an event and pass it on."""
        seq = self.store.append(job, kind, data, once=once)
        self.tell(job, EventRow(seq=seq, at=timestamp(), kind=kind, data=data or {}))

    def tell(self, job: str, event: EventRow) -> None:
        """Pass an event on. A listener that fails is not asked again and never disturbs the job."""
        if self._listener is not None:
            try:
                self._listener(job, event)
            except Exception:
                self._listener = None


_current: Context | None = None


def enter(context: Context) -> None:
    """Make ``context`` the one of this process."""
    global _current
    _current = context


def current() -> Context:
    """The context of this process."""
    if _current is None:
        raise InspanError("No driver runs in this process.", do="Start jobs through inspan.engine.driver.")
    return _current


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def __call__(self) -> float:
        return round(time.monotonic() - self._start, 3)


def seconds_between(start: str, end: str | None = None) -> float:
    """Seconds from one RFC 3339 time to another, or to now; never negative."""
    last = datetime.fromisoformat(end) if end else datetime.now(UTC)
    return round(max(0.0, (last - datetime.fromisoformat(start)).total_seconds()), 3)


def changed(progress: Progress, **fields: Any) -> Progress:
    """``progress`` with some parts filled."""
    return msgspec.structs.replace(progress, **fields)


def timed(progress: Progress, **seconds: float) -> Progress:
    """``progress`` with some timings filled."""
    return changed(progress, timing=msgspec.structs.replace(progress.timing, **seconds))
