"""The second stage: the attempt's runner is started or found running, and its terminal record awaited."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from inspan.attempt.contract import AttemptRequest
from inspan.attempt.start import cancel, start_or_adopt, wait
from inspan.engine.context import Context, changed, seconds_between, timed
from inspan.engine.places import environment_of
from inspan.engine.records import Prepared, Progress, Resolved
from inspan.engine.stages import stage
from inspan.errors import InspanError, WorkspaceError
from inspan.provider.registry import Provider, credential
from inspan.sandbox.grants import unmoved
from inspan.sandbox.levels import workspace_inside
from inspan.spec.job import Job
from inspan.spec.paths import AttemptPaths
from inspan.store.records import EventRow
from inspan.store.states import RUNNING
from inspan.times import timestamp
from inspan.workspace.shown import forget


@stage("execute")
def execute(context: Context, progress: Progress) -> Progress:
    """Let the agent work. A driver that died and came back finds the runner, or its record; never starts a second."""
    job, prepared = progress.job, progress.prepared
    if progress.stopped or prepared is None:
        return progress
    paths = context.state.attempt(prepared.attempt)
    if context.cancelled(job) and not paths.request.exists():
        return changed(progress, cancelled=True)  # one that was started is waited for: its work is kept
    spec, resolved = context.spec(job), context.resolved(job)
    context.store.enter(job, RUNNING)
    context.store.begin_attempt(job, 1)
    try:
        start_or_adopt(paths, _request(context, spec, resolved, prepared), _credential(context, resolved, paths))
        context.say(job, "attempt_started", {"attempt": prepared.attempt}, once="attempt_started")
        if context.cancelled(job):  # after the directory exists, so that this look or the canceller's finds the other
            cancel(paths)
        record = wait(paths, on_event=lambda event: context.tell(job, _passing(event)))
    except OSError as error:
        raise WorkspaceError(f"the attempt's files cannot be used: {error}", where=str(paths.root)) from error
    if record.end == "sandbox_unavailable":
        forget(context.state.root)
    context.store.end_attempt(prepared.attempt, record.end, record.ended)
    ended = {"attempt": prepared.attempt, "end": record.end, "detail": record.detail}
    context.say(job, "attempt_ended", ended, once="attempt_ended")
    done = changed(progress, ended=record, cancelled=progress.cancelled or context.cancelled(job))
    return timed(done, execute=seconds_between(record.started, record.ended))


def _request(context: Context, spec: Job, resolved: Resolved, prepared: Prepared) -> AttemptRequest:
    deadline = datetime.now(UTC) + timedelta(seconds=spec.timeout)
    inside = workspace_inside(resolved.level, prepared.plan)
    return AttemptRequest(
        attempt=prepared.attempt,
        harness=resolved.harness,
        harness_config=resolved.harness_config,
        model=resolved.model,
        prompt=spec.prompt,
        plan=msgspec.structs.replace(prepared.plan, binds=(*prepared.plan.binds, *unmoved(resolved.writable))),
        upstream=msgspec.structs.replace(resolved.upstream, workspace_inside=inside),
        deadline=timestamp(deadline),
        stall=spec.stall,
        level=resolved.level,
        minimum=resolved.minimum,
        tools=prepared.toolset.binds,
        path=prepared.toolset.path,
        env=environment_of(prepared.toolset, resolved, context.environ),
        limits=resolved.limits,
        read_only=spec.read_only,
        egress=resolved.egress,
        private=resolved.private,
    )


def _credential(context: Context, resolved: Resolved, paths: AttemptPaths) -> str | None:
    """The provider's credential; a runner that was started before does not need it again."""
    named = Provider(name=resolved.provider, wires={}, credential_env=resolved.credential_env)
    with contextlib.ExitStack() as stack:
        if paths.request.exists():
            stack.enter_context(contextlib.suppress(InspanError))
        return credential(named, context.environ)
    return None


def _passing(event: dict[str, Any]) -> EventRow:
    return EventRow(seq=0, at=str(event.get("at") or timestamp()), kind="harness", data=event)
