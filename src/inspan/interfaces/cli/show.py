"""``inspan show``."""

from __future__ import annotations

import json

import click

from inspan.interfaces.cli import text
from inspan.interfaces.cli.jobs import document, driver
from inspan.interfaces.cli.present import answer_digest, answer_lines, outcome_lines
from inspan.spec.paths import State, state
from inspan.store.read import artifact, find_job, get_outcome
from inspan.store.records import JobRow


@click.command(short_help="Show a job and its outcome.")
@click.argument("job")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def show(job: str, as_json: bool) -> int:
    """Show JOB (its id, the beginning of it, or @last) and its outcome. Exit status 0 when it is found."""
    place = state()
    row = find_job(place, job)
    if as_json:
        print(json.dumps(document(place, row)))
        return 0
    text.write(_header(place, row))
    outcome = get_outcome(place, row.id)
    if outcome is None:
        return 0
    text.write(outcome_lines(outcome))
    digest = answer_digest(outcome)
    if digest:
        text.write(answer_lines(artifact(place, digest)))
    return 0


def _header(state: State, row: JobRow) -> list[text.Line]:
    lines: list[text.Line] = [
        [("job         ", "dim"), (row.id, "bold"), (f"  {row.created}", "dim")],
        [("repository  ", "dim"), (text.safe(f"{row.repo} at {row.base[:12]}"), "")],
        [("prompt      ", "dim"), (text.safe(row.spec.prompt.strip().splitlines()[0][:200]), "")],
    ]
    if row.ended is None:
        word = "cancelling" if row.cancel_at else row.state
        gone = driver(state, row) == "gone"
        note = "  its driver is gone; the next inspan run goes on with it" if gone else ""
        lines.append([("state       ", "dim"), (word, "warn"), (note, "warn")])
    return lines
