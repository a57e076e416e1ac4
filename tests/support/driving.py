"""Starting, killing and following drivers."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from inspan.spec.paths import State, state
from inspan.store import read

PROGRAM = Path(__file__).with_name("one_driver.py")

SLOW = """\
schema: inspan.rehearsal/1
name: slow
steps:
  - bash: echo started >> starts.txt
  - bash: sleep 0.25; echo one >> work.txt
  - bash: sleep 0.25; echo two >> work.txt
  - bash: sleep 0.25; echo three >> work.txt
  - bash: sleep 0.25; echo four >> work.txt
  - say: All four lines are written.
prefill: 0.1
"""
"""About two seconds of an agent that asks its model six times and would leave a second line if it were started twice."""

QUICK = """\
schema: inspan.rehearsal/1
name: quick
steps:
  - bash: echo started >> starts.txt
  - say: Done.
"""

CHECK = {"name": "once", "command": 'test "$(cat starts.txt)" = started'}


def job(repo: Path, scenario: str = QUICK, **more: object) -> dict[str, object]:
    """A job of the bare harness that is accepted when the agent ran exactly once."""
    spec = {
        "prompt": "work",
        "repo": str(repo),
        "backend": "bare@rehearsal/any",
        "rehearse": scenario,
        "checks": [CHECK],
    }
    return spec | more


class Driver:
    """A driver process."""

    def __init__(self, spec: dict[str, object] | None, *, kill_at: str | None = None) -> None:
        env = dict(os.environ) | ({"INSPAN_TEST_KILL_AT": kill_at} if kill_at else {})
        self.began = time.time()
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), "settle" if spec is None else "run"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        )
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(spec).encode() if spec is not None else b"")
        self.process.stdin.close()
        self.process.stdin = None

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def wait(self, timeout: float = 120) -> dict:
        out, err = self.process.communicate(timeout=timeout)
        assert self.process.returncode == 0, err.decode()
        return json.loads(out)


def settle() -> list[str]:
    """The next command: takes over what dead drivers left and ends it."""
    return Driver(None).wait()


def eventually(what: Callable[[], object], seconds: float = 60.0) -> object:
    """Wait until ``what`` is true."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = what()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"never came: {what}")


def running_attempt(at: State | None = None) -> tuple[str, int]:
    """The id of a job whose agent runs and the pid of its runner."""
    where = at or state()

    def look() -> tuple[str, int] | None:
        for row in read.list_jobs(where):
            starts = where.attempt(f"{row.id}.a1").root / "starts"
            events = where.attempt(f"{row.id}.a1").events
            if starts.exists() and events.exists() and b"started >> starts.txt" in events.read_bytes():
                return row.id, int(starts.read_text().split()[0])
        return None

    found = eventually(look)
    assert isinstance(found, tuple)
    return found


def outcomes(job_id: str) -> int:
    """How many outcomes the table holds for a job; told apart from how many times its end was announced."""
    with closing(sqlite3.connect(state().database)) as connection:
        rows = connection.execute("select count(*) from outcome where job = ?", (job_id,)).fetchone()[0]
        ends = connection.execute("select count(*) from event where job = ? and kind = 'ended'", (job_id,)).fetchone()[
            0
        ]
    assert rows == ends
    return rows


def runner_starts(job_id: str) -> int:
    """How many runners ever got the attempt's lock."""
    return len((state().attempt(f"{job_id}.a1").root / "starts").read_text().splitlines())


def branch(repo: Path, job_id: str) -> str | None:
    found = subprocess.run(
        ["git", "rev-parse", "-q", "--verify", f"refs/heads/inspan/{job_id}"], cwd=repo, capture_output=True, text=True
    )
    return found.stdout.strip() or None


def leftovers() -> list[str]:
    """Processes whose environment or arguments name this state."""
    mark = os.fsencode(os.environ["INSPAN_HOME"])
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        try:
            words = Path("/proc", pid, "cmdline").read_bytes()
        except OSError:
            continue
        if mark in words:
            found.append(f"{pid} {words!r}")
    return found
