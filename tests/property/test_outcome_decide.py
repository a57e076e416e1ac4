"""Nothing missing or doubtful is ever accepted: over every combination, and with controls that show the test can fail."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspan.outcome import decide as module
from inspan.outcome.decide import Decision, Finding, Situation, decide, delivered
from inspan.outcome.reasons import REASONS, Verdict
from inspan.outcome.records import FacetState

P, F, N, R = FacetState.PASSED, FacetState.FAILED, FacetState.NOT_EVIDENCED, FacetState.NOT_REQUIRED
WORD = {"executor": "stalled", "scope": "out_of_scope", "checks": "checks_failed", "judge": "judge_rejected"}
STATES = (None, P, F, N)
FLAGS = (False, True)
GOOD = (Verdict.ACCEPTED, Verdict.NO_CHANGE)


def finding(facet: str, state: FacetState | None) -> Finding | None:
    if state is None:
        return None
    return Finding(state=state, reasons=(WORD[facet],) if state is F else ())


def situations() -> Iterator[Situation]:
    findings = [
        {f: finding(f, s) for f, s in zip(WORD, states, strict=True)}
        for states in itertools.product(STATES, STATES, STATES, (None, P, F))
    ]
    flags = itertools.product(
        FLAGS, FLAGS, FLAGS, FLAGS, FLAGS, (True, False, None), (None, "done before"), (True, False, None),
        (None, "none", "text", "tools"),
    )  # fmt: skip
    names = (
        "checks_asked", "judge_asked", "unchecked", "read_only", "answered", "changed", "declared_no_change",
        "base_checks_passed", "activity",
    )  # fmt: skip
    for values in flags:
        given_flags = dict(zip(names, values, strict=True))
        for four in findings:
            yield Situation(**four, **given_flags)


def passed(f: Finding | None) -> bool:
    return f is not None and f.state is P and not f.reasons


def may_be_accepted(s: Situation) -> bool:
    """The design's sentence, said a second time and without the code under test."""
    asked = [f for f, a in ((s.checks, s.checks_asked), (s.judge, s.judge_asked)) if a]
    unasked_failure = any(f is not None and f.state is F for f in (s.checks, s.judge))
    return (
        not s.cancelled
        and not s.extra
        and not s.read_only
        and passed(s.executor)
        and passed(s.scope)
        and s.changed is True
        and s.activity != "none"
        and all(passed(f) for f in asked)
        and not unasked_failure
        and (bool(asked) or s.unchecked)
    )


def may_be_no_change(s: Situation) -> bool:
    quiet = not s.cancelled and not s.extra and passed(s.executor) and passed(s.scope) and s.changed is False
    quiet = quiet and s.activity != "none" and not any(f is not None and f.state is F for f in (s.checks, s.judge))
    quiet = quiet and (not s.checks_asked or passed(s.checks)) and (not s.judge_asked or passed(s.judge))
    if s.read_only:
        return quiet and s.answered
    return quiet and bool(s.declared_no_change) and s.checks_asked and s.base_checks_passed is True


def wrong(s: Situation, d: Decision) -> str | None:
    """What contradicts the design in one decision, None when nothing does."""
    row = REASONS[d.reason]
    if (d.verdict, d.required_action) != (row.verdict, row.action) or d.reasons[0] != d.reason:
        return "verdict, action and reason are not one row of the table"
    if (d.verdict is Verdict.ACCEPTED) != may_be_accepted(s):
        return "accepted" if d.verdict is Verdict.ACCEPTED else "not accepted"
    if (d.verdict is Verdict.NO_CHANGE) != may_be_no_change(s):
        return "no_change" if d.verdict is Verdict.NO_CHANGE else "not no_change"
    facets = (d.facets.executor, d.facets.scope, d.facets.checks, d.facets.judge)
    if d.verdict in GOOD and not all(f in (P, R) for f in facets):
        return "good with a facet that is not passed"
    if F in facets and d.verdict not in (Verdict.REJECTED, Verdict.FAILED, Verdict.PARKED, Verdict.CANCELLED):
        return "a failed facet without a failing verdict"
    if (
        d.verdict is not Verdict.CANCELLED
        and d.verdict not in GOOD
        and all(f in (P, R) for f in facets)
        and not s.extra
    ):
        return "no facet shows why it is not good"
    if bool(d.waivers) != (d.verdict is Verdict.ACCEPTED and not s.checks_asked and not s.judge_asked):
        return "waiver"
    return None


def test_every_combination_is_decided_as_the_design_says() -> None:
    total = accepted = unchanged = 0
    for s in situations():
        d = decide(s)
        total += 1
        accepted += d.verdict is Verdict.ACCEPTED
        unchanged += d.verdict is Verdict.NO_CHANGE
        complaint = wrong(s, d)
        assert complaint is None, (complaint, s, d)
    print(f"{total} situations, {accepted} accepted, {unchanged} no_change")
    assert total == 192 * 32 * 72
    assert accepted and unchanged


def _none_is_passed(original: Callable[..., FacetState]) -> Callable[..., FacetState]:
    return lambda finding, required: P if finding is None else original(finding, required)


def _doubt_is_passed(original: Callable[..., FacetState]) -> Callable[..., FacetState]:
    return lambda f, required: P if f is not None and f.state is N and required else original(f, required)


def _unasked_failure_is_dropped(original: Callable[..., FacetState]) -> Callable[..., FacetState]:
    return lambda f, required: original(f, required) if required else R


@pytest.mark.parametrize("mutation", [_none_is_passed, _doubt_is_passed, _unasked_failure_is_dropped])
def test_control_a_careless_state_is_caught(mutation: Callable[..., Callable], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_state", mutation(module._state))
    sample = itertools.islice(situations(), 0, None, 7)
    assert any(wrong(s, decide(s)) for s in sample)


@pytest.mark.parametrize(
    "settled",
    [
        lambda s: ("verified", ()),
        lambda s: (
            ("answered", ()) if s.read_only else ("no_change_declared", ()) if not s.changed else ("verified", ())
        ),
    ],
    ids=["everything", "without looking at base"],
)
def test_control_a_careless_settling_is_caught(settled: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_settled", settled)
    assert any(wrong(s, decide(s)) for s in itertools.islice(situations(), 0, None, 7))


words = st.sampled_from(sorted(REASONS))
findings = st.none() | st.builds(
    Finding, state=st.sampled_from(FacetState), reasons=st.lists(words | st.just("no_such_word"), max_size=3).map(tuple)
)
flag = st.booleans()
any_situation = st.builds(
    Situation, executor=findings, scope=findings, checks=findings, judge=findings, checks_asked=flag, judge_asked=flag,
    unchecked=flag, read_only=flag, answered=flag, changed=st.none() | flag, declared_no_change=st.none() | st.text(max_size=3),
    base_checks_passed=st.none() | flag, activity=st.sampled_from([None, "none", "text", "tools"]), cancelled=flag,
    extra=st.lists(words | st.just("no_such_word"), max_size=2).map(tuple),
)  # fmt: skip


def against(f: Finding | None) -> bool:
    return f is not None and any(r not in REASONS or REASONS[r].verdict not in GOOD for r in f.reasons)


@given(any_situation)
@settings(max_examples=2000, deadline=None)
def test_total_and_never_good_with_a_doubt(s: Situation) -> None:
    d = decide(s)
    assert set(d.reasons) <= set(REASONS)
    assert min(REASONS[r].rank for r in d.reasons) == REASONS[d.reason].rank
    facets = (d.facets.executor, d.facets.scope, d.facets.checks, d.facets.judge)
    if F in facets:
        assert d.verdict not in (*GOOD, Verdict.UNVERIFIED)
    if d.verdict in GOOD:
        assert all(f in (P, R) for f in facets) and d.facets.executor is P and d.facets.scope is P
        assert not s.cancelled
        assert not any(against(f) for f in (s.executor, s.scope))
        assert not (s.checks_asked and (s.checks is None or s.checks.state is not P or against(s.checks)))
        assert not (s.judge_asked and (s.judge is None or s.judge.state is not P or against(s.judge)))
        assert not any(r not in REASONS or REASONS[r].verdict not in GOOD for r in s.extra)
    if d.verdict is Verdict.ACCEPTED:
        assert not s.read_only and s.changed is True
        assert s.checks_asked or s.judge_asked or d.waivers == ("unchecked",)
    if d.reason == "no_change_declared":
        assert (s.declared_no_change or "").strip() and s.checks_asked and s.base_checks_passed is True


@given(any_situation)
@settings(max_examples=500, deadline=None)
def test_a_cancelled_job_stays_cancelled(s: Situation) -> None:
    from msgspec.structs import replace

    assert decide(replace(s, cancelled=True)).verdict is Verdict.CANCELLED


@given(any_situation, findings)
@settings(max_examples=1000, deadline=None)
def test_delivery_can_only_lower(s: Situation, delivery: Finding | None) -> None:
    before = decide(s)
    after = delivered(before, delivery)
    if after.verdict in GOOD:
        assert before.verdict == after.verdict
        assert delivery is None or after.facets.delivery is P
    if delivery is None:
        assert after == before
