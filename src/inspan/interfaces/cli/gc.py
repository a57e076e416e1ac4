"""``inspan gc``."""

from __future__ import annotations

import json
import time
from typing import Any

import click
import msgspec

from inspan.interfaces.cli import text
from inspan.spec.config import Configuration, load
from inspan.spec.paths import state

SCHEMA = "inspan.gc/1"
_WORDS = {"removed": "good", "would remove": "warn", "not removed": "bad", "stays": ""}


@click.command(short_help="Remove what ended jobs left on disk, never work that is not kept elsewhere.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@click.option("--now", is_flag=True, help="Wait for no grace time; what is kept of a job still has its retention.")
@click.option(
    "--discard", multiple=True, metavar="JOB", help="Also the work of this ended job, though it is nowhere else."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def gc(dry_run: bool, now: bool, discard: tuple[str, ...], as_json: bool) -> int:
    """Remove what nobody needs any more: workspaces of ended jobs, unused layers, old journals and kept files.

    Work that is nowhere else is removed only by name, with --discard. Exit status 1 when something that should go could
    not be removed.
    """
    from inspan.interfaces.garbage.found import without_grace
    from inspan.interfaces.garbage.survey import Collector
    from inspan.store.read import find_job

    config = load(None)
    ages = without_grace(config.gc) if now else config.gc
    rows: list[dict[str, Any]] = []
    unwanted = frozenset(find_job(state(), text).id for text in discard)
    with Collector(state(), ages, time.time(), unwanted) as collector:
        for found in list(collector.survey()):
            left = collector.remove(found) if found.goes and not dry_run else None
            removed = found.goes and not dry_run and left is None
            row = {**msgspec.to_builtins(found), "removed": removed, "left": left}
            rows.append(row)
            if not as_json and (found.kind not in _MANY or found.goes):
                _tell(row, dry_run)
    forgotten = 0 if dry_run else _forget(config)
    freed = sum(row["bytes"] for row in rows if row["removed"] or (dry_run and row["goes"]))
    if as_json:
        print(json.dumps({"schema": SCHEMA, "dry_run": dry_run, "bytes": freed, "forgotten": forgotten, "found": rows}))
    else:
        verb = "would be freed" if dry_run else "freed"
        kinds = ", ".join(f"{sum(r['kind'] == k for r in rows)} {k}" for k in dict.fromkeys(r["kind"] for r in rows))
        text.write([[(f"{kinds or 'nothing found'}; {freed / 1e6:.1f} MB {verb}", "dim")]])
    return int(any(row["left"] for row in rows))


_MANY = ("artifact", "journal")  # told about only when something happens to them


def _tell(row: dict[str, Any], dry_run: bool) -> None:
    going = "would remove" if dry_run else "not removed" if row["left"] else "removed"
    word = going if row["goes"] else "stays"
    why = row["left"] or row["why"]
    head: list[text.Span] = [(f"{word:<13}", _WORDS[word]), (f"{row['kind']:<13}", "")]
    text.write([[*head, (text.safe(row["name"]), "bold"), (f"  {text.safe(why)}", "dim")]])


def _forget(config: Configuration) -> int:
    """Let the engine forget jobs that ended longer ago than kept files are kept; gives how many."""
    place = state()
    if not place.database.exists():
        return 0
    from inspan.engine.driver import forget_ended

    return forget_ended(state=place, config=config, age=config.gc.artifacts)
