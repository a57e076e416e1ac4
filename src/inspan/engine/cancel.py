"""Cancelling a job, from any process and without the durable engine."""

from __future__ import annotations

from inspan.attempt import start
from inspan.engine.background import settle_later
from inspan.engine.leases import alive
from inspan.errors import UnknownName
from inspan.spec.paths import State
from inspan.store.store import Store


def cancel(state: State, job: str) -> bool:
    """Ask for the end of a job.

    Its outcome will be ``cancelled`` whatever the agent still brings; the work done so far is kept. A job whose driver
    is dead gets one that ends it.

    Returns:
        False when it is too late: the job has ended, or its result is being delivered.

    Raises:
        UnknownName: there is no such job.
    """
    store = Store.open(state)
    try:
        row = store.job(job)
        if row is None:
            raise UnknownName(f"There is no job {job!r}.", where=str(state.database), do="inspan ps lists them.")
        if store.request_cancel(job):
            store.append(job, "cancel_requested", once="cancel_requested")
        elif row.cancel_at is None or row.ended is not None:
            return False
        # After the mark: a driver looks at it again once the attempt's directory exists.
        for attempt in store.attempts(job):
            paths = state.attempt(attempt.id)
            if attempt.ended is None and paths.root.is_dir():
                start.cancel(paths)
    finally:
        store.close()
    if row.executor is None or not alive(state, row.executor):
        settle_later(state)
    return True
