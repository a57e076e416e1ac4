"""The last stages: one decision, delivery of what earned it, the outcome, and freeing the workspace."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import msgspec

from inspan.deliver.branch import Delivery, deliver_branch
from inspan.deliver.patch import deliver_patch
from inspan.engine.context import Context, Stopwatch, changed, timed
from inspan.engine.ending import as_cancelled, end_without_work, record
from inspan.engine.records import Progress, Resolved
from inspan.engine.setup import forget_setup
from inspan.engine.stages import failed, stage
from inspan.errors import DeliveryError, InspanError, WorkspaceError
from inspan.gate.claims import contradicted
from inspan.gate.report import receipt_of
from inspan.outcome.decide import Decision, Finding, Situation, decide, delivered
from inspan.outcome.reasons import Verdict
from inspan.outcome.records import (
    BackendRecord,
    Change,
    DeliveryRecord,
    EgressRecord,
    FacetState,
    IsolationRecord,
    Violation,
)
from inspan.spec.job import Job
from inspan.store.read import events_since
from inspan.store.states import DELIVERING
from inspan.workspace.build import discard
from inspan.workspace.fingerprint import differences, fingerprint
from inspan.workspace.gate_repository import tree_of
from inspan.workspace.remove import remove_tree

DELIVERED = (Verdict.ACCEPTED, Verdict.UNVERIFIED)
"""Verdicts whose result reaches the user's repository; any other result stays an artifact."""


@stage("decide")
def settle(context: Context, progress: Progress) -> Progress:
    """Decide. A job that will be delivered cannot be cancelled from here on, and a cancelled one is not delivered."""
    job, spec = progress.job, context.spec(progress.job)
    checkout = _checkout(context, progress)
    touched = any(one.level == "reject" for one in checkout)
    decision = decide(_situation(progress, spec, touched, context.cancelled(job)))
    if decision.verdict in DELIVERED and not context.store.enter(job, DELIVERING):
        decision = as_cancelled(decision)
    context.say(job, "decided", {"verdict": decision.verdict.value, "reason": decision.reason}, once="decided")
    return changed(progress, decision=decision, checkout=checkout)


def _situation(progress: Progress, spec: Job, checkout_changed: bool, cancelled: bool) -> Situation:
    collected, gated = progress.collected, progress.gated
    first = tuple(failure.reason for failure in progress.failures)
    executor = collected.executor if collected else None
    # A gate that was not reached is explained by what kept the job from it, not by an error of the gate.
    cause = (executor.reasons if executor and executor.state is not FacetState.PASSED else ()) + first
    unseen = Finding(state=FacetState.NOT_EVIDENCED, reasons=cause) if cause else None
    changeset = collected.changeset if collected else None
    return Situation(
        executor=executor or unseen,
        scope=(gated.scope if gated else None) or unseen,
        checks=(gated.checks if gated else None) or unseen,
        checks_asked=bool(spec.checks),
        unchecked=spec.unchecked,
        read_only=spec.read_only,
        answered=collected.answered if collected else False,
        changed=changeset.result != changeset.base if changeset else None,
        declared_no_change=collected.claims.no_change_reason if collected else None,
        base_checks_passed=gated.base_passed if gated else None,
        activity=collected.activity if collected else None,
        cancelled=cancelled or progress.cancelled,
        extra=first + (("checkout_changed",) if checkout_changed else ()),
    )


def _checkout(context: Context, progress: Progress) -> tuple[Violation, ...]:
    """What differs in the user's checkout now; looked at before anything of ours is delivered into it.

    Another branch, a tag or a remote's ref moves when a person works elsewhere in the repository: that is only noted.
    """
    prepared = progress.prepared
    if prepared is None or prepared.checkout is None or progress.ended is None:
        return ()
    repo = context.resolved(progress.job).repository
    before = json.loads(context.store.artifacts.get(prepared.checkout))
    return tuple(_moved(name, repo.branch) for name in differences(before, fingerprint(repo)))


def _moved(name: str, branch: str | None) -> Violation:
    kind, _, rest = name.partition(":")
    if kind == "ref" and rest != f"refs/heads/{branch}":
        return Violation(path=rest, rule="checkout_changed", level="note", detail="another ref of the repository moved")
    what = {"file": "a tracked file of the checkout differs", "ref": "the branch of the checkout moved"}
    return Violation(
        path=rest or name, rule="checkout_changed", detail=what.get(kind, f"the checkout's {kind} differs")
    )


@stage("deliver")
def deliver(context: Context, progress: Progress) -> Progress:
    """Bring an accepted or unverified result to where the user wants it. Done twice, it is the same."""
    job, decision = progress.job, progress.decision
    spec, resolved = context.spec(job), context.resolved(job)
    changeset = progress.collected.changeset if progress.collected else None
    if decision is None or decision.verdict not in DELIVERED or spec.deliver == "none" or changeset is None:
        return progress
    if changeset.result is None or changeset.result == changeset.base:
        return progress
    watch = Stopwatch()
    try:
        made = _made(context, progress, spec, resolved, decision)
        finding = Finding(state=FacetState.PASSED)
        context.say(job, "delivered", msgspec.to_builtins(made), once="delivered")
    except InspanError as error:
        reason = "delivery_failed" if isinstance(error, WorkspaceError) else error.reason
        made, finding = DeliveryRecord(), Finding(state=FacetState.FAILED, reasons=(reason,))
        progress = failed(progress, "deliver", reason, str(error))  # says in the outcome why
        context.say(job, "delivery_failed", {"text": str(error)}, once="delivery_failed")
    done = changed(progress, delivery=made, decision=delivered(decision, finding))
    return timed(done, deliver=watch())


def _made(context: Context, progress: Progress, spec: Job, resolved: Resolved, decision: Decision) -> DeliveryRecord:
    job, gated, collected = progress.job, progress.gated, progress.collected
    if gated is None or collected is None or collected.changeset is None:
        raise DeliveryError("nothing was judged", where=job, do="Run the job again.")
    changeset = collected.changeset
    change, repo = changeset.change, resolved.repository
    # What is bound is what will be delivered, read again, not what was noted of it.
    bound = msgspec.structs.replace(changeset, base=change.base, tree=tree_of(context.state, repo, change.result))
    created = datetime.fromisoformat(context.row(job).created)
    delivery = Delivery(
        job=job,
        verdict=decision.verdict,
        reason=decision.reason,
        receipt=gated.receipt or "",
        verified_receipt=receipt_of(gated, spec, bound),
        change=change,
        title=spec.prompt,
        when=int(created.timestamp()),
        summary=collected.claims.summary,
        rehearsal=resolved.rehearsal,
    )
    return (deliver_patch if spec.deliver == "patch" else deliver_branch)(context.state, repo, delivery)


@stage("record", must=True)
def write(context: Context, progress: Progress) -> Progress:
    """Write the outcome, once."""
    row = context.row(progress.job)
    if progress.decision is not None:
        record(context, row, progress.decision, _details(context, progress))
    else:
        why = progress.failures[0]
        end_without_work(context, row, why.reason, why.detail)
    return progress


def _details(context: Context, progress: Progress) -> dict[str, Any]:
    job, collected, gated, prepared = progress.job, progress.collected, progress.gated, progress.prepared
    resolved, cause = context.resolved(job), collected.cause if collected else None
    changeset = collected.changeset if collected else None
    base = prepared.base if prepared else context.row(job).base
    fields: dict[str, Any] = {
        "attempt": 1,
        "detail": _detail(progress),
        "backend": _backend(resolved, progress),
        "change": changeset.change if changeset else Change(base=base),
        "violations": (*progress.checkout, *(gated.violations if gated else ())),
        "delivery": progress.delivery,
        "timing": progress.timing,
        "warnings": progress.warnings,
        "retry_at": cause.retry_at if cause else None,
        "artifacts": progress.artifacts,
        "isolation": _isolation(context, progress),
    }
    if collected is not None:
        against = contradicted(collected.claims.summary, gated.results if gated else ())
        fields |= {"claims": collected.claims, "contradictions": (*collected.contradictions, *against)}
        fields |= {"usage": collected.usage}
    if gated is not None:
        fields |= {"checks": gated.results, "receipt": gated.receipt}
    return fields


def _isolation(context: Context, progress: Progress) -> IsolationRecord:
    """How agent and set-up were confined."""
    found = progress.collected.isolation if progress.collected else IsolationRecord()
    said = [e.data["connections"] for e in events_since(context.state, progress.job) if e.kind == "setup_connections"]
    return msgspec.structs.replace(found, setup_connections=msgspec.convert(said, tuple[EgressRecord, ...]))


def _detail(progress: Progress) -> str | None:
    """The cause in words: of a stage that failed, of the provider, of the runner, else the harness's own error.

    A stage whose failure only followed from an earlier cause comes last.
    """
    collected, ended, decision = progress.collected, progress.ended, progress.decision
    leading = [f for f in progress.failures if decision is None or f.reason == decision.reason]
    said = [failure.detail for failure in leading]
    said += [collected.cause.detail] if collected and collected.cause else []
    said += [ended.detail] if ended and ended.detail else []
    if collected and collected.executor.state is not FacetState.PASSED and ended and ended.ending:
        said += [ended.ending.error] if ended.ending.error else []
    said += [failure.detail for failure in progress.failures]
    return said[0] if said else None


def _backend(resolved: Resolved, progress: Progress) -> BackendRecord:
    collected = progress.collected
    return BackendRecord(
        harness=resolved.harness,
        provider=resolved.provider,
        model=resolved.model,
        harness_version=(collected.harness_version if collected else None) or resolved.harness_version,
        model_served=collected.model_served if collected else None,
    )


@stage("free")
def free(context: Context, progress: Progress) -> Progress:
    """Give the workspace back, unless it is the only place where the work still is; and what cut-off checks left."""
    forget_setup(context, progress.job)
    if progress.prepared is not None:
        root = context.state.attempt(progress.prepared.attempt).root
        for left in (root / "checks", *root.glob("evidence-*")):
            remove_tree(left)
        if not progress.keep:
            discard(context.state, progress.prepared.plan)
    return progress
