"""What a program does at level ``none`` to outlive its job. There is no boundary here; its end is still held to."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import sandbox_jobs as jobs

DAEMON = textwrap.dedent(
    """
    import os, signal, sys, time
    marker, keeper = sys.argv[1], sys.argv[2]
    for n in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(s, signal.SIG_IGN)
            os.closerange(0, 256)
            os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(1000)", marker], {})
    time.sleep(1)
    if keeper == "kill":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)
    """
)


@pytest.fixture
def marker() -> str:
    return f"none-{os.getpid()}-{time.monotonic_ns()}"


@pytest.mark.parametrize("keeper", ["keep", "kill"])
def test_daemons_without_environment_do_not_outlive_the_job(tmp_path: Path, marker: str, keeper: str) -> None:
    """Also when the program first kills the process that keeps the tree together."""
    made = jobs.plan(tmp_path, "none")
    ended = jobs.run("none", made, sys.executable, "-c", DAEMON, marker, keeper, env={"PATH": os.environ["PATH"]})
    assert jobs.alive_with(marker) == []
    assert ended.tree.survivors() == []
    assert any(name.startswith("python") for name in ended.tree.orphans)


def test_the_daemons_are_real_ones(tmp_path: Path, marker: str) -> None:
    """Control: started without a driver and ended by its process group, all of them live on."""
    child = subprocess.Popen([sys.executable, "-c", DAEMON, marker, "keep"], start_new_session=True)
    child.wait()
    try:
        os.killpg(child.pid, 9)
    except ProcessLookupError:
        pass
    left = jobs.alive_with(marker)
    for pid in left:
        os.kill(pid, 9)
    assert len(left) == 3


def test_what_the_level_cannot_do_is_what_it_says(tmp_path: Path) -> None:
    """The level is labelled "not isolated": it sees the host, and its evidence says so."""
    from inspan.sandbox.levels import driver

    made = jobs.plan(tmp_path, "none")
    canary = tmp_path / "canary"
    canary.write_text("seen\n")
    with jobs.started("none", made, ("cat", str(canary))) as (tree, out, _):
        assert tree.proof == {}
        tree.release()
        assert tree.wait(30) == 0
        assert out.read_text() == "seen\n"
    assert "not isolated" in driver("none").probe(str(tmp_path)).detail
