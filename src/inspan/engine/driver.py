"""The driver: runs one job to its outcome, and first takes over what dead drivers left.

One per process. Everything that can be refused is refused before anything is stored; from then on the job ends in an
outcome, here or in the driver that takes over.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from inspan.attempt import ready
from inspan.engine.background import settle_later
from inspan.engine.context import Context, Listener, enter
from inspan.engine.leases import Lease, take, wait_until_dead
from inspan.engine.resolve import Submission, resolve
from inspan.errors import StateError
from inspan.outcome.records import Outcome
from inspan.provider.registry import BUILT_IN
from inspan.spec.config import Configuration
from inspan.spec.job import Job
from inspan.spec.paths import State
from inspan.store.database import explanation
from inspan.store.ids import new_executor_id, new_job_id
from inspan.store.records import NewJob
from inspan.store.store import Store
from inspan.times import timestamp

if TYPE_CHECKING:
    from dbos import WorkflowHandle

PATIENCE = 30.0
"""Seconds a driver whose own job has ended waits for jobs it took over; what is left goes to a driver of its own."""


def drive(
    job: Job,
    *,
    state: State,
    config: Configuration,
    on_event: Listener | None = None,
    environ: Mapping[str, str] | None = None,
    retry_of: str | None = None,
) -> Outcome:
    """Run ``job`` to its outcome.

    Args:
        job: validated, with configured values filled in.
        state: the state directory.
        config: the effective configuration of the job's checkout.
        on_event: told what happens, as it happens, from other threads; also about jobs taken over.
        environ: the environment of whoever asks; this process's own by default.
        retry_of: the job this one repeats.

    Raises:
        UsageError, HarnessError, ProviderError, SandboxError: refused; nothing was stored or started.
        StateError: the state cannot be used; a job already stored is ended by the next command.
    """
    surroundings = os.environ if environ is None else environ
    submission = resolve(job, config, state, surroundings)
    with _ready_runner(state), Driver(state, config, surroundings, on_event) as driver:
        started = driver.submit(submission, retry_of)
        try:
            driver.take_over()
        except Exception as error:  # somebody else's job; this one goes on
            driver.warn(started, f"jobs of earlier drivers could not be taken over: {error}")
        outcome = driver.outcome(started)
        driver.finish_taken(PATIENCE)
    return outcome


@contextlib.contextmanager
def _ready_runner(state: State) -> Iterator[None]:
    """A runner loads while the engine does; when no attempt takes it, it ends with the block."""
    ready.prepare(state)
    try:
        yield
    finally:
        ready.dismiss()


def settle(
    *, state: State, config: Configuration, on_event: Listener | None = None, after: str | None = None
) -> list[str]:
    """Take over the jobs of dead drivers and run them to their outcomes; gives their ids.

    Args:
        after: a driver that is about to leave, waited for first.
    """
    if after is not None:
        wait_until_dead(state, after, PATIENCE)
    with Driver(state, config, os.environ, on_event) as driver:
        taken = driver.take_over()
        driver.finish_taken(None)
    return taken


def forget_ended(*, state: State, config: Configuration, age: float) -> int:
    """Let the engine forget jobs that ended more than ``age`` seconds ago; gives how many. Our own rows stay."""
    with Driver(state, config, os.environ, None) as driver:
        return driver.forget_ended(age)


class Driver:
    """A live driver: its lock, the open store, the running engine."""

    def __init__(
        self, state: State, config: Configuration, environ: Mapping[str, str], on_event: Listener | None
    ) -> None:
        self._state, self._config, self._environ, self._on_event = state, config, environ, on_event
        self._taken: list[str] = []
        self._handles: dict[str, WorkflowHandle[str]] = {}
        self._broken = False

    def __enter__(self) -> Driver:
        from inspan.engine import durable  # a third of a second; not before the job is known to be sound

        self._durable = durable
        self._store = Store.open(self._state, credentials(self._config, self._environ))
        self._executor = new_executor_id()
        self._lease: Lease = take(self._state, self._executor)
        self._store.begin_executor(self._executor)
        self._context = Context(self._store, self._executor, self._environ, self._on_event)
        enter(self._context)
        import inspan.engine.job  # noqa: F401  registers the workflow before the engine starts

        try:
            durable.launch(self._state, self._executor)
        except Exception as error:
            self._lease.release()
            raise explanation(error, self._state.database) from error
        return self

    def __exit__(self, *_: object) -> None:
        """Leave. With unfinished work the lock is held until this process is gone; then the next driver takes over."""
        if not self._broken and not any(row.executor == self._executor for row in self._store.open_jobs()):
            if self._taken:
                self._durable.forget_queue(self._executor)
            self._store.end_executor(self._executor)
            self._lease.release()
        self._store.close()

    def submit(self, submission: Submission, retry_of: str | None = None) -> str:
        """Store a job and start it; gives its id."""
        from inspan.engine.job import run_job

        job = new_job_id()
        self._store.insert_job(
            NewJob(
                id=job,
                spec=submission.job,
                repo=submission.resolved.repository.toplevel,
                base=submission.base,
                backend=submission.backend,
                resolved=to_document(submission),
                executor=self._executor,
                retry_of=retry_of or submission.retry_of,
            )
        )
        self._context.say(
            job, "queued", {"backend": submission.backend, "level": submission.resolved.level}, once="queued"
        )
        self._handles[job] = self._durable.start(run_job, job, job)
        return job

    def take_over(self) -> list[str]:
        """Go on with the jobs of dead drivers; gives their ids."""
        from inspan.engine.takeover import take_over

        self._taken += take_over(self._context)
        return self._taken

    def forget_ended(self, age: float) -> int:
        """Remove the engine's notes of jobs that have their outcome and ended more than ``age`` seconds ago."""
        before = timestamp(datetime.now(UTC) - timedelta(seconds=age))
        ids = self._durable.ended_before(before)
        done = [i for i in ids if (row := self._store.job(i)) is not None and row.ended is not None]
        if done:
            self._durable.forget(done)
        return len(done)

    def warn(self, job: str, text: str) -> None:
        """Note something a person should know."""
        self._context.say(job, "warning", {"text": text})

    def outcome(self, job: str) -> Outcome:
        """Wait for a job that was submitted here.

        Raises:
            StateError: its outcome could not be written; the next driver ends it.
        """
        failure: Exception | None = None
        try:
            self._durable.wait(self._handles[job])
        except Exception as error:
            failure, self._broken = error, True
        found = self._store.outcome(job)
        if found is not None:
            return found
        if isinstance(failure, StateError):
            raise failure
        raise explanation(failure or StateError(f"job {job} ended without an outcome"), self._state.database)

    def finish_taken(self, patience: float | None) -> None:
        """Wait for the jobs taken over, at most ``patience`` seconds; the rest goes on in a process of its own."""
        from inspan.engine.takeover import end_unwritten

        until = None if patience is None else time.monotonic() + patience
        waiting = self._taken
        while waiting and (until is None or time.monotonic() < until):
            waiting = [job for job in waiting if self._durable.status(job) not in self._durable.ENDED]
            time.sleep(0.1 if waiting else 0)
        end_unwritten(self._context, [job for job in self._taken if job not in waiting])
        if waiting:
            settle_later(self._state, self._executor)


def credentials(config: Configuration, environ: Mapping[str, str]) -> list[str]:
    """Every provider credential in the environment: values that must never be written."""
    names = [p.credential_env for p in BUILT_IN.values()] + [p.credential_env for p in config.providers.values()]
    return [environ[name] for name in names if name and environ.get(name)]


def to_document(submission: Submission) -> dict[str, Any]:
    """What was decided, as it is stored."""
    import msgspec

    return dict(msgspec.to_builtins(submission.resolved))
