"""A runner's process: started for an attempt, or ahead of it, so that its modules load while the driver prepares.

One that waits has nothing: no attempt, no lock, no credential. It ends when its standard input does, so that a driver
that dies or is done with it, however that happens, leaves none behind.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Mapping

from inspan.spec.paths import State

RUNNER = "inspan.attempt.runner"
WAITS = "--waits"
"""Argument of a runner that is told its attempt on standard input; the directory of all attempts follows it."""

_PASSED_ON = re.compile(
    r"PATH|HOME|LANG|LC_.*|TZ|TMPDIR|PYTHONPATH|PYTHONHOME|LD_LIBRARY_PATH|XDG_.*|INSPAN_HOME|INSPAN_CONFIG"
    r"|SSL_CERT_FILE|SSL_CERT_DIR|(?i:https?_proxy|all_proxy|no_proxy)|COVERAGE_.*"
)

_waiting: list[subprocess.Popen[bytes]] = []


def prepare(state: State) -> None:
    """Have a runner waiting. Best effort: without one the attempt starts its own."""
    if not _waiting:
        with contextlib.suppress(OSError):
            null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            try:
                _waiting.append(spawn(RUNNER, (WAITS, str(state.attempts)), output=null, cwd="/"))
            finally:
                os.close(null)


def dismiss() -> None:
    """End the runner that waits, if there is one. Idempotent."""
    while _waiting:
        process = _waiting.pop()
        process.kill()  # it may still be loading, and holds nothing
        process.communicate()


def taken(runner: str) -> subprocess.Popen[bytes] | None:
    """The runner that waits, which is then the caller's; None when there is none or another one is wanted."""
    if runner != RUNNER or not _waiting:
        return None
    process = _waiting.pop()
    return process if process.poll() is None else None


def spawn(runner: str, arguments: tuple[str, ...], *, output: int, cwd: str) -> subprocess.Popen[bytes]:
    """Start a runner in its own session, with a pipe as standard input.

    Raises:
        OSError: it cannot be started.
    """
    # -P and a directory of ours: nothing in the caller's directory may shadow a module of the trusted side
    return subprocess.Popen(
        [sys.executable, "-P", "-m", runner, *arguments],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=output,
        cwd=cwd,
        env=environment(os.environ),
        start_new_session=True,
    )


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What of the driver's environment the runner gets: nothing key-like, whatever the user has set."""
    return {k: v for k, v in environ.items() if _PASSED_ON.fullmatch(k)}
