"""An outcome for people: verdict, why, what the gates saw, where the result is, what to do next. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from inspan.interfaces.cli.text import Line, count, safe, seconds
from inspan.outcome.reasons import REASONS, Action, Verdict
from inspan.outcome.records import CheckResult, EgressRecord, FacetState, Outcome, Violation

MARKS: Final = {
    Verdict.ACCEPTED: ("✓", "good"),
    Verdict.NO_CHANGE: ("✓", "good"),
    Verdict.REJECTED: ("✗", "bad"),
    Verdict.UNVERIFIED: ("?", "warn"),
    Verdict.FAILED: ("✗", "bad"),
    Verdict.PARKED: ("…", "warn"),
    Verdict.CANCELLED: ("✗", "warn"),
}

ACTIONS: Final[dict[Action, str]] = {
    Action.NONE: "",
    Action.READ_CHANGE: "read the change: inspan diff {job}",
    Action.ADD_CHECKS: "give it a check: --check NAME=CMD, or inspan init for the whole repository",
    Action.REVISE: "try again: inspan retry {job}, with --continue to start from this change",
    Action.NARROW_OR_PERMIT: "narrow the task, or permit the named paths with --scope or --may-change",
    Action.RETRY: "try again: inspan retry {job}",
    Action.RETRY_LATER: "try again later: inspan retry {job}",
    Action.RAISE_LIMIT: "raise the limit that was hit, or give a smaller task",
    Action.FREE_SPACE: "free disk space (inspan gc removes what ended jobs left), then inspan retry {job}",
    Action.FIX_SETUP: "correct the set-up commands or the environment of the checks",
    Action.FIX_CREDENTIAL: "correct the credential the provider refused",
    Action.ADD_CREDIT: "add credit to the account, or choose another backend",
    Action.CHOOSE_BACKEND: "choose another backend with --backend",
    Action.INSTALL_HARNESS: "install the harness: inspan harness install NAME",
    Action.ENABLE_SANDBOX: "see inspan doctor for what would enable the sandbox",
    Action.APPROVE: "give the approval that is asked for",
    Action.RESOLVE_CONFLICT: "resolve the conflict between the result and the target",
    Action.UPGRADE: "upgrade Inspan, or use another INSPAN_HOME",
    Action.REPORT_BUG: "report it, with the output of inspan show {job} --json",
}
"""What each required action means for a person."""

_SHOWN = 12
_STATES = {
    FacetState.PASSED: ("passed", "good"),
    FacetState.FAILED: ("failed", "bad"),
    FacetState.NOT_EVIDENCED: ("not evidenced", "warn"),
    FacetState.NOT_REQUIRED: ("not required", "dim"),
}


def outcome_lines(outcome: Outcome) -> Iterator[Line]:
    """The outcome, a line at a time; everything an agent wrote is made safe to show."""
    mark, style = MARKS[outcome.verdict]
    yield [(f"{mark} {outcome.verdict}", style), (f"  {outcome.reason}", "bold"), (f"  {outcome.job}", "dim")]
    row = REASONS.get(outcome.reason)
    if row is not None:
        yield _field("", row.text)
    if outcome.detail:
        yield from _block(outcome.detail)
    others = [r for r in outcome.reasons if r != outcome.reason]
    if others:
        yield _field("also", ", ".join(others))
    if outcome.rehearsal:
        yield [
            ("  rehearsal   ", "dim"),
            (f"{safe(outcome.rehearsal)}: a scripted model stood in, no provider", "warn"),
        ]
    yield from _change(outcome)
    for violation in outcome.violations:
        yield from _violation(violation)
    for check in outcome.checks:
        yield from _check(check)
    yield from _facts(outcome)
    action = ACTIONS[outcome.required_action].format(job=outcome.job)
    if action:
        yield [("  next        ", "dim"), (action, "bold")]


def answer_digest(outcome: Outcome) -> str | None:
    """The artifact that holds the answer of a job that was to answer, None for any other job."""
    return outcome.artifacts.get("answer") if outcome.reason == "answered" else None


def answer_lines(answer: bytes) -> Iterator[Line]:
    """An answer, made safe to show, after a blank line."""
    yield []
    for line in answer.decode("utf-8", "replace").splitlines():
        yield [(safe(line, lines=True), "")]


def _field(label: str, text: str) -> Line:
    return [(f"  {label:<12}", "dim"), (safe(text), "")]


def _block(text: str, style: str = "") -> Iterator[Line]:
    for line in text.splitlines():
        yield [(" " * 14, ""), (safe(line), style)]


def _change(outcome: Outcome) -> Iterator[Line]:
    change = outcome.change
    if change is None:
        return
    if not change.files:
        yield _field("change", "none")
        return
    yield [
        ("  change      ", "dim"),
        (count(len(change.files), "file"), ""),
        (f" +{change.added}", "good"),
        (f" -{change.removed}", "bad"),
    ]
    for file in change.files[:_SHOWN]:
        yield [(" " * 14 + f"{file.status:<13}", "dim"), (safe(file.path), "")]
    if len(change.files) > _SHOWN:
        yield _field("", f"and {len(change.files) - _SHOWN} more")


def _violation(violation: Violation) -> Iterator[Line]:
    style = {"reject": "bad", "hold": "warn"}.get(violation.level, "dim")
    yield [
        (f"  {violation.level:<12}", style),
        (f"{violation.rule} ", "bold"),
        (safe(violation.path), ""),
        (f"  {safe(violation.detail)}" if violation.detail else "", "dim"),
    ]
    for line in violation.lines[:_SHOWN]:
        yield [(" " * 14 + "| ", style), (safe(line), "")]
    if len(violation.lines) > _SHOWN:
        yield _field("", f"and {len(violation.lines) - _SHOWN} more lines")
    if violation.honest:
        yield _field("", f"innocent reading: {violation.honest}")


def _check(check: CheckResult) -> Iterator[Line]:
    word, style = _STATES[check.state]
    facts = [f"{check.base} on base" if check.base != "unknown" else "", check.evidence]
    if check.counts:
        facts.append(", ".join(f"{n} {word}" for word, n in check.counts.items()))
    if check.exit not in (0, None):
        facts.append(f"exit {check.exit}")
    if check.seconds is not None:
        facts.append(seconds(check.seconds))
    yield [
        ("  check       ", "dim"),
        (f"{safe(check.name)} {word}", style),
        (f"  {safe('; '.join(f for f in facts if f))}", "dim"),
        (f"  {safe(check.command)}", ""),
    ]
    if check.digest:
        yield from _block(check.digest, "dim")


def _facts(outcome: Outcome) -> Iterator[Line]:
    if outcome.claims.summary:
        yield _field("it says", outcome.claims.summary.splitlines()[0][:200])
    backend = outcome.backend
    served = f", {backend.model_served} answered" if backend.model_served not in (None, backend.model) else ""
    version = f" {backend.harness_version}" if backend.harness_version else ""
    yield _field(
        "backend", f"{backend.harness}@{backend.provider}/{backend.model}{served} ({backend.harness}{version})"
    )
    yield _field("usage", _usage(outcome))
    isolation = outcome.isolation
    if isolation.sandbox:
        proved = "proved" if isolation.proved else "not proved"
        parts = (
            f"{isolation.sandbox} ({proved})",
            isolation.workspace,
            isolation.egress and f"egress {isolation.egress}",
        )
        yield _field("isolation", ", ".join(p for p in parts if p))
    for who, record in (*(("set-up", one) for one in isolation.setup_connections), ("agent", isolation.connections)):
        if record is not None:
            yield _field("reached", f"{who}: {_reached(record)}")
    yield _field("time", seconds(sum(getattr(outcome.timing, f) for f in outcome.timing.__struct_fields__)))
    for warning in outcome.warnings:
        yield [("  warning     ", "warn"), (safe(warning), "")]
    for waiver in outcome.waivers:
        yield [("  waived      ", "warn"), (safe(waiver), "")]
    for contradiction in outcome.contradictions:
        yield [("  contradicts ", "warn"), (safe(contradiction), "")]
    where = _where(outcome)
    if where:
        yield [("  result      ", "dim"), (safe(where), "bold")]
    if outcome.retry_at:
        yield _field("not before", outcome.retry_at)


def _reached(record: EgressRecord) -> str:
    """What egress was used for, and how often it was refused."""
    allowed = [one for one in record.decisions if one.decision == "allowed"]
    others = sum(one.count for one in record.decisions if one.decision != "allowed") + record.more
    parts = [f"{d.host}:{d.port} {d.count} x, {d.sent:,} bytes out, {d.received:,} in" for d in allowed[:_SHOWN]]
    parts += [f"{len(allowed) - _SHOWN} more destinations"] if len(allowed) > _SHOWN else []
    return "; ".join([*(parts or ["nothing"]), *([f"{others} refused or failed"] if others else [])])


def _usage(outcome: Outcome) -> str:
    usage = outcome.usage
    if usage.source == "none":
        return f"{count(usage.requests, 'request')}, no tokens" if usage.requests else "nothing on the wire"
    parts = [count(usage.requests, "request")]
    for word, value in (
        ("in", usage.input),
        ("cached", usage.cache_read),
        ("cache written", usage.cache_write),
        ("out", usage.output),
    ):
        parts.append(f"{value:,} {word}" if value is not None else f"{word} unknown")
    if usage.cost_usd is not None:
        parts.append(f"{usage.cost_usd} USD")
    return ", ".join(parts) + (" (incomplete)" if usage.source == "partial" else "")


def _where(outcome: Outcome) -> str | None:
    delivery = outcome.delivery
    if delivery.kind == "branch" and delivery.ref:
        return f"branch {delivery.ref.removeprefix('refs/heads/')}"
    if delivery.kind == "patch" and delivery.path:
        return f"patch {delivery.path}"
    if outcome.change is not None and outcome.change.files and "patch" in outcome.artifacts:
        return f"nothing delivered; inspan diff {outcome.job} prints the change"
    return None
