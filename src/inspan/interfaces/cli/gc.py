"""``inspan gc``."""

from __future__ import annotations

import json

import click
import msgspec

from inspan.interfaces.cli import text
from inspan.spec.paths import state

SCHEMA = "inspan.gc/1"


@click.command(short_help="Remove what ended jobs left on disk, never work that is not kept elsewhere.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def gc(dry_run: bool, as_json: bool) -> int:
    """Remove workspaces of ended jobs whose work is kept. Whatever else is found is named and stays.

    Exit status 1 when something that should go could not be removed.
    """
    from inspan.interfaces.garbage import collect, survey

    place = state()
    rows = []
    failed = False
    for left in survey(place):
        removed = left.kind == "ended" and not dry_run and collect(place, left)
        failed = failed or (left.kind == "ended" and not dry_run and not removed)
        rows.append({**msgspec.to_builtins(left), "removed": removed})
    freed = sum(row["bytes"] for row in rows if row["removed"] or dry_run)
    if as_json:
        print(json.dumps({"schema": SCHEMA, "dry_run": dry_run, "bytes": freed, "attempts": rows}))
        return int(failed)
    for row in rows:
        word = "removed" if row["removed"] else "would remove" if dry_run and row["kind"] == "ended" else "kept"
        style = "good" if word != "kept" else "warn"
        text.write(
            [[(f"{word:<13}", style), (text.safe(row["attempt"]), "bold"), (f"  {text.safe(row['why'])}", "dim")]]
        )
    verb = "would be freed" if dry_run else "freed"
    text.write([[(f"{text.count(len(rows), 'attempt')} looked at, {freed / 1e6:.1f} MB {verb}", "dim")]])
    return int(failed)
