"""``inspan retry``."""

from __future__ import annotations

import click
import msgspec

from inspan.errors import UsageError
from inspan.interfaces.cli.work import work
from inspan.spec.job import Job
from inspan.spec.paths import State, state
from inspan.store.read import events_since, find_job


@click.command(short_help="Run a job again, from its base or from its patch.")
@click.argument("job")
@click.option("--continue", "go_on", is_flag=True, help="Start from the change the job left, not from its base.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as one JSON document.")
@click.option("--detach", is_flag=True, help="Start the job, print its id and return.")
def retry(job: str, go_on: bool, as_json: bool, detach: bool) -> int:
    """Run JOB again as a new job, as it was asked, on the commit it started from. Exit status as of inspan run."""
    place = state()
    row = find_job(place, job)
    if row.ended is None:
        raise UsageError(f"job {row.id} has not ended", where=f"state {row.state}", do=f"inspan cancel {row.id} first")
    again = msgspec.structs.replace(row.spec, continue_from=row.id if go_on else None)
    if not row.spec.dirty or _snapshot_taken(place, row.id):
        again = msgspec.structs.replace(again, base=row.base, dirty=False)
    return work(again, given=Job.__struct_fields__, as_json=as_json, detach=detach, retry_of=row.id)


def _snapshot_taken(place: State, job: str) -> bool:
    """Whether a job came so far that its base was fixed; one that did not takes the checkout as it is now."""
    return any(event.kind in ("setup", "attempt_started") for event in events_since(place, job))
