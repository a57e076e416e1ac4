"""What a failure's digest says of a violation: what to repair, never how it was seen."""

from __future__ import annotations

import pytest

from inspan.gate.checks import _told
from inspan.outcome.records import Violation


@pytest.mark.parametrize(
    ("rule", "detail"),
    [
        ("runner_patched", "test_add: a copy with one inverted expectation passes as well"),
        ("assertion_relaxed", "test_add: editing the test alone turned it green [A/A/P/P]"),
        ("special_cased", "inputs and outputs of existing tests stand together in the code"),
    ],
)
def test_rules_cells_and_probes_stay_with_people(rule, detail):
    told = _told(Violation(path="tests/test_a.py", rule=rule, detail=detail))
    assert told.startswith("tests/test_a.py: demand") and rule not in told
    assert not any(word in told for word in ("inverted", "[A/A", "copy", "special", "stand together"))


@pytest.mark.parametrize("rule", ["tests_failed", "results_missing"])
def test_what_fails_is_told(rule):
    violation = Violation(path="tests/test_a.py", rule=rule, detail="test_add: ran on base and gave no result")
    assert _told(violation) == "tests/test_a.py: test_add: ran on base and gave no result"
