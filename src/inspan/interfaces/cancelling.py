"""Cancelling a job from any process: a note in the state first, then the runner's own signal."""

from __future__ import annotations

from inspan.attempt.start import cancel
from inspan.spec.paths import State
from inspan.store.store import Store


def cancel_job(state: State, job: str) -> bool:
    """Ask that ``job`` ends. False when it has ended, was cancelled before, or is being delivered already.

    The order matters: a driver looks for the note after it has made the attempt's directory, so that of the two one
    always finds the other.
    """
    store = Store.open(state)
    try:
        noted = store.request_cancel(job)
        if noted or store.cancel_requested(job):
            for attempt in sorted(state.attempts.glob(f"{job}.a*")):
                cancel(state.attempt(attempt.name))
        return noted
    finally:
        store.close()
