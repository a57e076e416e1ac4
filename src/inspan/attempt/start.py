"""The driver's side: start an attempt's runner once, or find it running; wait; cancel.

The attempt's lock (flock) is the only word on whether a runner lives: it falls when the process dies, however it dies,
and cannot be mistaken for another process that got the same pid. Drivers take turns by a second lock, so that of two
that come at once one starts the runner and the other finds it. An attempt runs at most once: a runner that died without
a record leaves ``crashed``, written once by whoever notices first, and is never started again under the same id.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from inspan.attempt import census, ready
from inspan.attempt.contract import AttemptRequest, TerminalRecord
from inspan.attempt.eventlog import EventTail
from inspan.attempt.files import read_record, starts, write_record
from inspan.errors import StateError
from inspan.files import holding, write_once
from inspan.spec.paths import AttemptPaths
from inspan.times import timestamp

START_PATIENCE = 60.0
"""Seconds for a started runner to take the lock on a busy machine."""

_NEVER_STARTED = 60.0
"""Seconds after which an attempt nobody has started is given up by somebody who waits for it."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH(?!OR)", re.IGNORECASE)

_children: list[subprocess.Popen[bytes]] = []  # our own runners, polled so that none stays a zombie


def start_or_adopt(
    paths: AttemptPaths, request: AttemptRequest, credential: str | None, *, runner: str = ready.RUNNER
) -> None:
    """Start the attempt's runner, detached, or find that it runs or has ended. Idempotent; safe for several drivers.

    Args:
        credential: handed to the runner through a pipe; None for a rehearsal. Unused when the runner already runs.
        runner: module to run; tests bring their own rooms in with it.

    Raises:
        StateError: when the attempt's directory cannot be written.
    """
    try:
        paths.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_once(paths.request, msgspec.json.encode(request))
    except OSError as e:
        raise StateError(f"the attempt's directory cannot be written: {e}", where=str(paths.root)) from e
    with _turn(paths):
        if not _settled(paths) and not _runs(paths):
            _start(paths, credential, runner)


def wait(
    paths: AttemptPaths, *, poll: float = 0.05, on_event: Callable[[dict[str, Any]], None] | None = None
) -> TerminalRecord:
    """Wait for the terminal record, from any process. A dead runner's record is written here, once.

    Args:
        poll: seconds between two looks at most; a short wait looks more often.
        on_event: given each event of the harness once, in order (``at``, ``kind``, ``text``, ``data``).

    Raises:
        StateError: for a record that cannot be read.
    """
    tail = None if on_event is None else EventTail(paths.events, on_event)
    began = time.monotonic()
    while True:
        record = read_record(paths)
        if tail is not None:
            tail.poll()
        if record is not None:
            _collect_children()
            return record
        if not _runs(paths):
            with _turn(paths):
                if _settled(paths, give_up=time.monotonic() - began > _NEVER_STARTED):
                    continue
        time.sleep(min(poll, max(0.002, (time.monotonic() - began) / 20)))


def cancel(paths: AttemptPaths) -> None:
    """Ask the runner to stop; also one that has not started yet. Idempotent."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(paths.cancel, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _turn(paths: AttemptPaths) -> AbstractContextManager[None]:
    """One driver at a time decides about an attempt."""
    return holding(paths.root / "start.lock")


def _free(paths: AttemptPaths) -> int | None:
    """The runner's lock, while no runner holds it; to be closed at once, a starting runner waits only briefly."""
    fd = os.open(paths.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    return fd


def _runs(paths: AttemptPaths) -> bool:
    """Whether a runner lives."""
    fd = _free(paths)
    if fd is None:
        return True
    os.close(fd)
    return False


def _settled(paths: AttemptPaths, give_up: bool = False) -> bool:
    """Whether a record stands; a dead runner's is written now. To be called in turn."""
    fd = _free(paths)
    if fd is None:
        return False
    try:
        if paths.record.exists():
            return True
        if not starts(paths).exists() and not give_up:
            return False
        tree = census.read(paths)
        left = tuple(census.end(tree)) if tree is not None else ()
        dead = starts(paths).exists()
        _write_crashed(paths, "the runner died without a record" if dead else "no runner was ever started", left)
        return True
    finally:
        os.close(fd)


def _write_crashed(paths: AttemptPaths, detail: str, survivors: tuple[int, ...] = ()) -> None:
    now = timestamp()
    record = TerminalRecord(
        attempt=paths.root.name,
        end="crashed",
        started=_began(paths) or now,
        ended=now,
        detail=detail,
        survivors=survivors,
    )
    write_record(paths, record)


def _began(paths: AttemptPaths) -> str | None:
    try:
        return starts(paths).read_text().split()[1]
    except (OSError, IndexError):
        return None


def _start(paths: AttemptPaths, credential: str | None, runner: str) -> None:
    place = str(paths.root.absolute())
    message = msgspec.json.encode({"attempt": place, "credential": credential, "redact": secret_values(os.environ)})
    log = os.open(paths.runner_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        process = ready.taken(runner) or ready.spawn(runner, (place,), output=log, cwd=place)
    except OSError as e:
        raise StateError(f"the runner could not be started: {e}", where=sys.executable) from e
    finally:
        os.close(log)
    _children.append(process)
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(message)
        process.stdin.close()
    until = time.monotonic() + START_PATIENCE
    while not starts(paths).exists() and not paths.record.exists():
        if process.poll() is not None and not starts(paths).exists():
            _write_crashed(paths, f"the runner ended at once with status {process.returncode}: {_tail(paths)}")
            return
        if time.monotonic() > until:
            process.kill()
            process.wait()
            _write_crashed(paths, f"the runner did not come up in {START_PATIENCE:.0f} s: {_tail(paths)}")
            return
        time.sleep(0.005)


def _tail(paths: AttemptPaths) -> str:
    try:
        return paths.runner_log.read_text(errors="replace").strip()[-500:]
    except OSError:
        return ""


def secret_values(environ: Mapping[str, str]) -> list[str]:
    """Values of key-like variables, so that they are redacted should they ever turn up in a harness's output."""
    return [v for k, v in environ.items() if _SECRET_NAME.search(k) and len(v) >= 8 and not v.startswith("/")]


def _collect_children() -> None:
    for process in list(_children):
        if process.poll() is not None:
            _children.remove(process)
