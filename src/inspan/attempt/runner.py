"""The runner: ``python -m inspan.attempt.runner DIR``, one per attempt, in its own session.

With ``--waits`` it was started ahead of its attempt, loads what it will need, and is told the directory on its standard
input with everything else; when that ends without a message it ends too.

It holds the attempt's lock for its whole life, so that the lock, never a pid, says whether an attempt runs. It is the
parent of the sandbox from its main thread: when the runner dies, the tree dies. It reads the credential from standard
input and keeps it in memory. It outlives its driver and is over by the deadline whatever happens to anybody else.
"""

from __future__ import annotations

import fcntl
import importlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import msgspec

from inspan.attempt import census
from inspan.attempt.contract import AttemptRequest, TerminalRecord
from inspan.attempt.execution import INTERRUPT_GRACE, KILL_PATIENCE, Execution, Parts, Secrets, remaining
from inspan.attempt.files import read_request, starts, write_record
from inspan.attempt.ready import WAITS
from inspan.sandbox import spawning
from inspan.spec.paths import AttemptPaths
from inspan.times import timestamp

LOCK_PATIENCE = 2.0
"""Seconds to wait for the lock: somebody who only looks holds it for an instant."""

OVERTIME = INTERRUPT_GRACE + KILL_PATIENCE + 30.0
"""Seconds after the deadline at which the runner ends itself, whatever it hangs on."""


def take_lock(paths: AttemptPaths, patience: float = LOCK_PATIENCE) -> int | None:
    """The attempt's lock, held until the descriptor is closed or the process dies; None when another one has it."""
    fd = os.open(paths.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fd
        except OSError:
            if time.monotonic() >= until:
                os.close(fd)
                return None
            time.sleep(0.01)


def read_secrets() -> Secrets | None:
    """The driver's message on standard input; None when the driver died before it was complete."""
    data = sys.stdin.buffer.read()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    try:
        return msgspec.json.decode(data, type=Secrets)
    except msgspec.MsgspecError:
        return None


def _signals() -> Callable[[], bool]:
    """SIGTERM cancels; SIGINT and SIGHUP are for drivers. Handlers, not SIG_IGN: an exec'd child gets the defaults."""
    wanted = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: wanted.set())
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGHUP, lambda *_: None)
    return wanted.is_set


def _crashed(request: AttemptRequest, started: str, detail: str) -> TerminalRecord:
    return TerminalRecord(
        attempt=request.attempt, end="crashed", started=started, ended=timestamp(), detail=detail[-2000:]
    )


def _end_at_deadline(paths: AttemptPaths, request: AttemptRequest) -> None:
    """The last resort against a call that never returns: the tree dies with this process."""
    started = timestamp()

    def over() -> None:
        write_record(paths, _crashed(request, started, "the runner did not end by itself after the deadline"))
        os._exit(70)

    timer = threading.Timer(max(0.0, remaining(request.deadline)) + OVERTIME, over)
    timer.daemon = True
    timer.start()


def _preload() -> None:
    """Load what the gateway's thread will need while the main thread waits for the sandbox to be built."""
    threading.Thread(target=importlib.import_module, args=("aiohttp.web",), name="preload", daemon=True).start()


def run(paths: AttemptPaths, parts: Callable[[], Parts], secrets: Secrets, asked: Callable[[], bool]) -> None:
    """Execute and write the record, whatever happens. The lock is held by the caller."""
    request = read_request(paths)
    started = timestamp()
    try:
        _end_at_deadline(paths, request)
        census.become_subreaper()
        record = Execution(paths, request, secrets, parts(), lambda: asked() or paths.cancel.exists()).run()
    except Exception as e:
        traceback.print_exc()
        record = _crashed(request, started, f"{type(e).__name__}: {e}")
    write_record(paths, record)


def real_parts() -> Parts:
    """The rooms of this release; imported late, so that the lock is taken at once."""
    from inspan.gateway.server import Gateway
    from inspan.harness.registry import harness
    from inspan.sandbox.levels import driver

    return Parts(driver=driver, harness=harness, gateway=Gateway)


def _move_in(paths: AttemptPaths) -> None:
    """Be as if started for this attempt: in its directory, with its log."""
    os.chdir(paths.root)
    log = os.open(paths.runner_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


def main(argv: list[str], parts: Callable[[], Parts] = real_parts) -> int:
    """Run one attempt. Exit status 0 when a record stands, 75 when another runner has or had the attempt."""
    os.umask(0o077)
    asked = _signals()
    waits = argv[0] == WAITS
    if waits:
        _preload()
        parts()
        spawning.ahead("launcher")  # what most attempts start, by this thread; unused, it ends with us
    secrets = read_secrets()
    if secrets is None or (waits and secrets.attempt is None):
        return 75
    paths = AttemptPaths(Path(secrets.attempt if waits and secrets.attempt else argv[0]))
    if waits:
        _move_in(paths)
    lock = take_lock(paths)
    if lock is None:
        return 75
    if paths.record.exists() or starts(paths).exists():
        return 75  # an attempt runs once; a dead runner's attempt is ended by whoever notices
    fd = os.open(starts(paths), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.write(fd, f"{os.getpid()} {timestamp()}\n".encode())
    os.close(fd)
    if not waits:
        _preload()
    run(paths, parts, secrets, asked)
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # no thread of the gateway may hold the end up
