"""Turns a function on ``Progress`` into a durable step that always has a result."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable

from inspan.engine import durable, faults
from inspan.engine.context import Context, changed, current
from inspan.engine.records import Failure, Progress, dump, load
from inspan.errors import InspanError, SandboxError
from inspan.workspace.shown import forget

Work = Callable[[Context, Progress], Progress]


def stage(name: str, *, must: bool = False) -> Callable[[Work], Callable[[str], str]]:
    """Make ``work`` the step ``name`` of a job's workflow.

    The step is run again when the driver died before its result was noted, so ``work`` finds what an earlier run of
    itself left. What it raises becomes a ``Failure`` in its result: the job goes on to its outcome, which says so. A
    step that ``must`` succeed lets it out: the job stays open and the next driver ends it.
    """

    def decorate(work: Work) -> Callable[[str], str]:
        @durable.step(name)
        @functools.wraps(work)
        def run(text: str) -> str:
            faults.reach(name, "before")
            before = load(text, Progress)
            after = work(current(), before) if must else _attempted(name, work, before)
            faults.reach(name, "after")
            return dump(after)

        @functools.wraps(work)
        def call(text: str) -> str:
            result = run(text)
            faults.reach(name, "done")
            return result

        return call

    return decorate


def _attempted(name: str, work: Work, before: Progress) -> Progress:
    context = current()
    try:
        return work(context, before)
    except InspanError as error:
        if isinstance(error, SandboxError):  # what was shown to work once does so no more
            forget(context.state.root)
        return failed(before, name, error.reason, str(error))
    except Exception as error:
        trace = context.store.keep(before.job, f"traceback_{name}", traceback.format_exc().encode("utf-8", "replace"))
        after = failed(before, name, "internal_error", f"{type(error).__name__}: {error}")
        return changed(after, artifacts={**after.artifacts, f"traceback_{name}": trace})


def failed(progress: Progress, stage_name: str, reason: str, detail: str) -> Progress:
    """``progress`` with one more failure."""
    return changed(progress, failures=(*progress.failures, Failure(stage=stage_name, reason=reason, detail=detail)))
