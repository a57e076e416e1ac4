"""The gate as a whole fails closed: whatever falls over, what it had not seen by then is without evidence."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspan.errors import GateError
from inspan.gate import evidence
from inspan.gate.checks import ChecksVerdict
from inspan.gate.context import GateContext
from inspan.gate.evidence import run_gate
from inspan.gate.report import receipt_of
from inspan.outcome.decide import Finding
from inspan.outcome.records import Change, CheckResult, FacetState, Violation
from inspan.redact import Redactor
from inspan.sandbox.tools import Toolset
from inspan.spec.job import Check, Job
from inspan.spec.paths import State
from inspan.workspace.build import SetupLayer
from inspan.workspace.changeset import Changeset
from inspan.workspace.layout import Owner

PASSED, UNSEEN = Finding(state=FacetState.PASSED), FacetState.NOT_EVIDENCED
GREEN = ChecksVerdict(finding=PASSED, results=(CheckResult(name="c", command="true", state=FacetState.PASSED),))


class Gate:
    """A gate whose halves are played; ``ran`` counts the checks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        self.scope: Any = (PASSED, ())
        self.checks: Any = GREEN
        self.ran, self.kept = 0, list[bytes]()
        self._state = State(tmp_path)
        both = SimpleNamespace(before=None, after=None, base={}, result={})
        monkeypatch.setattr(evidence, "trees", lambda context: both)
        monkeypatch.setattr(evidence, "judge_scope", lambda *a, **k: self._play(self.scope))
        monkeypatch.setattr(evidence, "run_checks", lambda *a: self._count() or self._play(self.checks))

    def _count(self) -> None:
        self.ran += 1

    def _play(self, part: Any) -> Any:
        if isinstance(part, Exception):
            raise part
        return part

    def context(self, *violations: Violation, **more: Any) -> GateContext:
        change = Changeset(
            base="b" * 40,
            result="r" * 40,
            tree="t" * 40,
            digest=None,
            change=Change(base="b" * 40),
            violations=violations,
        )
        return GateContext(
            state=self._state, repo=None, job=Job(prompt="p", checks=(Check(name="c", command="true"),)),  # type: ignore[arg-type]
            changeset=change, attempt="j.a1", level="none", kind="clone", owner=Owner(uid=0, gid=0),
            toolset=Toolset(binds=(), path="", names=()), env={}, redactor=Redactor(["s3cret-value"]), keep=self._keep, **more,
        )  # fmt: skip

    def _keep(self, data: bytes) -> str:
        self.kept.append(data)
        return "sha256:kept"


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Gate:
    return Gate(monkeypatch, tmp_path)


def test_a_good_change_has_a_receipt_that_can_be_computed_again(gate: Gate) -> None:
    context = gate.context()
    report = run_gate(context)
    assert (report.scope, report.checks, report.error) == (PASSED, PASSED, None)
    assert report.receipt == receipt_of(report, context.job, context.changeset)
    layers = {key: SetupLayer(key=key, lower="", home="", changed_tracked=()) for key in ("one", "two")}
    stood = [run_gate(gate.context(setup=layers["one"], setup_for_checks=second)) for second in (None, layers["two"])]
    assert len({report.receipt, *(r.receipt for r in stood)}) == 3, "every set-up layer is bound"


@pytest.mark.parametrize("error", [RuntimeError("boom s3cret-value"), GateError("boom s3cret-value")])
def test_a_failure_in_the_scope_proves_nothing_at_all(gate: Gate, error: Exception) -> None:
    gate.scope = error
    report = run_gate(gate.context())
    assert report.checks == report.scope == Finding(state=UNSEEN, reasons=("gate_error",))
    assert report.receipt is None and gate.ran == 0
    assert report.error is not None and "boom" in report.error and "s3cret" not in report.error
    assert bool(gate.kept) == isinstance(error, RuntimeError), "an error of ours leaves its traceback"


def test_a_failure_in_the_checks_leaves_the_scope_standing(gate: Gate) -> None:
    gate.checks = GateError("a person said so", reason="cancelled_by_user")
    report = run_gate(gate.context())
    assert report.scope == PASSED and report.checks == Finding(state=UNSEEN, reasons=("cancelled_by_user",))
    assert report.receipt is None and report.error
    gate.checks = GateError("claims success", reason="verified")
    assert run_gate(gate.context()).checks == Finding(state=UNSEEN, reasons=("gate_error",))


def test_a_change_that_must_not_be_laid_out_is_not(gate: Gate) -> None:
    report = run_gate(gate.context(Violation(path="x", rule="escaping_link")))
    assert gate.ran == 0 and report.checks is not None and report.checks.state is UNSEEN
    gate.scope = (Finding(state=FacetState.FAILED, reasons=("change_too_large",)), ())
    large = run_gate(gate.context(Violation(path="x", rule="too_big")))
    assert large.checks == Finding(state=UNSEEN, reasons=("change_too_large",)), "nothing was outside the scope"
    run_gate(gate.context(Violation(path="x", rule="ignored", level="note")))
    assert gate.ran == 1, "control: a note keeps nothing from running"


def test_a_check_that_passes_by_tampered_rules_shows_nothing(gate: Gate) -> None:
    gate.scope = (Finding(state=FacetState.FAILED, reasons=("gate_tampered",)), ())
    report = run_gate(gate.context())
    assert report.checks == Finding(state=UNSEEN, reasons=("gate_tampered",)) and report.results[0].state is UNSEEN


def test_checks_that_are_not_worth_it_are_not_run(gate: Gate) -> None:
    report = run_gate(gate.context(), check=False)
    assert gate.ran == 0 and report.checks is None and report.scope == PASSED and report.receipt
