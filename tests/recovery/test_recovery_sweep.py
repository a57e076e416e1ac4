"""Driver, runner and keeper killed at once, without a pid namespace: what they leave is ended by the next command."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from inspan.sandbox import census
from inspan.spec.paths import state
from inspan.store import read
from support.driving import Driver, eventually, job, running_attempt, settle

FOREVER = """\
schema: inspan.rehearsal/1
name: forever
steps:
  - bash: "echo started >> starts.txt; ($DAEMON) & sleep 600"
  - say: Never.
"""


@pytest.mark.long
def test_what_a_dead_runner_left_is_ended(repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INSPAN_HOME", str(tmp_path / "state"))
    mark = f"daemon-{os.getpid()}-{time.monotonic_ns()}"
    daemon = f"setsid sh -c 'trap \"\" TERM HUP; : {mark}; while :; do sleep 600; done' </dev/null >/dev/null 2>&1"
    driver = Driver(job(repository, FOREVER.replace("$DAEMON", daemon.replace('"', '\\"')), sandbox="none"))

    def daemons() -> list[int]:
        lines = {p.pid: command(p.pid) for p in census.processes().values() if not p.zombie}
        return [
            pid
            for pid, words in lines.items()
            if mark.encode() in words and b"trap" in words and b"setsid" not in words[:8]
        ]

    try:
        job_id, runner = running_attempt()
        eventually(daemons)
        keeper = next(p.pid for p in census.descendants(runner) if b"keeper.py" in command(p.pid))
        for pid in (keeper, runner, driver.process.pid):
            os.kill(pid, signal.SIGSTOP)
        for pid in (keeper, runner, driver.process.pid):
            os.kill(pid, signal.SIGKILL)
        driver.process.wait(60)
        assert daemons(), "the control: without the next command it lives on"
        settle()
        eventually(lambda: not daemons())
        outcome = read.get_outcome(state(), job_id)
        assert outcome is not None and outcome.reason == "environment_lost"
    finally:
        for pid in daemons():
            os.kill(pid, signal.SIGKILL)


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
