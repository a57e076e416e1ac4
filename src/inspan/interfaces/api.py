"""The Python interface: ``inspan.run(Job(...))``.

The job is driven by a child process; the caller's process gets its events and its typed outcome::

    run = inspan.run(inspan.Job(prompt="make the tests pass", checks=(inspan.Check(name="unit", command="pytest -q"),)))
    for event in run:
        print(event.kind, event.data)
    print(run.outcome().verdict)
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator
from typing import Any

import msgspec

import inspan.errors
from inspan.errors import InspanError
from inspan.outcome.records import Outcome
from inspan.spec.job import Job
from inspan.spec.paths import state
from inspan.store.records import EventRow


class Run:
    """A started job. Iterating yields its events from the first on, as they happen, until it has ended.

    The driver shares the caller's terminal: an interrupt there (Ctrl-C) cancels the job. When the caller dies, the job
    goes on.

    Attributes:
        job: the job's id, as ``inspan show`` and the other verbs take it.
    """

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.job = ""
        self._child = child
        self._changed = threading.Condition()
        self._events: list[EventRow] = []
        self._outcome: Outcome | None = None
        self._error: InspanError | None = None
        self._over = False
        threading.Thread(target=self._read, daemon=True, name="inspan-run").start()

    def __iter__(self) -> Iterator[EventRow]:
        seen = 0
        while fresh := self._after(seen):
            yield from fresh
            seen += len(fresh)

    def _after(self, seen: int) -> list[EventRow]:
        """The events after the first ``seen``, waiting for one; empty only when there will be no more."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._events) > seen or self._over)
            return self._events[seen:]

    def outcome(self, timeout: float | None = None) -> Outcome:
        """Wait for the outcome.

        Args:
            timeout: seconds to wait at most; None waits as long as it takes. The job goes on either way.

        Raises:
            TimeoutError: when it has not ended in time.
            InspanError: when the driver could not bring it to an outcome; the next command goes on with the job.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._over, timeout):
                raise TimeoutError(f"job {self.job} has not ended after {timeout} seconds")
        if self._outcome is not None:
            return self._outcome
        raise self._error or InspanError(
            "the driver ended without an outcome", where=f"job {self.job}", do="any inspan run goes on with it"
        )

    def cancel(self) -> None:
        """Ask that the job ends; its outcome then says ``cancelled``. Does nothing once it has ended."""
        if self._child.poll() is None:
            self._child.send_signal(signal.SIGINT)

    def queued(self) -> Run:
        """Wait until the job is stored.

        Raises:
            InspanError: when it was refused; nothing was started.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.job or self._over)
        if not self.job:
            self._child.wait()
            raise self._error or InspanError(
                f"the driver ended with status {self._child.returncode} before the job was stored", do="run it again"
            )
        return self

    def _read(self) -> None:
        stream = self._child.stdout
        for line in stream or ():
            with self._changed:
                self._take(json.loads(line))
                self._changed.notify_all()
        self._child.wait()
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _take(self, line: dict[str, Any]) -> None:
        if "outcome" in line:
            self._outcome = msgspec.convert(line["outcome"], Outcome)
        elif "error" in line:
            self._error = _raised(line["error"])
        else:
            event = msgspec.convert(line["event"], EventRow)
            if not self.job and event.kind == "queued":
                self.job = line["job"]
            if line["job"] == self.job:
                self._events.append(event)


def run(job: Job) -> Run:
    """Start ``job`` and return once it is stored.

    Raises:
        InspanError: when it is refused (a bad field, an unknown name, no repository, no credential ...); nothing was
            started then.
    """
    return start(job)


def start(job: Job, *, given: Collection[str] = (), detached: bool = False, retry_of: str | None = None) -> Run:
    """Start a driver for ``job`` in a child process and return once the job is stored.

    Args:
        job: as asked; a relative ``repo`` is meant from here.
        given: fields that the configuration must not fill, even when they equal the default.
        detached: in a session of its own, so that it outlives the caller and its terminal.
        retry_of: the job this one repeats.

    Raises:
        InspanError: when it is refused.
    """
    document = {"job": msgspec.to_builtins(job), "given": sorted(given), "retry_of": retry_of}
    child = subprocess.Popen(
        # -P: nothing in the current directory, which is somebody's repository, may shadow a module of ours
        [sys.executable, "-P", "-m", "inspan.interfaces.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=_log() if detached else None,
        start_new_session=detached,
    )
    with contextlib.suppress(BrokenPipeError), child.stdin or contextlib.nullcontext() as pipe:
        if pipe is not None:
            pipe.write(json.dumps(document).encode())
    return Run(child).queued()


def _log() -> int:
    """Where a detached driver, which has no terminal, says what it has to say."""
    place = state()
    place.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(place.detached_log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _raised(document: dict[str, Any]) -> InspanError:
    kind = getattr(inspan.errors, str(document.get("error")), InspanError)
    if not (isinstance(kind, type) and issubclass(kind, InspanError)):
        kind = InspanError
    made: InspanError = kind(
        document["what"], where=document.get("where"), do=document.get("do"), reason=document.get("reason")
    )
    made.exit_status = int(document.get("exit_status", 1))
    return made
