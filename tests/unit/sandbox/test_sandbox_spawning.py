"""Programs started ahead: taken by the thread that asked for them, replaced when dead, gone with their caller."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import sandbox_jobs as jobs

from inspan.sandbox import census, namespaced, spawning
from inspan.sandbox.contract import Limits


@pytest.fixture(autouse=True)
def dismissed() -> Iterator[None]:
    spawning.dismiss()
    yield
    spawning.dismiss()


def waiting() -> list[int]:
    return [child.pid for child in census.descendants(os.getpid()) if _is_launcher(child.pid)]


def _is_launcher(pid: int) -> bool:
    try:
        return b"launcher.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_the_next_start_takes_the_one_that_waits(tmp_path: Path) -> None:
    jobs.require("sandbox")
    spawning.ahead("launcher")
    spawning.ahead("launcher")  # one is enough
    (pid,) = waiting()
    plan = jobs.plan(tmp_path, "sandbox")
    with jobs.started("sandbox", plan, ("/bin/sh", "-c", "cat a.txt; exit 7")) as (tree, out, err):
        assert tree.pid == pid
        tree.release()
        assert tree.wait(60) == 7, err.read_text()
        assert out.read_text() == "base\n"
    assert waiting() == []
    with jobs.started("sandbox", plan, ("true",)) as (tree, _, _):  # the control: none waits, one is started
        assert tree.pid != pid
        tree.release()
        assert tree.wait(60) == 0


def test_one_that_died_is_not_taken(tmp_path: Path) -> None:
    jobs.require("sandbox")
    spawning.ahead("launcher")
    (pid,) = waiting()
    os.kill(pid, 9)
    until = time.monotonic() + 60
    while waiting() and time.monotonic() < until:
        time.sleep(0.01)
    ended = jobs.run("sandbox", jobs.plan(tmp_path, "sandbox"), "echo fine")
    assert (ended.status, ended.out) == (0, "fine\n")


def test_it_is_not_taken_by_another_thread(tmp_path: Path) -> None:
    """The parent-death signal of a tree follows the thread that forked it, so that thread has to be the one that waits."""
    jobs.require("sandbox")
    spawning.ahead("launcher")
    (pid,) = waiting()
    seen: list[int] = []

    def elsewhere() -> None:
        with jobs.started("sandbox", jobs.plan(tmp_path, "sandbox"), ("true",)) as (tree, _, _):
            seen.append(tree.pid)
            tree.release()
            tree.wait(60)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(120)
    assert seen and seen != [pid] and waiting() == [pid]


def test_a_program_that_is_forked_between_two_looks_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Taken for somebody it left behind, it would run on without its limits."""
    jobs.require("sandbox")
    # The list of children is as of before the fork, for ever; the released tree still has to be found and watched.
    monkeypatch.setattr(namespaced.NamespacedTree, "_program", lambda _: None)
    monkeypatch.setattr(namespaced.NamespacedTree, "_require_filter", lambda _: None)
    fill = "i=0; while head -c 1048576 /dev/zero > f$i && [ $i -lt 2000 ]; do i=$((i+1)); done"
    ended = jobs.run("sandbox", jobs.plan(tmp_path, "sandbox"), fill, limits=Limits(workspace_bytes=8 << 20))
    assert ended.tree.exceeded == "workspace_bytes"


def test_it_ends_with_its_caller() -> None:
    code = "import os\nfrom inspan.sandbox import spawning\nspawning.ahead('launcher')\n"
    code += "print(next(iter(spawning._waiting.by_name.values())).process.pid, flush=True)\nos.kill(os.getpid(), 9)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pid = int(done.stdout)
    until = time.monotonic() + 60
    while (found := census.process(pid)) is not None and not found.zombie and time.monotonic() < until:
        time.sleep(0.01)
    assert found is None or found.zombie
