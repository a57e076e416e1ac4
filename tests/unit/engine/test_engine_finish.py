"""From what the stages left to the decision: a gate that was not reached never explains a failure."""

from __future__ import annotations

import pytest

from inspan.attempt.contract import TerminalRecord
from inspan.engine.context import changed
from inspan.engine.ending import as_cancelled
from inspan.engine.finish import _detail, _moved, _situation
from inspan.engine.records import Collected, Progress, dump, load
from inspan.engine.stages import failed
from inspan.gate.report import GateReport
from inspan.harness.contract import Ending
from inspan.outcome.decide import Finding, decide
from inspan.outcome.reasons import REASONS
from inspan.outcome.records import Change, FacetState, FileChange
from inspan.spec.job import Check, Job
from inspan.workspace.changeset import Changeset

SPEC = Job(prompt="p", checks=(Check(name="c", command="true"),))
PASSED = Finding(state=FacetState.PASSED)


def changeset(result: str = "r" * 40) -> Changeset:
    files = (FileChange(path="a\udcff", status="added"),)
    change = Change(base="b" * 40, result=result, files=files)
    return Changeset(base="b" * 40, result=result, tree="t" * 40, digest="sha256:0", change=change)


def test_a_good_job_is_verified() -> None:
    progress = Progress(
        job="j",
        collected=Collected(executor=PASSED, changeset=changeset(), activity="tools"),
        gated=GateReport(scope=PASSED, checks=PASSED, base_passed=False),
    )
    assert decide(_situation(progress, SPEC, False, False)).reason == "verified"
    assert decide(_situation(progress, SPEC, True, False)).reason == "checkout_changed"
    assert decide(_situation(progress, SPEC, False, True)).reason == "cancelled_by_user"


@pytest.mark.parametrize(
    "reason", ["setup_failed", "internal_error", "disk_full", "environment_lost", "sandbox_unavailable"]
)
@pytest.mark.parametrize("spec", [SPEC, Job(prompt="p"), Job(prompt="p", read_only=True)])
def test_a_stage_that_failed_is_the_reason(reason: str, spec: Job) -> None:
    decision = decide(_situation(failed(Progress(job="j"), "prepare", reason, "why"), spec, False, False))
    assert decision.reasons == (reason,) and decision.verdict is REASONS[reason].verdict


def test_an_executor_that_failed_explains_the_checks_that_did_not_run() -> None:
    stalled = Finding(state=FacetState.FAILED, reasons=("stalled",))
    progress = Progress(
        job="j", collected=Collected(executor=stalled, changeset=changeset()), gated=GateReport(scope=PASSED)
    )
    decision = decide(_situation(progress, SPEC, False, False))
    assert decision.reasons == ("stalled",) and decision.facets.checks is FacetState.NOT_EVIDENCED


def test_a_change_that_could_not_be_read_is_never_accepted() -> None:
    progress = failed(Progress(job="j", collected=Collected(executor=PASSED)), "collect", "gate_error", "why")
    decision = decide(_situation(progress, SPEC, False, False))
    assert decision.reason == "gate_error" and decision.facets.scope is FacetState.NOT_EVIDENCED


def test_nothing_at_all_is_never_accepted() -> None:
    assert decide(_situation(Progress(job="j"), SPEC, False, False)).verdict not in ("accepted", "no_change")


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_a_cancelled_decision_keeps_only_what_stood_against_success(reason: str) -> None:
    finding = Finding(state=FacetState.FAILED, reasons=(reason,))
    decision = as_cancelled(
        decide(_situation(Progress(job="j", collected=Collected(executor=finding)), SPEC, False, False))
    )
    assert (decision.verdict, decision.reason) == ("cancelled", "cancelled_by_user")
    assert decision.reasons.count("cancelled_by_user") == 1
    assert not any(REASONS[r].verdict in ("accepted", "no_change") for r in decision.reasons)


def test_an_error_of_the_harness_is_the_detail_unless_something_better_is_known() -> None:
    def ended(detail: str | None) -> TerminalRecord:
        said = Ending(complete=True, ok=False, error="no end after 100 turns")
        return TerminalRecord(attempt="j.a1", end="exited", started="s", ended="e", detail=detail, ending=said)

    crashed = Collected(executor=Finding(state=FacetState.FAILED, reasons=("harness_crashed",)))
    assert _detail(Progress(job="j", collected=crashed, ended=ended(None))) == "no end after 100 turns"
    assert _detail(Progress(job="j", collected=crashed, ended=ended("out of memory"))) == "out of memory"
    passed = Collected(executor=PASSED)  # control: an error that was got over explains nothing
    assert _detail(Progress(job="j", collected=passed, ended=ended(None))) is None


def test_the_detail_belongs_to_the_reason() -> None:
    """A stall whose tree could not be collected either is explained by the stall."""
    ended = TerminalRecord(attempt="j.a1", end="stalled", started="s", ended="e", detail="nothing new for 40 s")
    collected = Collected(executor=Finding(state=FacetState.FAILED, reasons=("stalled",)))
    progress = failed(Progress(job="j", collected=collected, ended=ended), "collect", "change_too_large", "too many")
    stalled = decide(_situation(progress, SPEC, False, False))
    assert stalled.reason == "stalled" and _detail(changed(progress, decision=stalled)) == "nothing new for 40 s"
    alone = failed(Progress(job="j"), "collect", "change_too_large", "too many")  # control
    assert _detail(changed(alone, decision=decide(_situation(alone, SPEC, False, False)))) == "too many"


def test_what_a_person_moved_elsewhere_is_only_noted() -> None:
    assert _moved("file:a.py", "main").level == "reject" and _moved("file:a.py", "main").path == "a.py"
    assert _moved("ref:refs/heads/main", "main").level == "reject"
    assert _moved("ref:refs/remotes/origin/main", "main").level == "note"
    assert _moved("ref:refs/heads/other", "main").level == "note"
    assert {_moved(name, None).level for name in ("HEAD", "index", "config", "hook:pre-commit")} == {"reject"}


def test_progress_survives_as_text_with_names_that_are_not_utf8() -> None:
    progress = Progress(job="j", collected=Collected(executor=PASSED, changeset=changeset()))
    text = dump(progress)
    assert text.isascii() and load(text, Progress) == progress
