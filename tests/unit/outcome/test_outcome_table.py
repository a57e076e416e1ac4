"""The table of reasons is the design's word list, and the rank says what the design says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from inspan.outcome.decide import Finding, Situation, decide, delivered
from inspan.outcome.reasons import REASONS, Action, Facet, Verdict, leading
from inspan.outcome.records import FacetState

DESIGN = Path(__file__).resolve().parents[3] / "docs" / "design.md"
P, F, N = FacetState.PASSED, FacetState.FAILED, FacetState.NOT_EVIDENCED
OK = Finding(state=P)


def words_of_the_design() -> set[str]:
    text = re.sub(r"\s+", " ", DESIGN.read_text(encoding="utf-8"))
    found = re.search(r"all else derives from it\. Words: (.*?)\.\s", text)
    assert found
    return {re.sub(r"\s*\(.*?\)", "", w).strip() for w in found[1].split(";")}


def test_the_table_is_the_designs_word_list_and_the_reverse() -> None:
    words = words_of_the_design()
    print(f"{len(words)} words in the design, {len(REASONS)} in the table")
    assert words == set(REASONS)


def test_ranks_are_unique_and_every_verdict_and_action_is_used() -> None:
    assert len({r.rank for r in REASONS.values()}) == len(REASONS)
    assert {r.verdict for r in REASONS.values()} == set(Verdict)
    assert {r.action for r in REASONS.values()} == set(Action)
    assert all(r.text.endswith(".") for r in REASONS.values())


def test_what_stops_work_outranks_what_is_missing_and_that_outranks_good_ends() -> None:
    def ranks(*verdicts: Verdict) -> list[int]:
        return [r.rank for r in REASONS.values() if r.verdict in verdicts and r.facet is not Facet.DELIVERY]

    bad = ranks(Verdict.FAILED, Verdict.REJECTED, Verdict.PARKED, Verdict.CANCELLED)
    assert max(bad) < min(ranks(Verdict.UNVERIFIED))
    assert max(r.rank for r in REASONS.values() if r.verdict is not Verdict.ACCEPTED) < REASONS["verified"].rank
    assert REASONS["cancelled_by_user"].rank < min(r.rank for w, r in REASONS.items() if w != "cancelled_by_user")


def test_leading() -> None:
    assert leading(("checks_failed", "auth", "stalled")) == "auth"
    with pytest.raises(KeyError):
        leading(("no_such_word",))
    with pytest.raises(ValueError):
        leading(())


BASE = {"executor": OK, "scope": OK, "checks": OK, "checks_asked": True, "changed": True, "activity": "tools"}
SAID = {"changed": False, "declared_no_change": "it is right already", "base_checks_passed": True}
CHECKS_FAIL = {"checks": Finding(state=F, reasons=("checks_failed",))}
CASES = {
    "honest": ({}, "verified"),
    "no check": ({"checks": None, "checks_asked": False}, "no_suite"),
    "waived": ({"checks": None, "checks_asked": False, "unchecked": True}, "verified"),
    "declared and proved": (SAID, "no_change_declared"),
    "declared in talk only": ({**SAID, "activity": "text"}, "no_change_declared"),
    "declared, base fails": ({**SAID, **CHECKS_FAIL, "base_checks_passed": False}, "checks_failed"),
    "declared, base unknown": ({**SAID, "base_checks_passed": None}, "gate_error"),
    "declared, nothing asked": ({**SAID, "checks": None, "checks_asked": False, "unchecked": True}, "no_suite"),
    "declared with blanks": ({**SAID, "declared_no_change": "  "}, "no_change_undeclared"),
    "undeclared, green": ({"changed": False, "base_checks_passed": True}, "no_change_undeclared"),
    "undeclared, red": ({"changed": False, "base_checks_passed": False, **CHECKS_FAIL}, "no_change_undeclared"),
    "talk only, red": ({"changed": False, "activity": "text", **CHECKS_FAIL}, "text_only"),
    "nothing at all, red": ({"changed": False, "activity": "none", **CHECKS_FAIL}, "no_activity"),
    "nothing at all, declared": ({**SAID, "activity": "none"}, "no_activity"),
    "a change without activity": ({"activity": "none"}, "gate_error"),
    "answered": ({"read_only": True, "changed": False, "answered": True}, "answered"),
    "read-only without an answer": ({"read_only": True, "changed": False}, "no_change_undeclared"),
    "read-only with a change": ({"read_only": True, "answered": True}, "gate_error"),
    "change unknown": ({"changed": None}, "gate_error"),
    "stalled and out of scope": (
        {"executor": Finding(state=F, reasons=("stalled",)), "scope": Finding(state=F, reasons=("out_of_scope",))},
        "stalled",
    ),
    "tests need a reader": ({"checks": Finding(state=N, reasons=("tests_changed",))}, "tests_changed"),
    "failed for no reason": ({"checks": Finding(state=F)}, "gate_error"),
    "an unknown word": ({"scope": Finding(state=F, reasons=("typo",))}, "internal_error"),
    "cancelled when all was well": ({"cancelled": True}, "cancelled_by_user"),
    "extra good word does not help": ({"extra": ("verified",), "executor": None}, "no_terminal_record"),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    changes, reason = CASES[name]
    decision = decide(Situation(**{**BASE, **changes}))
    assert decision.reason == reason
    assert decision.verdict is REASONS[reason].verdict


def test_delivery() -> None:
    good = decide(Situation(**BASE))
    assert delivered(good, Finding(state=P)).verdict is Verdict.ACCEPTED
    assert delivered(good, Finding(state=P)).facets.delivery is P
    lost = delivered(good, Finding(state=F, reasons=("base_moved",)))
    assert (lost.verdict, lost.reason, lost.reasons) == (Verdict.FAILED, "base_moved", ("base_moved",))
    assert delivered(good, Finding(state=N)).reason == "delivery_failed"
