"""Going on with the jobs of drivers that died.

A driver's lock file outlives it; the lock does not. A taker holds the dead driver's lock while it makes that driver's
jobs its own, and removes the file when nothing is left to take. A job that cannot be gone on with gets an outcome that
says so.
"""

from __future__ import annotations

from collections.abc import Iterable

from inspan.attempt.files import read_request
from inspan.engine import durable, leases
from inspan.engine.context import Context
from inspan.engine.ending import end_without_work
from inspan.engine.job import WORKFLOWS, run_job
from inspan.sandbox import cgroups
from inspan.sandbox.maker import end_left
from inspan.store.database import DISK_FULL
from inspan.store.ids import attempt_id
from inspan.store.records import JobRow
from inspan.workspace.build import discard

MOST_TAKEOVERS = 10
"""A job that has outlived this many drivers is suspected of killing them."""


def take_over(context: Context) -> list[str]:
    """Take over every job of every dead driver and return the ids of those that go on here.

    First whatever still runs for a dead runner is ended: its job is about to be told that the runner is gone.
    """
    taken: list[str] = []
    end_left()
    cgroups.sweep()
    with leases.taking_over(context.state):
        for lease in leases.dead(context.state):
            try:
                taken += _unfinished(context, lease.executor)
            except BaseException:
                lease.abandon()
                raise
            lease.release()
            context.store.end_executor(lease.executor)
        # Rows come last: by now every workflow of a dead driver is ours or ended, so what is left has none.
        for row in context.store.open_jobs():
            if row.id not in taken and _forsaken(context, row):
                taken += _without_workflow(context, row)
    return taken


def _forsaken(context: Context, row: JobRow) -> bool:
    return row.executor is None or (row.executor != context.executor and not leases.alive(context.state, row.executor))


def _unfinished(context: Context, executor: str) -> list[str]:
    taken = []
    for found in durable.unfinished(executor):
        row = context.store.job(found.id)  # perhaps ended already: then only the workspace is still to be freed
        if row is None:
            durable.abandon(found.id)
        elif found.name not in WORKFLOWS or found.version != durable.VERSION:
            durable.abandon(found.id)
            detail = f"The job runs as {found.name!r}, version {found.version}, which this program does not know."
            end_without_work(context, row, "environment_lost", detail)
        elif _suspect(context, row):
            durable.abandon(found.id)
        else:
            durable.accept_resumed(context.executor)
            durable.resume(found.id, context.executor)
            taken.append(found.id)
    return taken


def _without_workflow(context: Context, row: JobRow) -> list[str]:
    """The driver died between storing the job and starting it, or could not write how it ended."""
    status = durable.status(row.id)
    if status is None and not _suspect(context, row):
        durable.start(run_job, row.id, row.id)
        return [row.id]
    if status in durable.ENDED:
        _end(context, row, status)
    return []


def end_unwritten(context: Context, taken: Iterable[str]) -> None:
    """End jobs that were gone on with and have ended without an outcome: a stage's error that was noted before the
    driver died comes back whoever goes on, and nothing but an outcome that says so is left to write."""
    for job in taken:
        row, status = context.store.job(job), durable.status(job)
        if row is not None and row.ended is None and status in durable.ENDED:
            _end(context, row, str(status))


def _end(context: Context, row: JobRow, status: str) -> None:
    why = durable.failure(row.id)
    reason = "disk_full" if why is not None and DISK_FULL in why else "internal_error"
    detail = f"The job's workflow ended ({status}) without an outcome{f': {why}' if why else ''}."
    outcome = end_without_work(context, row, reason, detail)
    paths = context.state.attempt(attempt_id(row.id, outcome.attempt))
    if paths.request.exists() and any(kept.kind == "patch" for kept in context.store.kept(row.id)):
        discard(context.state, read_request(paths).plan)  # its work is kept as a patch


def _suspect(context: Context, row: JobRow) -> bool:
    """Make the job ours, unless it was taken over too often; then it is ended."""
    if context.store.count(row.id, "taken_over") >= MOST_TAKEOVERS:
        end_without_work(context, row, "internal_error", f"The job outlived {MOST_TAKEOVERS} drivers and was given up.")
        return True
    context.store.take_job(row.id, row.executor, context.executor)
    context.say(row.id, "taken_over", {"from": row.executor, "by": context.executor})
    return False
