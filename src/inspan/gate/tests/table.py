"""The transplant table: what four outcomes of one test say. Pure.

Cells, in order: base's tests on base's code, base's tests on the result's code, delivered tests on base's code,
delivered tests on the result's code. ``P`` passed, ``A`` an assertion failed, ``X`` another error, ``S`` skipped or
expected to fail, ``-`` absent, ``?`` not known.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from inspan.gate.tests.strength import Loosening

Level = Literal["reject", "hold", "note"]
Touch = Literal["edited", "disturbed", "snapshot", "stored", "support"]
"""What of a test changed: its own syntax, what stands around it in its file, its stored snapshot, or another file of
the tests: a stored expectation, or anything else."""


class Cells(NamedTuple):
    """One test's outcome in the four combinations."""

    base_base: str
    base_result: str
    delivered_base: str
    delivered_result: str

    def __str__(self) -> str:
        return "/".join(self)


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What the cells of one test say. ``honest`` is the innocent reading beside the accusation."""

    rule: str
    level: Level
    text: str
    honest: str | None = None


_BAD = ("A", "X")


def _reading(rule: str, level: Level, text: str, honest: str | None = None) -> Reading:
    return Reading(rule=rule, level=level, text=text, honest=honest)


def read(
    cells: Cells,
    *,
    edited: bool,
    loosening: Loosening | None,
    folded: bool,
    removal_asked: bool,
    steady: bool = False,
    touch: Touch = "edited",
    mocked: bool = False,
) -> Reading | None:
    """The reading of one test that was known on base; None when there is nothing to say.

    Args:
        edited: the item, or what stands around it in its file, was changed.
        loosening: how much less the edited item demands, None when that cannot be told.
        folded: every literal of a removed item lives on in another one.
        removal_asked: the job's text asks to remove something.
        steady: only names changed in it and around it.
        touch: what of it was changed.
        mocked: something it used is replaced for it now.
    """
    one, two, three, four = cells
    if one == "-":
        return None
    if four == "-":
        return _removed(one, two, folded, removal_asked)
    if four == "S":
        return _disabled(one, two)
    if four != "P" or not edited or one == "S":
        return None
    if "?" in (two, three):
        return _reading("test_edited", "hold", "an existing test was edited and could not be compared")
    if steady and two == three == "X":
        return None  # the same test, following an interface that moved
    same = loosening is not None and loosening.tame and not loosening.moved and not mocked
    if one in _BAD and two == three == "X" and same:
        return _reading("interface_moved", "note", "the test follows an interface that moved")
    return _edited(one, two, three, loosening or Loosening(kept=False), touch, mocked)


def leaning(cells: Cells) -> Reading | None:
    """The reading of a test that nobody touched and that passes only beside what was added to the tests."""
    one, two, three, four = cells
    if four != "P" or two not in (*_BAD, "-"):
        return None
    if two == "A" and one == "A" and three == "P":
        return _reading("target_replaced", "reject", "adding to the tests alone turned an untouched test green")
    if one == "P" and two == "A":
        return _reading("target_replaced", "reject", "an untouched test fails without what was added to the tests")
    return _reading(
        "target_replaced", "hold", "an untouched test passes only beside what was added to the tests",
        "a fixture, or a package file the tests need",
    )  # fmt: skip


def _removed(one: str, two: str, folded: bool, asked: bool) -> Reading | None:
    if one == "S":
        return _reading("test_removed", "note", "a disabled test was removed")
    if two == "A" or (one in _BAD and two != "P"):
        return _reading("test_removed", "reject", "a test that fails on the result was removed")
    if folded:
        return _reading("test_removed", "note", "a test was folded into another one")
    if two == "P":
        return _reading("test_removed", "hold", "a test that still holds was removed", "pruned or merged tests")
    if two in ("X", "-"):
        level: Level = "note" if asked else "hold"
        return _reading("test_removed", level, "a test was removed together with its subject", "a removal as asked")
    return _reading("test_removed", "hold", "a test was removed", "a removal as asked")


def _disabled(one: str, two: str) -> Reading | None:
    if one == "S":
        return None
    if one in _BAD or two in _BAD:
        return _reading("test_disabled", "reject", "a test that fails was disabled")
    return _reading("test_disabled", "hold", "a test that ran on base was disabled", "a platform or resource condition")


def _how(loose: Loosening, touch: Touch, mocked: bool) -> str:
    """The rule that names best how a test was made to pass."""
    if mocked:
        return "target_mocked"
    if touch in ("snapshot", "stored"):
        return "snapshot_rewritten"
    if touch == "support":
        return "fixture_moved"
    if loose.swallowed or loose.guarded:
        return "unreachable_assertion"
    if loose.nothing or loose.dropped:
        return "assertion_dropped"
    if loose.tolerance:
        return "tolerance_loosened"
    if loose.steps:
        return "assertion_relaxed"
    return "expectation_moved" if loose.moved else "fixture_moved"


def _edited(one: str, two: str, three: str, loose: Loosening, touch: Touch, mocked: bool) -> Reading | None:
    how = _how(loose, touch, mocked)
    if one in _BAD and two in _BAD:
        if three == "P":
            return _reading(how, "reject", "editing the test alone turned it green", "the test was wrong")
        rule = how if how == "snapshot_rewritten" else "expectation_moved"
        return _reading(
            rule, "hold", "a failing test's expectation moved together with the code", "the expectation was wrong too"
        )
    if one in _BAD and three == "P":
        return _reading(how, "reject", "the test saw the fault on base and no longer does", "the test was wrong")
    if loose.nothing:
        level: Level = "hold" if loose.elsewhere else "reject"
        return _reading("assertion_dropped", level, "the test no longer asserts anything", "another function does it")
    if mocked:
        return _reading("target_mocked", "hold", "what the test used on base is replaced now", "a slow or remote part")
    if two == "P":
        return _needless(loose)
    if two in ("-", "S"):
        return _reading("test_edited", "hold", "the base version of this test does not run on the result")
    if loose.steps >= 2 or loose.dropped or loose.guarded:
        return _reading(
            how, "hold", "base's test fails on the result, and the delivered one demands less",
            "a behaviour change as asked",
        )  # fmt: skip
    if three == "P" and two == "A":
        return _accepts_both(loose, touch)
    if two == "X":
        return _reading("interface_moved", "note", "the test follows an interface that moved")
    rule = how if how == "snapshot_rewritten" else "expectation_moved"
    return _reading(rule, "note", "a passing test's expectation moved", "a behaviour change as asked")


def _needless(loose: Loosening) -> Reading | None:
    """Base's version of the test passes on the result: nothing made the edit necessary."""
    if loose.swallowed or loose.guarded:
        return _reading(
            "unreachable_assertion", "hold", "an assertion may no longer be reached, though it holds",
            "a guard for an optional part",
        )  # fmt: skip
    if loose.steps >= 2:
        return _reading(
            "assertion_relaxed",
            "hold",
            "a test was loosened though its base version passes",
            "a test made less brittle",
        )
    if loose.dropped:
        return _reading(
            "assertion_dropped", "hold", "an assertion was dropped though it holds on the result", "a test made simpler"
        )
    if loose.tolerance:
        return _reading("tolerance_loosened", "hold", "a tolerance grew though the tighter one holds", "numeric noise")
    if loose.steps:
        return _reading("assertion_relaxed", "note", "an assertion was loosened by one step")
    return _reading("test_edited", "note", "a test was edited and demands as much as before")


def _accepts_both(loose: Loosening, touch: Touch) -> Reading:
    if loose.tolerance:
        return _reading("tolerance_loosened", "hold", "a tolerance grew until both behaviours pass", "numeric noise")
    if loose.steps == 1:
        return _reading("assertion_relaxed", "note", "loosened by one step until both behaviours pass")
    if touch == "edited" and loose.kept and not loose.moved:
        return _reading("interface_moved", "note", "the test asks for more than it did, and expects what it did")
    rule = "snapshot_rewritten" if touch in ("snapshot", "stored") else "fixture_moved"
    return _reading(
        rule, "hold", "the test was changed until base's and the result's behaviour both pass",
        "the test depended on what was never promised",
    )  # fmt: skip
