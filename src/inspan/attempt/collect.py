"""What an ended attempt says about itself, read as evidence where it is evidence and as a claim where it is one. Pure.

The exit status is never the outcome. The terminal record and the wire are asked what explains the *end*: an error that
the harness got over is no cause, and a success record over a broken-off piece of work is no success.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, Literal

from inspan.attempt.contract import AttemptRequest, TerminalRecord
from inspan.attempt.models import clearly_different
from inspan.gateway.contract import WireRecord
from inspan.gateway.journal import signals
from inspan.outcome.decide import Finding
from inspan.outcome.records import Change, Claims, FacetState, IsolationRecord
from inspan.routing.failure import Cause, Signal, classify
from inspan.spec.levels import promises
from inspan.spec.report import Report, decode_report, report_in, without_reports

REASON_OF_END: Final[dict[str, str]] = {
    "stalled": "stalled",
    "deadline": "deadline",
    "cancelled": "cancelled_by_user",
    "output_capped": "output_capped",
    "limit": "limit_exceeded",
    "disk_full": "disk_full",
    "spawn_failed": "spawn_failed",
    "sandbox_unavailable": "sandbox_unavailable",
    "crashed": "environment_lost",
}
"""The reason of each end that explains itself; ``exited`` and ``finished`` are explained by record, wire and text."""

_WIRE_EXPLAINS: Final = ("stalled", "deadline")
"""Ends behind which an error on the wire can stand: the harness waited for a provider that only refused."""


def executor_finding(
    record: TerminalRecord, wire: Sequence[WireRecord], now: datetime, *, request: AttemptRequest | None = None
) -> tuple[Finding, Cause | None]:
    """Whether the harness did its work to the end, and if not, why.

    Args:
        record: the terminal record.
        wire: the wire journal.
        now: a time with a zone, for waits.
        request: tells the model asked for and whether the job is read-only, where a denied tool is the mechanism.
    """
    cause = _cause(record, wire, now)
    reasons = _end_reasons(record, wire, cause, read_only=request is not None and request.read_only)
    if record.survivors:
        reasons.append("environment_lost")
    if request is not None and request.upstream.kind != "rehearsal" and _wrong_model(request.model, wire):
        reasons.append("wrong_model_served")
    said = claims(record)
    if record.end != "cancelled" and (said.completed is False or said.blockers):
        reasons.append("declared_incomplete")
    if not reasons:
        return Finding(state=FacetState.PASSED), None
    explains = cause if cause is not None and cause.reason in reasons else None
    return Finding(state=FacetState.FAILED, reasons=tuple(dict.fromkeys(reasons))), explains


def _end_reasons(
    record: TerminalRecord, wire: Sequence[WireRecord], cause: Cause | None, *, read_only: bool
) -> list[str]:
    """Why the run itself did not end well, first cause first; empty for a good end."""
    ending = record.ending
    asked = ending is not None and (ending.asked is not None or (bool(ending.denied) and not read_only))
    if record.end in REASON_OF_END:
        first = [cause.reason] if cause is not None and record.end in _WIRE_EXPLAINS else []
        asking = ["permission_asked"] if asked and record.end in _WIRE_EXPLAINS else []
        return [*asking, *first, REASON_OF_END[record.end]]
    if ending is not None and ending.complete and ending.ok is not False:
        if cause is not None and _unfinished(wire):
            return [cause.reason]
        return ["permission_asked"] if asked else []
    if asked:
        return ["permission_asked"]
    if cause is not None:
        return [cause.reason]
    if _died(record.exit_status) or (ending is not None and ending.complete):
        return ["harness_crashed"]
    return ["no_terminal_record"]


def _cause(record: TerminalRecord, wire: Sequence[WireRecord], now: datetime) -> Cause | None:
    """What the wire, the harness's record and its text say went wrong and was not got over."""
    found = list(signals(wire))
    ending = record.ending
    if ending is not None and (ending.error or ending.status is not None) and not (ending.complete and ending.ok):
        source: Literal["record", "text"] = "record" if ending.complete else "text"
        found.append(Signal(source=source, status=ending.status, message=ending.error or "", at=record.ended))
    return classify(found, now)


def _unfinished(wire: Sequence[WireRecord]) -> bool:
    """Whether the errors at the end of the wire broke the work off: nothing was answered before them, or the last
    answer called tools and its results were never answered."""
    answered = [r for r in _inferences(wire) if r.state == "done" and (r.status or 0) < 400]
    return not answered or max(answered, key=lambda r: r.ended or "").tool_calls > 0


def _inferences(wire: Sequence[WireRecord]) -> list[WireRecord]:
    return [r for r in wire if r.kind == "inference"]


def _died(status: int | None) -> bool:
    """Ended by a signal, seen directly or as a shell and bubblewrap report it."""
    return status is not None and (status < 0 or 128 < status < 193)


def _wrong_model(asked: str, wire: Sequence[WireRecord]) -> bool:
    served = [r.model_served for r in _inferences(wire) if r.state == "done" and r.model_served]
    return any(clearly_different(asked, name) for name in served)


def model_served(wire: Sequence[WireRecord]) -> str | None:
    """The model that answered most requests, None when the wire never named one."""
    names = Counter(r.model_served for r in _inferences(wire) if r.model_served)
    return names.most_common(1)[0][0] if names else None


def activity(
    record: TerminalRecord, wire: Sequence[WireRecord], changed: bool | None
) -> Literal["none", "text", "tools"] | None:
    """What the harness did at all, from the wire, from its output and from what changed; None when unknown."""
    ending, asked = record.ending, _inferences(wire)
    if changed or any(r.tool_calls for r in asked) or (ending is not None and ending.tools > 0):
        return "tools"
    if any(r.text for r in asked) or (ending is not None and (ending.texts > 0 or bool(ending.message))):
        return "text"
    return None if ending is None or changed is None else "none"


def claims(record: TerminalRecord) -> Claims:
    """What the agent said: its report file and the report block of its final message. Either can lower a verdict."""
    reports = [r for r in (_filed(record.report), _written(record.message)) if r is not None]
    summary = next((r.summary for r in reports if r.summary), None) or _short(without_reports(record.message or ""))
    return Claims(
        summary=summary,
        completed=False if any(r.completed is False for r in reports) else _first(reports, "completed"),
        blockers=tuple(dict.fromkeys(b for r in reports for b in r.blockers)),
        no_change_reason=_first(reports, "no_change_reason"),
        notes_for_next=_first(reports, "notes_for_next"),
    )


def _filed(report: str | None) -> Report | None:
    return None if report is None else decode_report(report)


def _written(message: str | None) -> Report | None:
    return None if message is None else report_in(message)


def _first(reports: Sequence[Report], field: str) -> Any:
    return next((value for r in reports if (value := getattr(r, field)) is not None), None)


def _short(message: str | None) -> str | None:
    text = (message or "").strip()
    return (text if len(text) <= 2000 else text[:1999] + "…") or None


def contradictions(record: TerminalRecord, said: Claims, change: Change | None) -> tuple[str, ...]:
    """Where claims and evidence do not agree, one sentence each. For people; verdicts follow the evidence anyway."""
    found: list[str] = []
    ending, files = record.ending, () if change is None else tuple(f.path for f in change.files)
    if said.no_change_reason is not None and files:
        found.append(f"The agent declared that nothing needed to change, and {len(files)} files differ from base.")
    missing = [path for path in said.files if change is not None and path not in files]
    if missing:
        found.append(f"The agent claims changes that are not there: {', '.join(missing[:5])}.")
    if said.completed and change is not None and not files and said.no_change_reason is None:
        found.append("The agent reports the work as completed, and nothing differs from base.")
    if said.completed and ending is not None and ending.ok is False:
        found.append("The agent reports the work as completed, and the harness ended with an error.")
    if ending is not None and ending.ok and _died(record.exit_status):
        found.append(f"The harness reported success and ended with status {record.exit_status}.")
    return tuple(found)


def _reach(request: AttemptRequest) -> str:
    if not promises(request.level).only_gateway:
        return "open"
    return "granted" if request.egress else "gateway"


def isolation(record: TerminalRecord, request: AttemptRequest) -> IsolationRecord:
    """How the work was confined. ``proved`` only by what was seen of the tree before the program ran."""
    return IsolationRecord(
        workspace=request.plan.kind,
        sandbox=request.level,
        egress=_reach(request),
        connections=record.egress,
        tools=tuple(bind.target for bind in request.tools),
        writable=tuple(bind.target for bind in request.plan.binds if bind.writable),
        limits=dict(record.held),
        proved=bool(record.proof),
        proof=dict(record.proof),
    )
