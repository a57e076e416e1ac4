"""``inspan logs``."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from typing import Any

import click
import msgspec

from inspan.attempt.eventlog import EventTail
from inspan.interfaces.cli import text
from inspan.interfaces.cli.progress import event_line
from inspan.spec.paths import State, state
from inspan.store.read import events_since, find_job, get_job
from inspan.store.records import EventRow

SCHEMA = "inspan.events/1"
_PAUSE = 0.2


@click.command(short_help="Show what happened in a job.")
@click.argument("job")
@click.option("-f", "--follow", is_flag=True, help="Go on until the job has ended.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (with -f, once the job has ended).")
def logs(job: str, follow: bool, as_json: bool) -> int:
    """Show what happened in JOB: its stages and what the agent did, in order of time."""
    place = state()
    name = find_job(place, job).id
    if as_json:
        found = [msgspec.to_builtins(event) for batch in _batches(place, name, follow) for event in batch]
        print(json.dumps({"schema": SCHEMA, "job": name, "events": found}))
        return 0
    with contextlib.suppress(KeyboardInterrupt):
        for batch in _batches(place, name, follow):
            told = (event for event in batch if tells(event))
            text.write([(f"{event.at[11:19]}  ", "dim"), *event_line(name, event)] for event in told)
    return 0


def tells(event: EventRow) -> bool:
    """Whether an event says something to a person: counters and records of no meaning to Inspan do not."""
    return event.kind != "harness" or bool(event.data.get("text")) or event.data.get("kind") not in ("usage", "other")


def _batches(place: State, job: str, follow: bool) -> Iterator[list[EventRow]]:
    """What is new since the last look, in order of time; one look unless the job is followed."""
    source = _Source(place, job)
    while True:
        row = get_job(place, job)
        over = row is None or row.ended is not None
        yield source.fresh()
        if over or not follow:
            return
        time.sleep(_PAUSE)


class _Source:
    """Both places events come from: the state's table, and the files of the job's attempts."""

    def __init__(self, place: State, job: str) -> None:
        self._place, self._job, self._seq = place, job, 0
        self._tails: dict[str, EventTail] = {}
        self._new: list[EventRow] = []

    def fresh(self) -> list[EventRow]:
        self._new = []
        while batch := events_since(self._place, self._job, self._seq):
            self._new += batch
            self._seq = batch[-1].seq
        for attempt in self._attempts():
            tail = self._tails.get(attempt)
            if tail is None:
                tail = self._tails[attempt] = EventTail(self._place.attempt(attempt).events, self._take)
            before = -1
            while before != len(self._new):  # a tail hands on a part of a large file at a time
                before = len(self._new)
                tail.poll()
        return sorted(self._new, key=lambda event: event.at)

    def _attempts(self) -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            return sorted(n for n in os.listdir(self._place.attempts) if n.startswith(f"{self._job}.a"))
        return []

    def _take(self, document: dict[str, Any]) -> None:
        self._new.append(EventRow(seq=0, at=str(document.get("at", "")), kind="harness", data=document))
