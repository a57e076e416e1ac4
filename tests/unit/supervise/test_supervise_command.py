"""One confined command: its output bounded, its time too, and nothing of its tree alive afterwards."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import sandbox_jobs as jobs
from inspan.errors import InspanError
from inspan.sandbox.contract import Confinement
from inspan.sandbox.levels import driver
from inspan.spec.limits import Limits
from inspan.supervise.command import HEAD, TAIL, Ran, run_confined

Command = Callable[..., Ran]


@pytest.fixture(params=("none", "sandbox"))
def command(request: pytest.FixtureRequest, tmp_path: Path) -> Command:
    level = request.param
    jobs.require(level)

    def run(*argv: str, timeout: float = 60, **how: object) -> Ran:
        argv = ("sh", "-c", argv[0]) if len(argv) == 1 else argv
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
        limits = how.pop("limits", Limits())
        confinement = Confinement(plan=jobs.plan(tmp_path, level), argv=argv, env=env, ports=0, limits=limits)
        return run_confined(driver(level), confinement, timeout=timeout, **how)

    return run


def test_status_and_both_streams_come_back(command: Command) -> None:
    ran = command("cat; echo out; echo err >&2; exit 3")
    assert (ran.exit, ran.ended, ran.output) == (3, "exit", b"out\nerr\n")
    assert ran.seconds > 0


def test_of_a_long_output_the_middle_is_dropped_and_counted(command: Command) -> None:
    size = HEAD + 3 * TAIL
    ran = command(f"printf first; head -c {size} /dev/zero; printf last")
    dropped = size + 9 - HEAD - TAIL
    assert ran.exit == 0 and b"\n[... %d bytes ...]\n" % dropped in ran.output
    assert ran.output.startswith(b"first") and ran.output.endswith(b"last")
    assert len(ran.output) < HEAD + TAIL + 100
    short = command(f"head -c {HEAD + 10} /dev/zero")
    assert short.output == bytes(HEAD + 10), "control: nothing is dropped"


@pytest.mark.parametrize(
    ("script", "how", "ended"),
    [
        ("sleep 600", {"timeout": 0.5}, "timeout"),
        ("yes", {"output_limit": 1 << 20}, "output"),
        ("sleep 600", {"cancelled": lambda: True}, "cancelled"),
    ],
)
def test_what_goes_on_too_long_is_ended_whole(command: Command, script: str, how: dict, ended: str) -> None:
    marker = f"marker-{secrets.token_hex(8)}"
    ran = command(f"sh -c '{script}; : {marker}' & echo here; sh -c '{script}; : {marker}'", **how)
    assert (ran.exit, ran.ended) == (None, ended)
    assert jobs.gone(marker)
    at_ease = command("echo here", output_limit=1 << 20, cancelled=lambda: False)
    assert (at_ease.exit, at_ease.ended, at_ease.output) == (0, "exit", b"here\n"), "control"


def test_what_exceeds_a_limit_says_which(command: Command) -> None:
    script = "i=0; while [ $i -lt 1000 ]; do head -c 1048576 /dev/zero > f$i || exit 1; i=$((i+1)); done; sleep 200"
    ran = command(script, limits=Limits(workspace_bytes=8 << 20), timeout=120)
    assert (ran.ended, ran.exceeded) == ("limit", "workspace_bytes") and ran.exit != 0
    at_ease = command("head -c 1048576 /dev/zero > f", limits=Limits(workspace_bytes=8 << 20))
    assert (at_ease.exit, at_ease.ended, at_ease.exceeded) == (0, "exit", None), "control"


def test_a_caller_that_fails_leaves_nothing_alive(command: Command) -> None:
    marker = f"marker-{secrets.token_hex(8)}"

    def broken() -> bool:
        raise ValueError("the caller's own")

    with pytest.raises(ValueError, match="own"):
        command(f"sleep 600; : {marker}", cancelled=broken)
    assert jobs.gone(marker)


def test_a_command_that_cannot_be_started_leaves_no_descriptor(command: Command) -> None:
    def once() -> None:
        with pytest.raises(InspanError):
            command("/nowhere/at-all", "x")

    once()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        once()
    until = time.monotonic() + 20  # the reader closes its end when it has seen the end of the pipe
    while len(os.listdir("/proc/self/fd")) > before:
        assert time.monotonic() < until
        time.sleep(0.02)
