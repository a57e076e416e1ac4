"""What checks are worth where the rules they run by were changed."""

from __future__ import annotations

import pytest

from inspan.gate.checks import ChecksVerdict
from inspan.gate.evidence import _checked
from inspan.gate.report import GateReport
from inspan.outcome.decide import Finding
from inspan.outcome.records import CheckResult, FacetState

PASSED, FAILED, DOUBTED = FacetState.PASSED, FacetState.FAILED, FacetState.NOT_EVIDENCED


def judged(scope: tuple[str, ...], *states: FacetState) -> GateReport:
    """The report of a gate that found ``scope`` against the change and ran one check per state."""
    results = tuple(CheckResult(name=f"c{n}", command="sh c.sh", state=state) for n, state in enumerate(states))
    good = all(state is PASSED for state in states)
    finding = Finding(state=PASSED) if good else Finding(state=FAILED, reasons=("checks_failed",))
    report = GateReport(scope=Finding(state=FAILED if scope else PASSED, reasons=scope), violations=())
    return _checked(report, ChecksVerdict(finding=finding, results=results))


def test_a_pass_by_tampered_rules_is_no_evidence_and_a_failure_still_is() -> None:
    report = judged(("out_of_scope", "gate_tampered"), PASSED, PASSED)
    assert report.checks == Finding(state=DOUBTED, reasons=("gate_tampered",))
    assert [r.state for r in report.results] == [DOUBTED, DOUBTED]
    mixed = judged(("gate_tampered",), PASSED, FAILED)
    assert mixed.checks == Finding(state=FAILED, reasons=("checks_failed",))
    assert [r.state for r in mixed.results] == [DOUBTED, FAILED]


@pytest.mark.parametrize("scope", [(), ("out_of_scope",)])
def test_without_tampering_a_pass_stands(scope: tuple[str, ...]) -> None:
    report = judged(scope, PASSED)
    assert report.checks == Finding(state=PASSED) and report.results[0].state is PASSED
