"""Job states: every walk is legal, every end is reachable, an end is final."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspan.outcome.reasons import REASONS
from inspan.outcome.records import BackendRecord, Facets, Outcome
from inspan.spec.job import Job
from inspan.spec.paths import State
from inspan.store import ids
from inspan.store.records import NewJob
from inspan.store.states import DELIVERING, ENDS, LEGAL, QUEUED, STAGES
from inspan.store.store import CANCEL_WINS, Store

REASON_OF = {row.verdict.value: reason for reason, row in REASONS.items()}


def test_every_end_is_reachable_from_every_stage_and_final() -> None:
    for stage in STAGES:
        assert LEGAL[stage] >= ENDS, stage
        seen, todo = set(), [stage]
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo += LEGAL[at]
        assert seen >= ENDS
    assert all(LEGAL[end] == frozenset() for end in ENDS)
    assert set(LEGAL) == set(STAGES) | ENDS and len(ENDS) == 7
    assert not legal("gating", "running") and legal("running", "running")


def legal(was: str, now: str) -> bool:
    """Staying is always legal: a step that is run again enters its state again."""
    return was == now or now in LEGAL[was]


def test_every_end_has_a_reason_that_writes_it() -> None:
    assert set(REASON_OF) == ENDS


def outcome(job: str, end: str) -> Outcome:
    reason = REASON_OF[end]
    row = REASONS[reason]
    backend = BackendRecord(harness="bare", provider="rehearsal", model="any")
    facets = Facets()
    return Outcome(
        job=job,
        verdict=row.verdict,
        reason=reason,
        reasons=(reason,),
        required_action=row.action,
        facets=facets,
        backend=backend,
    )


ACTIONS = st.lists(st.sampled_from([*STAGES, *sorted(ENDS), "cancel", "nonsense"]), max_size=12)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    store = Store.open(State(tmp_path_factory.mktemp("walks") / "state"))
    yield store
    store.close()


@settings(max_examples=60, deadline=None)
@given(ACTIONS)
def test_any_sequence_of_events_keeps_the_table(shared: Store, actions: list[str]) -> None:
    job = ids.new_job_id()
    spec = Job(prompt="p")
    shared.insert_job(NewJob(id=job, spec=spec, repo="/r", base="b", backend="a@b/c", resolved={}, executor="x1"))
    was, ended, cancelled = QUEUED, None, False
    for action in actions:
        if action == "cancel":
            open_to_it = ended is None and not cancelled and was != DELIVERING
            assert shared.request_cancel(job) == open_to_it
            cancelled = cancelled or open_to_it
            assert not (cancelled and ended not in (None, "cancelled"))
        elif action in ENDS:
            standing = shared.record_outcome(outcome(job, action))
            if ended is not None:
                assert standing.verdict.value == ended
            elif cancelled and action != "cancelled":
                assert standing == CANCEL_WINS
            else:
                assert standing.verdict.value == action
                ended = action
        else:
            closed = cancelled and action == DELIVERING
            assert shared.enter(job, action) == (
                ended is None and action in STAGES and legal(was, action) and not closed
            )
        now = shared.job(job)
        assert now is not None and legal(was, now.state)
        assert (now.state in ENDS) == (ended is not None) == (now.ended is not None)
        was = now.state
