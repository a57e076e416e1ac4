"""``inspan retry``."""

from __future__ import annotations

import click
import msgspec

from inspan.errors import UsageError
from inspan.interfaces.cli.work import work
from inspan.spec.job import Job
from inspan.spec.paths import state
from inspan.store.read import find_job


@click.command(short_help="Run a job again, from its base or from its patch.")
@click.argument("job")
@click.option("--continue", "go_on", is_flag=True, help="Start from the change the job left, not from its base.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as one JSON document.")
@click.option("--detach", is_flag=True, help="Start the job, print its id and return.")
def retry(job: str, go_on: bool, as_json: bool, detach: bool) -> int:
    """Run JOB again as a new job, as it was asked. Exit status as of inspan run."""
    row = find_job(state(), job)
    if row.ended is None:
        raise UsageError(f"job {row.id} has not ended", where=f"state {row.state}", do=f"inspan cancel {row.id} first")
    again = msgspec.structs.replace(row.spec, continue_from=row.id if go_on else None)
    return work(again, given=Job.__struct_fields__, as_json=as_json, detach=detach, retry_of=row.id)
