"""A driver as a child process: a job document on standard input, one JSON document a line on standard output.

The lines are ``{"job", "event": {...}}`` while it goes on, then ``{"outcome": {...}}``, or ``{"error": {...}}`` when
the job is refused. The durable engine lives here and never in the caller's process.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from typing import Any

import msgspec

from inspan.errors import InspanError
from inspan.interfaces.leaving import leave
from inspan.store.records import EventRow


def main() -> int:
    """Read the job, drive it, report; the exit status is 0 whenever a report was made."""
    lines = _Lines()
    try:
        document = json.loads(sys.stdin.buffer.read())
        lines.write({"outcome": _driven(document, lines)})
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        from inspan.interfaces.cli.refusal import document as described
        from inspan.interfaces.cli.refusal import internal_error

        lines.write({"error": described(error if isinstance(error, InspanError) else internal_error(error))})
    return 0


def _driven(document: dict[str, Any], lines: _Lines) -> Any:
    from inspan.engine.driver import drive
    from inspan.interfaces.submission import completed
    from inspan.spec.paths import state
    from inspan.spec.validate import decode_job

    job, configuration = completed(decode_job(document["job"]), document.get("given", ()))
    place, ours = state(), _Ours()

    def report(name: str, event: EventRow) -> None:
        ours.see(name, event)
        lines.write({"job": name, "event": msgspec.to_builtins(event)})

    def ask(number: int, frame: object) -> None:
        if ours.job is None:
            raise KeyboardInterrupt
        from inspan.interfaces.cancelling import cancel_job

        threading.Thread(target=cancel_job, args=(place, ours.job), daemon=True).start()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    retry_of = document.get("retry_of")
    return msgspec.to_builtins(drive(job, state=place, config=configuration, on_event=report, retry_of=retry_of))


class _Ours:
    """The job this process submitted, among those it may have taken over."""

    job: str | None = None

    def see(self, name: str, event: EventRow) -> None:
        if self.job is None and event.kind == "queued":
            self.job = name


class _Lines:
    """Standard output, one document a line, whole, from any thread. Nobody may be reading any more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Whatever else writes to standard output must not garble the lines.
        self._file = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)

    def write(self, document: dict[str, Any]) -> None:
        data = json.dumps(document).encode() + b"\n"
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._file.write(data)
            self._file.flush()


if __name__ == "__main__":
    leave(main())
