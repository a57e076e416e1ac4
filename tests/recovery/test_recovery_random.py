"""kill -9 at random moments of a job whose agent goes on asking its model; side by side; kill -9 of the runner."""

from __future__ import annotations

import os
import random
import signal
import time
from datetime import datetime
from pathlib import Path

import pytest

from inspan.gateway.journal import read_journal
from inspan.spec.paths import state
from inspan.store import read
from support.driving import (
    SLOW,
    Driver,
    branch,
    eventually,
    job,
    leftovers,
    outcomes,
    runner_starts,
    running_attempt,
    settle,
)


def killed_after(repository: Path, seconds: float, *, stored: bool) -> tuple[int, int]:
    """One driver killed ``seconds`` after its start, or after its job was stored; the next command ends the job.

    Gives (jobs stored, requests after the kill).
    """
    driver = Driver(job(repository, SLOW))
    if stored:
        eventually(lambda: read.list_jobs(state()))
    time.sleep(seconds)
    driver.kill()
    moment = time.time()
    quick = Driver(job(repository, prompt="the next command")).wait()
    assert quick["verdict"] == "accepted"
    settle()  # whatever the next command did not wait for
    eventually(lambda: all(row.ended for row in read.list_jobs(state())))
    mine = [row for row in read.list_jobs(state()) if row.spec.prompt == "work"]
    assert len(mine) <= 1
    if not mine:
        assert not list(state().attempts.glob("*")) or len(list(state().attempts.glob("*"))) == 1
        return 0, 0
    job_id = mine[0].id
    outcome = read.get_outcome(state(), job_id)
    assert outcome is not None and outcome.verdict == "accepted", outcome
    assert sorted(f.path for f in outcome.change.files) == ["starts.txt", "work.txt"]
    assert outcomes(job_id) == 1 and runner_starts(job_id) == 1
    assert branch(repository, job_id) == outcome.delivery.commit
    eventually(lambda: not leftovers())
    wire = read_journal(state().attempt(f"{job_id}.a1").wire)
    after = [r for r in wire if datetime.fromisoformat(r.at).timestamp() > moment]
    assert {r.state for r in wire} == {"done"}, "no request was broken by the kill"
    return 1, len(after)


@pytest.mark.parametrize(("seconds", "stored"), [(0.4, False), (0.3, True)])
def test_killed_at_a_moment(repository: Path, seconds: float, stored: bool) -> None:
    assert killed_after(repository, seconds, stored=stored)[0] >= stored


def test_killed_while_the_agent_works_its_model_traffic_goes_on(repository: Path) -> None:
    driver = Driver(job(repository, SLOW))
    job_id, _ = running_attempt()
    driver.kill()
    moment = time.time()
    assert settle() == [job_id]
    outcome = read.get_outcome(state(), job_id)
    assert outcome is not None and outcome.verdict == "accepted" and outcomes(job_id) == runner_starts(job_id) == 1
    wire = read_journal(state().attempt(f"{job_id}.a1").wire)
    after = [r for r in wire if datetime.fromisoformat(r.at).timestamp() > moment]
    assert len(after) >= 2 and {r.state for r in wire} == {"done"}
    assert outcome.usage.source == "gateway" and outcome.usage.requests == len(wire)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_killed_at_twenty_random_moments(repository: Path, tmp_path: Path, monkeypatch) -> None:
    seed = int(os.environ.get("INSPAN_TEST_SEED", "20"))
    dice = random.Random(seed)
    stored = requests = 0
    for n in range(20):
        monkeypatch.setenv("INSPAN_HOME", str(tmp_path / f"state{n}"))
        early = n % 4 == 0  # also while the state is made and migrated
        one, later = killed_after(repository, dice.uniform(0.05, 1.5 if early else 4.0), stored=not early)
        stored, requests = stored + one, requests + later
    print(f"seed {seed}: 20 kills, {stored} with a stored job, {requests} model requests after a kill")
    assert stored >= 15 and requests > 0


def test_several_drivers_side_by_side(repository: Path) -> None:
    drivers = [Driver(job(repository, prompt=f"job {n}")) for n in range(3)]
    ended = [driver.wait() for driver in drivers]
    assert {one["verdict"] for one in ended} == {"accepted"} and len({one["job"] for one in ended}) == 3
    assert all(outcomes(one["job"]) == runner_starts(one["job"]) == 1 for one in ended)


def test_a_command_does_not_wait_for_a_long_job_it_took_over(repository: Path, monkeypatch) -> None:
    driver = Driver(job(repository, SLOW))
    job_id, _ = running_attempt()
    driver.kill()
    monkeypatch.setenv("INSPAN_TEST_PATIENCE", "0")
    assert Driver(job(repository, prompt="the next command")).wait()["verdict"] == "accepted"
    # No further command: whoever was left behind by it ends the job.
    outcome = eventually(lambda: read.get_outcome(state(), job_id))
    assert outcome.verdict == "accepted" and outcomes(job_id) == runner_starts(job_id) == 1
    eventually(lambda: not leftovers())


def test_two_takers_at_once_share_nothing(repository: Path) -> None:
    driver = Driver(job(repository, SLOW))
    job_id, _ = running_attempt()
    driver.kill()
    takers = [Driver(None), Driver(None)]
    taken = [taker.wait() for taker in takers]
    assert sorted(map(len, taken)) == [0, 1]
    assert outcomes(job_id) == runner_starts(job_id) == 1


def test_a_killed_runner_is_an_environment_lost_and_its_work_is_kept(repository: Path) -> None:
    driver = Driver(job(repository, SLOW))
    job_id, runner = running_attempt()
    eventually(lambda: b"one >>" in state().attempt(f"{job_id}.a1").events.read_bytes())
    os.kill(runner, signal.SIGKILL)
    outcome = driver.wait()
    assert (outcome["verdict"], outcome["reason"]) == ("failed", "environment_lost")
    assert branch(repository, job_id) is None and outcomes(job_id) == 1
    patch = read.artifact(state(), outcome["artifacts"]["patch"])
    assert b"+started" in patch
    eventually(lambda: not leftovers())


def test_runner_and_driver_killed_together(repository: Path) -> None:
    driver = Driver(job(repository, SLOW))
    job_id, runner = running_attempt()
    driver.kill()
    os.kill(runner, signal.SIGKILL)
    settle()
    outcome = read.get_outcome(state(), job_id)
    assert outcome is not None and (outcome.verdict, outcome.reason) == ("failed", "environment_lost")
    assert outcomes(job_id) == runner_starts(job_id) == 1
    assert "patch" in outcome.artifacts
    eventually(lambda: not leftovers())
