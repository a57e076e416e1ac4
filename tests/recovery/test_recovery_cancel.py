"""Cancelling: from another process, with a dead driver, too late, and against a result that comes in later."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspan.interfaces.cancelling import cancel_job as cancel
from inspan.spec.paths import state
from inspan.store import read
from support.driving import SLOW, Driver, branch, eventually, job, leftovers, outcomes, running_attempt, settle


def test_cancelled_from_another_process(repository: Path) -> None:
    driver = Driver(job(repository, SLOW))
    job_id, _ = running_attempt()
    assert cancel(state(), job_id)
    outcome = driver.wait()
    assert (outcome["verdict"], outcome["reason"]) == ("cancelled", "cancelled_by_user")
    assert "patch" in outcome["artifacts"] and branch(repository, job_id) is None and outcomes(job_id) == 1
    eventually(lambda: not leftovers())
    assert not cancel(state(), job_id), "it is too late"


def test_cancelled_with_a_dead_driver(repository: Path) -> None:
    driver = Driver(job(repository, SLOW))
    job_id, _ = running_attempt()
    driver.kill()
    assert cancel(state(), job_id)
    assert settle() == [job_id]
    outcome = read.get_outcome(state(), job_id)
    assert outcome is not None
    assert outcome.verdict == "cancelled" and "patch" in outcome.artifacts and branch(repository, job_id) is None
    eventually(lambda: not leftovers())


@pytest.mark.parametrize("place", ["collect:before", "decide:before"])
def test_a_cancel_before_the_decision_beats_a_finished_result(repository: Path, place: str) -> None:
    driver = Driver(job(repository), kill_at=place)
    driver.process.wait()
    job_id = read.list_jobs(state())[0].id
    assert cancel(state(), job_id)
    settle()
    outcome = read.get_outcome(state(), job_id)
    assert (
        outcome is not None
        and outcome.verdict == "cancelled"
        and branch(repository, job_id) is None
        and outcomes(job_id) == 1
    )


def test_a_result_that_is_being_delivered_cannot_be_cancelled(repository: Path) -> None:
    driver = Driver(job(repository), kill_at="decide:after")
    driver.process.wait()
    job_id = read.list_jobs(state())[0].id
    assert not cancel(state(), job_id)
    settle()
    outcome = read.get_outcome(state(), job_id)
    assert outcome is not None and outcome.verdict == "accepted" and branch(repository, job_id)


def change_workflow(sql: str) -> None:
    with closing(sqlite3.connect(state().database, isolation_level=None)) as connection:
        connection.execute(sql)


def test_a_workflow_of_another_program_ends_as_environment_lost_with_its_files_kept(repository: Path) -> None:
    driver = Driver(job(repository), kill_at="gate:before")
    driver.process.wait()
    job_id = read.list_jobs(state())[0].id
    change_workflow("update workflow_status set name = 'job.v9'")
    assert settle() == []
    outcome = read.get_outcome(state(), job_id)
    assert outcome is not None and (outcome.verdict, outcome.reason) == ("failed", "environment_lost")
    assert "job.v9" in outcome.detail and state().attempt(f"{job_id}.a1").workspace.exists()
    assert settle() == [] and outcomes(job_id) == 1


def test_a_job_that_kills_its_drivers_is_given_up(repository: Path) -> None:
    Driver(job(repository), kill_at="gate:before").process.wait()
    job_id = read.list_jobs(state())[0].id
    change_workflow(
        "insert into event (job, seq, at, kind, data) select job.id, 1000 + n.value, '', 'taken_over', '{}'"
        " from job, json_each('[1,2,3,4,5,6,7,8,9,10]') n"
    )
    assert settle() == []
    outcome = read.get_outcome(state(), job_id)
    assert outcome is not None and outcome.reason == "internal_error" and "given up" in outcome.detail


LONG = f"60.{os.getpid()}"  # seconds; no other test sleeps exactly that long


@pytest.fixture
def checking(repository: Path):
    """A driver whose job is in the middle of a long check."""
    driver = Driver(job(repository, checks=[{"name": "long", "command": f"test -e README.md && sleep {LONG}"}]))
    try:
        eventually(sleeping)
        yield driver
    finally:
        driver.kill()


def sleeping() -> list[str]:
    """Processes that sleep for ``LONG``."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if Path("/proc", pid, "cmdline").read_bytes() == f"sleep\0{LONG}\0".encode():
                found.append(pid)
    return found


def test_a_cancel_during_a_check_does_not_wait_for_it(checking: Driver) -> None:
    assert cancel(state(), read.list_jobs(state())[0].id)
    outcome = checking.wait(50)
    assert (outcome["verdict"], outcome["reason"]) == ("cancelled", "cancelled_by_user")
    assert "patch" in outcome["artifacts"] and not sleeping()


def test_a_check_that_runs_when_its_driver_dies_dies_with_it(checking: Driver) -> None:
    checking.kill()
    eventually(lambda: not sleeping(), 20)


@pytest.fixture
def setting_up(repository: Path):
    """A driver whose job is in the middle of a long set-up command."""
    driver = Driver(job(repository, setup=[f"test -e done || sleep {LONG}"]))
    try:
        eventually(sleeping)
        yield driver
    finally:
        driver.kill()


def test_a_set_up_that_runs_when_its_driver_dies_leaves_nothing(setting_up: Driver) -> None:
    job_id = read.list_jobs(state())[0].id
    setting_up.kill()
    eventually(lambda: not sleeping(), 20)
    assert cancel(state(), job_id)
    settle()
    outcome = read.get_outcome(state(), job_id)
    assert outcome is not None and outcome.verdict == "cancelled"
    assert not list(state().root.glob("repos/*/setup/.new-*"))


def test_a_cancel_during_set_up_does_not_wait_for_it(setting_up: Driver) -> None:
    assert cancel(state(), read.list_jobs(state())[0].id)
    outcome = setting_up.wait(50)
    assert outcome["verdict"] == "cancelled" and not sleeping()
    assert not list(state().root.glob("repos/*/setup/.new-*"))


def test_a_row_without_a_workflow_is_started(repository: Path) -> None:
    Driver(job(repository), kill_at="prepare:before").process.wait()
    job_id = read.list_jobs(state())[0].id
    change_workflow("delete from workflow_status")
    assert settle() == [job_id]
    outcome = read.get_outcome(state(), job_id)
    assert outcome is not None and outcome.verdict == "accepted"
