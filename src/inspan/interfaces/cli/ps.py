"""``inspan ps``."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import click

from inspan.interfaces.cli import text
from inspan.interfaces.cli.jobs import summary
from inspan.spec.paths import state
from inspan.store.read import list_jobs

SCHEMA = "inspan.jobs/1"
_STYLE = {"accepted": "good", "no_change": "good", "rejected": "bad", "failed": "bad"}


@click.command(short_help="List jobs, newest first.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, metavar="N", help="At most N jobs."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def ps(limit: int, as_json: bool) -> int:
    """List jobs, newest first, with their state or verdict."""
    place = state()
    jobs = [summary(place, row) for row in list_jobs(place, limit=limit)]
    if as_json:
        print(json.dumps({"schema": SCHEMA, "jobs": jobs}))
        return 0
    if not jobs:
        text.write([[("no jobs yet; inspan run starts one", "dim")]])
        return 0
    backend = max(len(job["backend"]) for job in jobs)
    text.write(_line(job, min(backend, 44)) for job in jobs)
    return 0


def _line(job: dict[str, str | None], width: int) -> text.Line:
    word = str(job["state"])
    if job["cancelling"]:
        word = "cancelling"
    elif job["driver"] == "gone":
        word += " (no driver)"
    reason = str(job["reason"] or "")
    return [
        (f"{job['job']}  ", "bold"),
        (f"{word:<12} ", _STYLE.get(word, "warn")),
        (f"{reason:<20} ", ""),
        (f"{_age(str(job['created'])):>9}  ", "dim"),
        (f"{text.safe(str(job['backend'])):<{width}}  ", "dim"),
        (text.safe(str(job["prompt"]))[:60], ""),
    ]


def _age(created: str) -> str:
    passed = (datetime.now(UTC) - datetime.fromisoformat(created)).total_seconds()
    for size, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if passed >= size:
            return f"{int(passed // size)} {word} ago"
    return "now"
