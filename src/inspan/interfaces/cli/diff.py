"""``inspan diff``."""

from __future__ import annotations

import json
import sys

import click

from inspan.errors import UsageError
from inspan.interfaces.cli import text
from inspan.spec.paths import state
from inspan.store.read import artifact, find_job, get_outcome

SCHEMA = "inspan.diff/1"
_STYLE = {"+": "good", "-": "bad", "@": "bold"}


@click.command(short_help="Print the patch a job made.")
@click.argument("job")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def diff(job: str, as_json: bool) -> int:
    """Print the patch of JOB, whatever its verdict; git apply takes it."""
    place = state()
    row = find_job(place, job)
    outcome = get_outcome(place, row.id)
    if outcome is None:
        raise UsageError(f"job {row.id} has not ended", where=f"state {row.state}", do=f"inspan logs -f {row.id}")
    digest = outcome.artifacts.get("patch")
    patch = artifact(place, digest) if digest else b""
    if as_json:
        made = {"schema": SCHEMA, "job": row.id, "digest": digest, "patch": patch.decode("utf-8", "replace")}
        print(json.dumps(made))
    elif not patch:
        text.write([[(f"job {row.id} changed nothing", "dim")]], sys.stderr)
    elif sys.stdout.isatty():
        lines = patch.decode("utf-8", "replace").split("\n")
        text.write([(text.safe(line, lines=True), _STYLE.get(line[:1], ""))] for line in lines)
    else:
        sys.stdout.buffer.write(patch)
    return 0
