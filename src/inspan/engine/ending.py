"""The last word on a job: its outcome, written once."""

from __future__ import annotations

from typing import Any

import msgspec

from inspan.engine.context import Context
from inspan.engine.records import Resolved
from inspan.outcome.decide import Decision, Finding, Situation, decide
from inspan.outcome.reasons import REASONS, Verdict
from inspan.outcome.records import BackendRecord, Change, FacetState, Outcome
from inspan.store.records import EventRow, JobRow
from inspan.store.store import CANCEL_WINS
from inspan.times import timestamp

CANCELLED = "cancelled_by_user"


def end_without_work(context: Context, row: JobRow, reason: str, detail: str) -> Outcome:
    """End a job that cannot be gone on with. Whatever its attempts left on disk stays there."""
    unseen = Finding(state=FacetState.NOT_EVIDENCED, reasons=(reason,))
    asked = bool(row.spec.checks)
    decision = decide(Situation(executor=unseen, scope=unseen, checks=unseen, checks_asked=asked))
    number = attempt_number(context, row.id)
    return record(context, row, decision, {"detail": detail, "change": Change(base=row.base), "attempt": number})


def record(context: Context, row: JobRow, decision: Decision, details: dict[str, Any]) -> Outcome:
    """Write the outcome of ``decision`` unless one stands; a cancel that came before it wins.

    Args:
        details: the outcome's remaining fields.

    Returns:
        The outcome that stands.
    """
    written = context.store.record_outcome(outcome(row, decision, details))
    if written == CANCEL_WINS:
        written = context.store.record_outcome(outcome(row, as_cancelled(decision), details))
    if not isinstance(written, Outcome):
        raise AssertionError(f"job {row.id}: a cancelled outcome was refused")
    ended = {"verdict": written.verdict.value, "reason": written.reason}
    context.tell(row.id, EventRow(seq=context.store.last_seq(row.id), at=timestamp(), kind="ended", data=ended))
    return written


def as_cancelled(decision: Decision) -> Decision:
    """The same findings, ended by a person."""
    good = (Verdict.ACCEPTED, Verdict.NO_CHANGE)
    others = (word for word in decision.reasons if word != CANCELLED and REASONS[word].verdict not in good)
    row = REASONS[CANCELLED]
    return msgspec.structs.replace(
        decision,
        verdict=row.verdict,
        reason=CANCELLED,
        reasons=(CANCELLED, *others),
        required_action=row.action,
        waivers=(),
    )


def outcome(row: JobRow, decision: Decision, details: dict[str, Any]) -> Outcome:
    """The outcome record of a decision."""
    resolved = msgspec.convert(row.resolved, Resolved)
    fields: dict[str, Any] = {
        "backend": BackendRecord(
            harness=resolved.harness,
            provider=resolved.provider,
            model=resolved.model,
            harness_version=resolved.harness_version,
        ),
        "facets": decision.facets,
        "rehearsal": resolved.rehearsal,
        **details,
    }
    return Outcome(
        job=row.id,
        verdict=decision.verdict,
        reason=decision.reason,
        reasons=decision.reasons,
        required_action=decision.required_action,
        waivers=decision.waivers,
        **fields,
    )


def attempt_number(context: Context, job: str) -> int:
    """The number of the latest attempt; 1 when none was begun."""
    return max((attempt.n for attempt in context.store.attempts(job)), default=1)
