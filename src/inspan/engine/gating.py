"""The fourth stage: scope and checks, each on copies the worker cannot reach."""

from __future__ import annotations

import msgspec

from inspan.engine.context import Context, Stopwatch, changed, timed
from inspan.engine.places import environment_of, owner_at
from inspan.engine.records import Collected, Prepared, Progress, Resolved
from inspan.engine.setup import forget_once, setup_for_result
from inspan.engine.stages import failed, stage
from inspan.errors import InspanError
from inspan.gate.context import GateContext
from inspan.gate.evidence import run_gate
from inspan.outcome.records import FacetState
from inspan.spec.job import Job
from inspan.store.states import GATING
from inspan.workspace.changeset import Changeset

WORTH_CHECKING = ("declared_incomplete",)
"""Reasons against the executor with which the checks still run: their evidence helps whoever goes on."""


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
    check = bool(spec.checks) and _worth_checking(progress, collected)
    if check:
        try:
            layer = setup_for_result(context, job, prepared, changeset)
            desk = msgspec.structs.replace(desk, setup_for_checks=layer)
        except InspanError as error:  # the scope is judged all the same
            progress, check = failed(progress, "gate", error.reason, str(error)), False
    try:
        gated = run_gate(desk, check=check)
    finally:
        forget_once(context, job)
    if gated.error is not None:
        unseen = gated.checks or gated.scope
        progress = failed(progress, "gate", unseen.reasons[0], gated.error)
    found = {"scope": gated.scope.state.value, "checks": gated.checks.state.value if gated.checks else None}
    context.say(job, "gated", found, once="gated")
    return timed(changed(progress, gated=gated), gate=watch())


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
        limits=resolved.limits,
        keep=lambda data: context.store.keep(job, "check", data),
        on_progress=lambda text: context.say(job, "check", {"text": text}),
        cancelled=lambda: context.cancelled(job),
    )
