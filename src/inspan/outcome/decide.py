"""From what each stage found to one verdict. Pure.

Nothing missing or doubtful is ever ``accepted``: an absent finding is ``not_evidenced``, every required facet must be
``passed``, and at least one of checks and judge is required unless a person waived it.
"""

from __future__ import annotations

from typing import Literal

from inspan.outcome.reasons import REASONS, Action, Facet, Verdict, leading
from inspan.outcome.records import Facets, FacetState, Record


class Finding(Record, frozen=True, kw_only=True):
    """What one stage found about its facet. ``reasons`` are words of the table, first cause first."""

    state: FacetState
    reasons: tuple[str, ...] = ()


class Situation(Record, frozen=True, kw_only=True):
    """Everything the decision depends on.

    Attributes:
        executor, scope, checks, judge: findings; None means the stage left no finding.
        checks_asked, judge_asked: whether a check or a judge was asked for.
        unchecked: a person waived the need for a check or a judge.
        read_only: the job may not change anything.
        answered: the final message of a read-only job is not empty.
        changed: whether the result differs from base; None when that is unknown.
        declared_no_change: the agent's stated reason for changing nothing, None without one.
        base_checks_passed: every required check passes on base; None when not known.
        activity: what the harness did: ``none``, ``text`` (only talk), ``tools`` (it used tools or changed files);
            None when unknown.
        cancelled: a person cancelled before the outcome was written.
        extra: reasons of causes outside the facets (a state too new, an internal error ...).
    """

    executor: Finding | None = None
    scope: Finding | None = None
    checks: Finding | None = None
    judge: Finding | None = None
    checks_asked: bool = False
    judge_asked: bool = False
    unchecked: bool = False
    read_only: bool = False
    answered: bool = False
    changed: bool | None = None
    declared_no_change: str | None = None
    base_checks_passed: bool | None = None
    activity: Literal["none", "text", "tools"] | None = None
    cancelled: bool = False
    extra: tuple[str, ...] = ()


class Decision(Record, frozen=True, kw_only=True):
    """The verdict and why. ``reason`` leads ``reasons``."""

    verdict: Verdict
    reason: str
    reasons: tuple[str, ...]
    required_action: Action
    facets: Facets
    waivers: tuple[str, ...] = ()


_FALLBACK = {  # the reason of a facet that is not passed although its finding names none
    Facet.EXECUTOR: "no_terminal_record",
    Facet.SCOPE: "gate_error",
    Facet.CHECKS: "gate_error",
    Facet.JUDGE: "judge_unavailable",
}


def _state(finding: Finding | None, required: bool) -> FacetState:
    if not required:
        # A finding nobody asked for cannot help, but a failure that was seen is not swept away.
        return (
            FacetState.FAILED if finding is not None and finding.state is FacetState.FAILED else FacetState.NOT_REQUIRED
        )
    if finding is None or finding.state is FacetState.NOT_REQUIRED:
        return FacetState.NOT_EVIDENCED
    if finding.state is FacetState.PASSED and any(REASONS[r].verdict is not Verdict.ACCEPTED for r in finding.reasons):
        return FacetState.NOT_EVIDENCED  # contradictory evidence is no evidence
    return finding.state


def _unchanged(s: Situation, checks: FacetState) -> str:
    """The reason of an empty change whose executor passed."""
    if s.activity == "none":
        return "no_activity"
    if s.declared_no_change is None:
        return "text_only" if s.activity == "text" else "no_change_undeclared"
    if not s.checks_asked:
        return "no_suite"
    if checks is FacetState.PASSED and s.base_checks_passed is True:
        return "no_change_declared"
    return "checks_failed" if checks is FacetState.FAILED or s.base_checks_passed is False else "gate_error"


def decide(s: Situation) -> Decision:
    """One verdict for one situation. Total: every situation has exactly one decision."""
    states = {
        Facet.EXECUTOR: _state(s.executor, True),
        Facet.SCOPE: _state(s.scope, True),
        Facet.CHECKS: _state(s.checks, s.checks_asked),
        Facet.JUDGE: _state(s.judge, s.judge_asked),
    }
    found = {Facet.EXECUTOR: s.executor, Facet.SCOPE: s.scope, Facet.CHECKS: s.checks, Facet.JUDGE: s.judge}
    reasons: list[str] = ["cancelled_by_user"] if s.cancelled else []
    reasons += s.extra
    for facet, state in states.items():
        if state in (FacetState.PASSED, FacetState.NOT_REQUIRED):
            continue
        finding = found[facet]
        named = [r for r in (finding.reasons if finding else ()) if REASONS[r].verdict not in _GOOD]
        reasons += named or [_FALLBACK[facet]]
    waivers: tuple[str, ...] = ()
    if not reasons:
        reason, waivers = _settled(s, states[Facet.CHECKS])
        reasons = [reason]
        if reason in _EXECUTOR_SHORT:
            states[Facet.EXECUTOR] = FacetState.FAILED
        elif reason == "no_suite":
            states[Facet.CHECKS] = FacetState.NOT_EVIDENCED
        elif reason == "gate_error":
            states[Facet.CHECKS if s.changed is not None else Facet.SCOPE] = FacetState.NOT_EVIDENCED
    ordered = tuple(dict.fromkeys(reasons))
    lead = leading(ordered)
    row = REASONS[lead]
    facets = Facets(
        executor=states[Facet.EXECUTOR],
        scope=states[Facet.SCOPE],
        checks=states[Facet.CHECKS],
        judge=states[Facet.JUDGE],
    )
    rest = tuple(r for r in ordered if r != lead)
    return Decision(
        verdict=row.verdict,
        reason=lead,
        reasons=(lead, *rest),
        required_action=row.action,
        facets=facets,
        waivers=waivers,
    )


_GOOD = (Verdict.ACCEPTED, Verdict.NO_CHANGE)
_EXECUTOR_SHORT = ("no_activity", "text_only", "no_change_undeclared")


def _settled(s: Situation, checks: FacetState) -> tuple[str, tuple[str, ...]]:
    """The reason, and the waivers used, when every required facet passed."""
    if s.changed is None:
        return "gate_error", ()
    if s.read_only:
        if s.activity == "none":
            return "no_activity", ()
        return ("answered" if s.answered and not s.changed else "gate_error" if s.changed else "text_only"), ()
    if not s.changed:
        return _unchanged(s, checks), ()
    if s.checks_asked or s.judge_asked:
        return "verified", ()
    return ("verified", ("unchecked",)) if s.unchecked else ("no_suite", ())
