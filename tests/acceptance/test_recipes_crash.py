"""Recipe 13 of the reported pains: kill -9 of the drivers at a random moment; nothing is done twice, nothing is lost.

Every stub has a side effect that counts: one model request, and at level ``none`` a line in a file beside the checkout
as well. The commands are the real ones; the next command takes over what the killed ones left.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable

import pytest
from runs import inspan
from stubs import DONE, EDIT, FIXED, START, Job, Stubs, ended

from inspan.gateway.journal import read_journal
from inspan.spec.paths import State
from inspan.store import read
from inspan.store.records import JobRow

WORKING = {"repeat": {"times": 6, "every": 0.2, "steps": [{"print": {"type": "tool_result", "text": "{n}"}}]}}
KEYS = {"env": {"INSPAN_TOKEN": "{token}"}}


class Counted:
    """Jobs whose side effects are counted, on one state."""

    def __init__(self, stubs: Stubs) -> None:
        self.stubs, self.state = stubs, State(stubs.home)
        self.lines = stubs.dir / "effects.txt"
        effect = [{"run": f"echo effect >> {self.lines}"}] if stubs.level == "none" else []
        self.job = Job([START, *effect, {"model": {}}, WORKING, EDIT, DONE], FIXED, KEYS)
        stubs.declare("counted", self.job.steps, **KEYS)

    def rows(self) -> list[JobRow]:
        """Every stored job."""
        return read.list_jobs(self.state, limit=1000) if self.stubs.home.exists() else []

    def effects(self) -> int:
        """Side effects of all jobs together, by each of the counters."""
        wires = [read_journal(path / "wire.jsonl") for path in self.stubs.home.glob("attempts/*")]
        requests = sum(len(wire) for wire in wires)
        if self.stubs.level == "none":
            assert len(self.lines.read_text().splitlines()) == requests
        return requests

    def begin(self, count: int) -> list[subprocess.Popen[str]]:
        """Start jobs side by side and wait until they are stored."""
        known = len(self.rows())
        started = [self.stubs.start("counted", self.job) for _ in range(count)]
        while len(self.rows()) < known + count:
            gone = [driver.communicate() for driver in started if driver.poll() not in (None, 0)]
            assert not gone, gone
            time.sleep(0.02)
        return started

    def once(self, row: JobRow) -> None:
        """The job's program was started once, and its outcome was written once."""
        assert len((self.state.attempt(f"{row.id}.a1").root / "starts").read_text().splitlines()) == 1
        assert [e.kind for e in read.events_since(self.state, row.id)].count("ended") == 1
        assert not self.state.attempt(f"{row.id}.a2").root.exists()


def eventually(condition: Callable[[], object], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.02)


def crash(stubs: Stubs, seeds: range) -> None:
    counted = Counted(stubs)
    first = stubs.together(counted=counted.job)["counted"]
    assert ended(first) == (0, "accepted", "verified") and counted.effects() == 1, first
    for round_, seed in enumerate(seeds):
        dice = random.Random(seed)
        drivers = counted.begin(2)
        time.sleep(dice.uniform(0.0, 2.5))
        for driver in drivers:
            driver.send_signal(signal.SIGKILL)
        for driver in drivers:
            driver.communicate(timeout=60)
        after = stubs.run([START, EDIT, DONE], *FIXED)
        assert ended(after) == (0, "accepted", "verified"), after
        eventually(lambda: all(row.ended for row in counted.rows()))
        mine = [row for row in counted.rows() if row.backend.startswith("counted@")]
        outcomes = [read.get_outcome(counted.state, row.id) for row in mine]
        print(f"seed {seed}: killed {[d.returncode for d in drivers]}, {counted.effects()} effects of {len(mine)} jobs")
        assert [o.verdict.value for o in outcomes if o] == ["accepted"] * (3 + 2 * round_), outcomes
        assert counted.effects() == len(mine) == 3 + 2 * round_
        for row in mine:
            counted.once(row)
    shown = json.loads(inspan("show", first.document["job"], "--json").stdout)
    assert shown["outcome"] == first.document, "a result that was complete is what it was"
    assert len(stubs.branches()) == len(counted.rows())


def test_13_a_kill_at_a_random_moment_repeats_nothing(stubs: Stubs) -> None:
    crash(stubs, range(2))


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_13_twenty_kills_at_random_moments_repeat_nothing(stubs: Stubs) -> None:
    first = int(os.environ.get("INSPAN_TEST_SEED", "100"))
    crash(stubs, range(first, first + 20))


def test_13_a_clean_stop_is_final(stubs: Stubs) -> None:
    counted = Counted(stubs)
    drivers = counted.begin(3)
    eventually(lambda: len([p for p in stubs.home.glob("attempts/*/wire.jsonl") if p.read_bytes()]) == 3)
    for driver in drivers:
        driver.send_signal(signal.SIGTERM)
    for driver in drivers:
        driver.communicate(timeout=60)
    assert [driver.returncode for driver in drivers] == [130] * 3
    assert ended(stubs.run([START, EDIT, DONE], *FIXED)) == (0, "accepted", "verified")
    mine = [row for row in counted.rows() if row.backend.startswith("counted@")]
    assert counted.effects() == len(mine) == 3 and {row.state for row in mine} == {"cancelled"}
    for row in mine:
        counted.once(row)
    assert len(stubs.branches()) == 1
