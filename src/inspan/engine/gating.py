"""The fourth stage: scope and checks, each on copies the worker cannot reach."""

from __future__ import annotations

import msgspec

from inspan.engine.context import Context, Stopwatch, changed, timed
from inspan.engine.places import environment_of, owner_at
from inspan.engine.records import Collected, Gated, Prepared, Progress, Resolved
from inspan.engine.setup import ensure_setup
from inspan.engine.stages import failed, stage
from inspan.errors import InspanError
from inspan.gate.checks import ChecksVerdict, run_checks
from inspan.gate.context import GateContext, installed, trees
from inspan.gate.receipt import receipt
from inspan.gate.scope import judge_scope
from inspan.gate.setup import setup_changed
from inspan.outcome.decide import Finding
from inspan.outcome.records import CheckResult, FacetState, Violation
from inspan.spec.job import Job
from inspan.store.states import GATING
from inspan.workspace.build import SetupLayer
from inspan.workspace.changeset import Changeset

WORTH_CHECKING = ("declared_incomplete",)
"""Reasons against the executor with which the checks still run: their evidence helps whoever goes on."""
TAMPERED = "gate_tampered"
"""The scope gate's reason under which a check that passes proves nothing."""


@stage("gate")
def gate(context: Context, progress: Progress) -> Progress:
    """Judge what was collected. Without a changeset there is nothing to judge, and nothing is evidenced."""
    job, prepared, collected = progress.job, progress.prepared, progress.collected
    if prepared is None or collected is None or collected.changeset is None:
        return progress
    watch = Stopwatch()
    context.store.enter(job, GATING)
    spec, resolved, changeset = context.spec(job), context.resolved(job), collected.changeset
    desk = _desk(context, job, spec, resolved, prepared, changeset)
    scope, violations = _scope(desk)
    gated = Gated(scope=scope, violations=violations)
    if spec.checks and _worth_checking(progress, collected):
        try:
            layer = _setup_for_checks(context, job, spec, resolved, prepared, changeset)
            gated = _with_checks(gated, run_checks(msgspec.structs.replace(desk, setup_for_checks=layer)))
        except InspanError as error:  # what the scope gate saw stands all the same
            progress = failed(progress, "gate", error.reason, str(error))
    gated = msgspec.structs.replace(gated, receipt=receipt_of(spec, prepared, changeset, gated))
    found = {"scope": scope.state.value, "checks": gated.checks.state.value if gated.checks else None}
    context.say(job, "gated", found, once="gated")
    return timed(changed(progress, gated=gated), gate=watch())


def _with_checks(gated: Gated, verdict: ChecksVerdict) -> Gated:
    finding, results = verdict.finding, verdict.results
    if gated.scope is not None and TAMPERED in gated.scope.reasons:
        results = tuple(map(_doubted, results))
        if finding.state is FacetState.PASSED:
            finding = Finding(state=FacetState.NOT_EVIDENCED, reasons=(TAMPERED,))
    return msgspec.structs.replace(
        gated,
        checks=finding,
        violations=(*gated.violations, *verdict.violations),
        results=results,
        base_passed=verdict.base_passed,
    )


def _doubted(result: CheckResult) -> CheckResult:
    passed = result.state is FacetState.PASSED
    return msgspec.structs.replace(result, state=FacetState.NOT_EVIDENCED) if passed else result


def _worth_checking(progress: Progress, collected: Collected) -> bool:
    finding = collected.executor
    passed = finding.state is FacetState.PASSED or set(finding.reasons) <= set(WORTH_CHECKING)
    return passed and not progress.stopped


def _desk(
    context: Context, job: str, spec: Job, resolved: Resolved, prepared: Prepared, changeset: Changeset
) -> GateContext:
    return GateContext(
        state=context.state,
        repo=resolved.repository,
        job=spec,
        changeset=changeset,
        attempt=prepared.attempt,
        level=resolved.level,
        kind=resolved.workspace,
        owner=owner_at(resolved.level),
        toolset=prepared.toolset,
        env=environment_of(prepared.toolset, resolved, context.environ),
        redactor=context.store.redactor,
        setup=prepared.setup,
        share=spec.share,
        harness_globs=resolved.deciders,
        keep=lambda data: context.store.keep(job, "check", data),
        on_progress=lambda text: context.say(job, "check", {"text": text}),
        cancelled=lambda: context.cancelled(job),
    )


def _scope(desk: GateContext) -> tuple[Finding, tuple[Violation, ...]]:
    both = trees(desk)
    return judge_scope(
        desk.changeset,
        desk.job,
        desk.harness_globs,
        before=both.before,
        after=both.after,
        base_paths=both.base.keys(),
        result_paths=both.result.keys(),
        taken=installed(desk),
    )


def _setup_for_checks(
    context: Context, job: str, spec: Job, resolved: Resolved, prepared: Prepared, changeset: Changeset
) -> SetupLayer | None:
    """A layer made from the result, when the result changed what set-up reads."""
    paths = [file.path for file in changeset.change.files]
    if prepared.setup is None or changeset.result is None or not setup_changed(paths, resolved.setup_inputs):
        return None
    return ensure_setup(context, job, changeset.result, spec.setup, prepared.toolset)


def receipt_of(spec: Job, prepared: Prepared, changeset: Changeset, gated: Gated) -> str:
    """The receipt of the stored evidence: computed when it is judged, and again before anything is delivered."""
    return receipt(
        base=prepared.base,
        result_tree=changeset.tree,
        job=spec,
        setup_key=prepared.setup.key if prepared.setup else None,
        checks=gated.results,
        violations=gated.violations,
    )
