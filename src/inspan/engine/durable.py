"""The durable engine. The only module that imports DBOS; the rest of Inspan knows these few calls.

Workflow inputs and step results are text (JSON), so that a later version of this program, or another one, reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID, WorkflowHandle
from sqlalchemy import URL

from inspan.spec.paths import State

VERSION = "1"
"""Pinned: a changed workflow gets a new name, never the same name with another body."""

_POLL = 0.05
_UNFINISHED = ("PENDING", "ENQUEUED", "DELAYED")

ENDED = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
"""Words of ``status`` for a workflow that will not run any more."""


class Unfinished(NamedTuple):
    """A workflow that has not ended."""

    id: str
    name: str
    version: str | None


def workflow(name: str) -> Callable[[Callable[[str], str]], Callable[[str], str]]:
    """Register a durable function from text to text under a name that carries its version."""
    return DBOS.workflow(name=name, max_recovery_attempts=None)


def step(name: str) -> Callable[[Callable[[str], str]], Callable[[str], str]]:
    """Register a step: once its result is noted it never runs again; before that it may run any number of times."""
    return DBOS.step(name=name)


def launch(state: State, executor: str) -> None:
    """Start the engine in this process. The state's tables must exist; WAL must be set.

    Args:
        state: where the engine's own tables are.
        executor: an id never used before; an id used twice would run the first one's work again.
    """
    config: DBOSConfig = {
        "name": "inspan",
        "system_database_url": URL.create("sqlite", database=str(state.database)).render_as_string(),
        "executor_id": executor,
        "application_version": VERSION,
        "serializer": DBOSPortableJSONSerializer(),
        "log_level": "CRITICAL",
        "notification_listener_polling_interval_sec": 1.0,
    }
    DBOS.destroy()  # a second driver in one process; does nothing in the first
    DBOS(config=config)
    DBOS.listen_queues([_queue(executor)])
    DBOS.launch()


def start(function: Callable[[str], str], workflow_id: str, argument: str) -> WorkflowHandle[str]:
    """Start a workflow at once, under an id of ours. An id that was started before is not started again."""
    with SetWorkflowID(workflow_id):
        return DBOS.start_workflow(function, argument)


def unfinished(executor: str) -> list[Unfinished]:
    """Workflows a dead executor was running or had taken over."""
    found = DBOS.list_workflows(status=list(_UNFINISHED), load_input=False, load_output=False)
    mine = (w for w in found if w.executor_id == executor or w.queue_name == _queue(executor))
    return [Unfinished(w.workflow_id, w.name, w.app_version) for w in mine]


def status(workflow_id: str) -> str | None:
    """The engine's word for a workflow, None when it knows none of this id."""
    found = DBOS.get_workflow_status(workflow_id)
    return None if found is None else found.status


def accept_resumed(executor: str) -> None:
    """Make this process run what ``resume`` gives it."""
    DBOS.register_queue(_queue(executor), polling_interval_sec=_POLL)


def resume(workflow_id: str, executor: str) -> WorkflowHandle[Any]:
    """Go on with an unfinished workflow here. The caller holds the dead executor's lock: one taker only."""
    return DBOS.resume_workflow(workflow_id, queue_name=_queue(executor))


def abandon(workflow_id: str) -> None:
    """Make sure that nobody ever goes on with a workflow."""
    DBOS.cancel_workflow(workflow_id)


def wait(handle: WorkflowHandle[str]) -> str:
    """The workflow's result. Raises what the workflow raised."""
    return handle.get_result(polling_interval_sec=_POLL)


def failure(workflow_id: str) -> str | None:
    """What a workflow that has ended raised, as text: another process may have raised it. None when it was nothing."""
    try:
        DBOS.retrieve_workflow(workflow_id).get_result(polling_interval_sec=_POLL)
    except Exception as error:
        return str(error)
    return None


def ended_before(moment: str) -> list[str]:
    """Ids of workflows that had ended before ``moment`` (RFC 3339), at most a thousand."""
    found = DBOS.list_workflows(
        status=list(ENDED), completed_before=moment, load_input=False, load_output=False, limit=1000
    )
    return [w.workflow_id for w in found]


def forget(workflow_ids: list[str]) -> None:
    """Remove all the engine noted of workflows that have ended. Their ids must never be started again."""
    DBOS.delete_workflows(workflow_ids)


def forget_queue(executor: str) -> None:
    """Remove the row that ``accept_resumed`` made."""
    DBOS.delete_queue(_queue(executor))


def _queue(executor: str) -> str:
    return f"q.{executor}"
