"""From what each stage found to one verdict. Pure.

Nothing missing or doubtful is ever ``accepted``: an absent finding is ``not_evidenced``, every required facet must be
``passed``, and at least one of checks and judge is required unless a person waived it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

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


_GOOD = (Verdict.ACCEPTED, Verdict.NO_CHANGE)


def _bad(words: tuple[str, ...]) -> list[str]:
    """The words that stand against success; a word nobody knows is an error of ours and stands against it too."""
    known = [word if word in REASONS else "internal_error" for word in words]
    return [word for word in known if REASONS[word].verdict not in _GOOD]


def _state(finding: Finding | None, required: bool) -> FacetState:
    if not required:
        # A finding nobody asked for cannot help, but a failure that was seen is not swept away.
        failed = finding is not None and finding.state is FacetState.FAILED
        return FacetState.FAILED if failed else FacetState.NOT_REQUIRED
    if finding is None or finding.state is FacetState.NOT_REQUIRED:
        return FacetState.NOT_EVIDENCED
    if finding.state is FacetState.PASSED and _bad(finding.reasons):
        return FacetState.NOT_EVIDENCED  # contradictory evidence is no evidence
    return finding.state


def _against(facet: Facet, state: FacetState, finding: Finding | None) -> list[str]:
    """The reasons a facet gives against success."""
    if state in (FacetState.PASSED, FacetState.NOT_REQUIRED):
        return []
    named = _bad(finding.reasons if finding else ())
    decided = state is not FacetState.FAILED or any(REASONS[r].verdict is not Verdict.UNVERIFIED for r in named)
    return named if named and decided else [*named, _FALLBACK[facet]]


def _idle(s: Situation) -> str | None:
    """Why an empty change is no answer, whatever the checks say; None when the agent declared it."""
    if s.read_only or s.changed is not False:
        return None
    if s.activity == "none":
        return "no_activity"
    if not (s.declared_no_change or "").strip():
        return "text_only" if s.activity == "text" else "no_change_undeclared"
    return None


def _settled(s: Situation) -> tuple[str, tuple[str, ...]]:
    """The reason, and the waivers used, when no facet stands against success and the change is not idle."""
    if s.changed is None or (s.changed and (s.read_only or s.activity == "none")):
        return "gate_error", ()
    if s.read_only:
        if s.activity == "none":
            return "no_activity", ()
        return ("answered" if s.answered else "no_change_undeclared"), ()
    if not s.changed:
        if not s.checks_asked:
            return "no_suite", ()
        # The result is base: what the checks say of one they must say of the other.
        proved = {True: "no_change_declared", False: "checks_failed", None: "gate_error"}
        return proved[s.base_checks_passed], ()
    if s.checks_asked or s.judge_asked:
        return "verified", ()
    return ("verified", ("unchecked",)) if s.unchecked else ("no_suite", ())


def decide(s: Situation) -> Decision:
    """One verdict for one situation. Total: every situation has exactly one decision."""
    found = {Facet.EXECUTOR: s.executor, Facet.SCOPE: s.scope, Facet.CHECKS: s.checks, Facet.JUDGE: s.judge}
    required = {Facet.EXECUTOR: True, Facet.SCOPE: True, Facet.CHECKS: s.checks_asked, Facet.JUDGE: s.judge_asked}
    states = {facet: _state(finding, required[facet]) for facet, finding in found.items()}
    reasons = [*(["cancelled_by_user"] if s.cancelled else []), *_bad(s.extra)]
    for facet, finding in found.items():
        reasons += _against(facet, states[facet], finding)
    waivers: tuple[str, ...] = ()
    if states[Facet.EXECUTOR] is FacetState.PASSED and states[Facet.SCOPE] is FacetState.PASSED:
        idle = _idle(s)
        if idle:
            reasons.append(idle)
        elif not reasons:
            settled, waivers = _settled(s)
            reasons.append(settled)
        _mark(states, reasons[-1], s)
    return _decision(tuple(dict.fromkeys(reasons)), states, waivers)


def _mark(states: dict[Facet, FacetState], reason: str, s: Situation) -> None:
    """Let the facets show what the decision saw beyond the findings."""
    if reason in ("no_activity", "text_only", "no_change_undeclared"):
        states[Facet.EXECUTOR] = FacetState.FAILED
    elif reason == "checks_failed":
        states[Facet.CHECKS] = FacetState.FAILED
    elif reason == "no_suite":
        states[Facet.CHECKS] = FacetState.NOT_EVIDENCED
    elif reason == "gate_error":
        doubtful = Facet.CHECKS if s.changed is False else Facet.SCOPE
        if states[doubtful] is FacetState.PASSED:
            states[doubtful] = FacetState.NOT_EVIDENCED


def _decision(reasons: tuple[str, ...], states: dict[Facet, FacetState], waivers: tuple[str, ...]) -> Decision:
    lead = leading(reasons)
    return Decision(
        verdict=REASONS[lead].verdict,
        reason=lead,
        reasons=(lead, *(r for r in reasons if r != lead)),
        required_action=REASONS[lead].action,
        facets=Facets(**{facet.value: state for facet, state in states.items()}),
        waivers=waivers,
    )


def delivered(decision: Decision, delivery: Finding | None) -> Decision:
    """The decision once delivery was tried; ``delivery`` is None when nothing was to be delivered.

    A failed delivery can lower a verdict and never raises it.
    """
    if delivery is None:
        return decision
    state = _state(delivery, True)
    words = [] if state is FacetState.PASSED else (_bad(delivery.reasons) or ["delivery_failed"])
    facets = msgspec.structs.replace(decision.facets, delivery=state)
    before = _bad(decision.reasons) if words else decision.reasons  # a failure is not verified as well
    reasons = tuple(dict.fromkeys((*before, *words)))
    lead = leading(reasons)
    return msgspec.structs.replace(
        decision,
        verdict=REASONS[lead].verdict,
        reason=lead,
        reasons=(lead, *(r for r in reasons if r != lead)),
        required_action=REASONS[lead].action,
        facets=facets,
    )
