"""A runner that was started ahead of its attempt: used as any other, and gone with whoever had it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from attempts import request, require

from inspan.attempt import ready
from inspan.attempt.start import start_or_adopt, wait
from inspan.spec.paths import AttemptPaths, State

STEPS = [{"print": {"type": "start"}}, {"print": {"type": "end", "ok": True, "message": "done"}}]


@pytest.fixture(autouse=True)
def none_waits(tmp_path: Path) -> Iterator[None]:
    yield
    ready.dismiss()
    assert waiting(tmp_path) == []


def waiting(place: Path) -> list[int]:
    """Runners that wait for an attempt of this state."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        words = process.info["cmdline"] or []
        if ready.WAITS in words and str(place) in words[-1] and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process.pid)
    return found


def test_it_runs_the_attempt_it_is_told_as_one_started_for_it(tmp_path: Path) -> None:
    require("sandbox", tmp_path)
    paths = AttemptPaths(tmp_path / "attempts" / "j1.a1")
    asked = request(paths, "sandbox", STEPS)
    ready.prepare(State(tmp_path))
    ready.prepare(State(tmp_path))
    [pid] = waiting(tmp_path)
    start_or_adopt(paths, asked, "credential-of-the-test")
    record = wait(paths)
    assert (record.end, record.message) == ("exited", "done"), paths.runner_log.read_text()
    assert int((paths.root / "starts").read_text().split()[0]) == pid
    assert paths.runner_log.exists() and waiting(tmp_path) == []
    # Only one was waiting: the next attempt has one of its own.
    second = AttemptPaths(tmp_path / "attempts" / "j2.a1")
    start_or_adopt(second, request(second, "sandbox", STEPS), None)
    assert wait(second).end == "exited"
    assert int((second.root / "starts").read_text().split()[0]) != pid


def test_one_that_died_is_not_used(tmp_path: Path) -> None:
    ready.prepare(State(tmp_path))
    [pid] = waiting(tmp_path)
    os.kill(pid, signal.SIGKILL)
    while waiting(tmp_path):
        time.sleep(0.01)
    paths = AttemptPaths(tmp_path / "attempts" / "j1.a1")
    start_or_adopt(paths, request(paths, "none", STEPS), None)
    assert wait(paths).end == "exited"
    assert int((paths.root / "starts").read_text().split()[0]) != pid


def test_it_ends_with_a_driver_that_is_killed_and_has_touched_nothing(tmp_path: Path) -> None:
    code = "import sys, time; from pathlib import Path; from inspan.attempt import ready; from inspan.spec.paths import State\n"
    code += "ready.prepare(State(Path(sys.argv[1]))); print('up', flush=True); time.sleep(60)"
    driver = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    assert driver.stdout is not None and driver.stdout.readline() == b"up\n"
    [pid] = waiting(tmp_path)
    held = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in (0, 1, 2)}
    assert attempts_environment(pid) and "/dev/null" in held
    driver.kill()
    driver.wait()
    until = time.monotonic() + 30
    while waiting(tmp_path):
        assert time.monotonic() < until, "it outlived its driver"
        time.sleep(0.02)
    assert list(tmp_path.iterdir()) == []


def attempts_environment(pid: int) -> bool:
    """Whether nothing key-like is in a waiting runner's environment."""
    names = [item.split(b"=", 1)[0] for item in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if item]
    return not any(word in name.upper() for name in names for word in (b"KEY", b"TOKEN", b"SECRET"))


def test_an_attempt_of_another_program_leaves_it_alone(tmp_path: Path) -> None:
    ready.prepare(State(tmp_path))
    assert ready.taken("some.other.runner") is None
    assert len(waiting(tmp_path)) == 1
