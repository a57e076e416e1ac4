"""The agent's account of its checks against the checks."""

from __future__ import annotations

import pytest

from inspan.gate.claims import contradicted
from inspan.outcome.records import CheckResult

GREEN = CheckResult(name="unit", command="pytest", base="failed", exit=0, counts={"passed": 118, "skipped": 2})
RED = CheckResult(name="unit", command="pytest", base="passed", exit=1, counts={"passed": 117, "failed": 1})
OLD = CheckResult(name="unit", command="pytest", base="failed", exit=1)


@pytest.mark.parametrize(
    ("summary", "results", "words"),
    [
        ("Fixed it; 120 tests passed.", [GREEN], ""),  # with the skipped ones
        ("Fixed it; 121 tests passed.", [GREEN], "121 passed tests, and the checks counted 118"),
        ("118 passed, 2 skipped", [GREEN], ""),
        ("118/120 tests pass", [GREEN], ""),
        ("All tests pass now.", [GREEN], ""),
        ("All tests pass now.", [RED], "these checks fail: unit"),
        ("One pre-existing failure remains.", [RED], "older than its change"),
        ("One pre-existing failure remains.", [OLD], ""),
        ("Parses 500 files and passes them on.", [OLD], ""),
        (None, [RED], ""),
    ],
)
def test_contradictions(summary, results, words):
    assert words in " ".join(contradicted(summary, results))
    assert bool(contradicted(summary, results)) is bool(words)
