"""``inspan cancel``."""

from __future__ import annotations

import json
import sys

import click

from inspan.errors import UsageError
from inspan.interfaces.cli import text
from inspan.interfaces.cli.jobs import driver
from inspan.spec.paths import State, state
from inspan.store.read import find_job, get_job
from inspan.store.records import JobRow

SCHEMA = "inspan.cancel/1"


@click.command(short_help="Cancel jobs that run or wait.")
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def cancel(jobs: tuple[str, ...], as_json: bool) -> int:
    """Cancel each JOB. Its work is kept and nothing of it is delivered."""
    place = state()
    rows = [find_job(place, job) for job in jobs]
    ended = [row for row in rows if row.ended is not None]
    if ended:
        raise UsageError(
            f"job {ended[0].id} has ended already: {ended[0].verdict}", where="JOB", do="name a job that runs"
        )
    for row in rows:
        _cancel(place, row)
    if as_json:
        print(json.dumps({"schema": SCHEMA, "jobs": [row.id for row in rows]}))
    else:
        text.write([("cancelling ", "warn"), (row.id, "bold")] for row in rows)
    return 0


def _cancel(place: State, row: JobRow) -> None:
    from inspan.interfaces.cancelling import cancel_job

    noted = cancel_job(place, row.id)
    now = get_job(place, row.id)
    if not noted and now is not None and now.cancel_at is None:
        raise UsageError(
            f"job {row.id} is being delivered and cannot be cancelled any more",
            where=f"state {now.state}",
            do=f"inspan show {row.id}",
        )
    if now is not None and driver(place, now) == "gone":
        _finish(place, row)


def _finish(place: State, row: JobRow) -> None:
    """Nobody drives the job any more, so that it is ended here."""
    from inspan.engine.driver import settle
    from inspan.spec.config import load

    text.write([[(f"the driver of {row.id} is gone; ending it here", "dim")]], sys.stderr)
    settle(state=place, config=load(None))
