"""``python -m inspan.engine.detached run|settle [EXECUTOR]``: a driver in a session of its own.

``run`` reads the job from standard input and answers with one line: the job's id once it is stored, or the error.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from inspan.engine.background import described
from inspan.engine.cancel import cancel
from inspan.engine.driver import drive, settle
from inspan.errors import InspanError
from inspan.spec.config import load
from inspan.spec.decode import convert
from inspan.spec.job import Job
from inspan.spec.paths import state
from inspan.store.records import EventRow
from inspan.workspace.repository import open_repository


def main(arguments: list[str]) -> int:
    """Run one detached driver. The exit status says nothing: the outcome is in the state."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if arguments[0] == "settle":
        settle(state=state(), config=load(None), after=arguments[1] if len(arguments) > 1 else None)
        return 0
    answer = _Answer()
    try:
        request = json.load(sys.stdin)
        job = convert(request["job"], Job, "job")
        config = load(open_repository(job.repo).toplevel)
        drive(job, state=state(), config=config, on_event=answer.on_event, retry_of=request["retry_of"])
    except InspanError as error:
        answer.give({"error": described(error)})
        return error.exit_status
    return 0


class _Answer:
    """The one line on standard output; afterwards the caller is let go."""

    def __init__(self) -> None:
        self._given = False

    def on_event(self, job: str, event: EventRow) -> None:
        if event.kind == "queued" and not self._given:
            signal.signal(signal.SIGTERM, lambda *_: cancel(state(), job))
            self.give({"job": job})

    def give(self, document: dict[str, Any]) -> None:
        if self._given:
            return
        self._given = True
        sys.stdout.write(json.dumps(document) + "\n")
        sys.stdout.flush()
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1):
            os.dup2(null, standard)
        os.close(null)


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # the engine's threads are not waited for: everything is written
