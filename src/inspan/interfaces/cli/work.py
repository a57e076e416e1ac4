"""Driving one job from the command line: signals, progress, the outcome, the exit status."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Collection, Iterator
from types import FrameType

from inspan.interfaces.cli.exits import EXIT
from inspan.interfaces.cli.present import answer_digest, answer_lines, outcome_lines
from inspan.interfaces.cli.progress import Progress
from inspan.interfaces.cli.text import write
from inspan.interfaces.submission import completed
from inspan.outcome.records import encode
from inspan.spec.config import Configuration
from inspan.spec.job import Job
from inspan.spec.paths import State, state
from inspan.store.read import artifact


def work(job: Job, *, given: Collection[str], as_json: bool, detach: bool, retry_of: str | None = None) -> int:
    """Run ``job`` and return the exit status of its outcome; with ``detach`` 0 once it is queued.

    Raises:
        InspanError: when it is refused; nothing was started.
    """
    ready, configuration = completed(job, given)
    if detach:
        return _detached(ready, as_json, retry_of)
    return _driven(ready, configuration, as_json, retry_of)


def _driven(job: Job, configuration: Configuration, as_json: bool, retry_of: str | None) -> int:
    from inspan.engine.driver import drive

    place = state()
    with Progress(sys.stderr) as progress, _cancelling(place, progress):
        outcome = drive(job, state=place, config=configuration, on_event=progress, retry_of=retry_of)
    if as_json:
        sys.stdout.buffer.write(encode(outcome) + b"\n")
        sys.stdout.buffer.flush()
    else:
        write(outcome_lines(outcome))
        digest = answer_digest(outcome)
        if digest:
            write(answer_lines(artifact(place, digest)))
    return EXIT[outcome.verdict]


def _detached(job: Job, as_json: bool, retry_of: str | None) -> int:
    from inspan.interfaces.api import start

    run = start(job, given=Job.__struct_fields__, detached=True, retry_of=retry_of)
    if as_json:
        import json

        print(json.dumps({"schema": "inspan.job/1", "job": run.job, "state": "queued"}))
    else:
        write([[("queued ", "good"), (run.job, "bold"), (f"  inspan logs -f {run.job}", "dim")]])
    return 0


@contextlib.contextmanager
def _cancelling(place: State, progress: Progress) -> Iterator[None]:
    """SIGINT and SIGTERM cancel the job and let it end truthfully; SIGHUP, the terminal's end, does not.

    A second SIGINT before the job exists, when there is nothing to cancel, ends the command as usual.
    """

    def ask(number: int, frame: FrameType | None) -> None:
        job = progress.job
        if job is None:
            raise KeyboardInterrupt
        # Not in the handler itself: it may have interrupted the very code that holds the store's lock.
        threading.Thread(target=_cancel, args=(place, job), daemon=True).start()

    earlier = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    earlier[signal.SIGHUP] = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, old in earlier.items():
            signal.signal(number, old)


def _cancel(place: State, job: str) -> None:
    from inspan.interfaces.cancelling import cancel_job

    if cancel_job(place, job):
        write([[(f"cancelling {job} ...", "warn")]], sys.stderr)
