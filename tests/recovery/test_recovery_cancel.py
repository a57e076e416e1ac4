"""Cancelling: from another process, with a dead driver, too late, and against a result that comes in later."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from driving import SLOW, Driver, branch, eventually, job, leftovers, outcomes, running_attempt, settle

from inspan.engine.background import detach
from inspan.engine.cancel import cancel
from inspan.errors import UnknownName
from inspan.spec.decode import convert
from inspan.spec.job import Job
from inspan.spec.paths import state
from inspan.spec.validate import validated
from inspan.store import read


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
    assert cancel(state(), job_id)  # this alone ends it: a driver is started for it
    outcome = eventually(lambda: read.get_outcome(state(), job_id))
    assert outcome.verdict == "cancelled" and "patch" in outcome.artifacts and branch(repository, job_id) is None
    eventually(lambda: not leftovers())


@pytest.mark.parametrize("place", ["collect:before", "gate:after", "decide:before"])
def test_a_cancel_before_the_decision_beats_a_finished_result(repository: Path, place: str) -> None:
    driver = Driver(job(repository), kill_at=place)
    driver.process.wait()
    job_id = read.list_jobs(state())[0].id
    assert cancel(state(), job_id)
    outcome = eventually(lambda: read.get_outcome(state(), job_id))
    assert outcome.verdict == "cancelled" and branch(repository, job_id) is None and outcomes(job_id) == 1


def test_a_result_that_is_being_delivered_cannot_be_cancelled(repository: Path) -> None:
    driver = Driver(job(repository), kill_at="decide:after")
    driver.process.wait()
    job_id = read.list_jobs(state())[0].id
    assert not cancel(state(), job_id)
    settle()
    outcome = read.get_outcome(state(), job_id)
    assert outcome is not None and outcome.verdict == "accepted" and branch(repository, job_id)


def test_cancelling_a_job_nobody_knows() -> None:
    with pytest.raises(UnknownName):
        cancel(state(), "j00000000000")


def test_a_detached_job_goes_on_by_itself(repository: Path) -> None:
    began = time.monotonic()
    spec = validated(convert(job(repository, SLOW), Job, "job"))
    job_id = detach(spec, state=state())
    row = read.get_job(state(), job_id)
    assert row is not None and (row.ended is None or time.monotonic() - began > 2)
    outcome = eventually(lambda: read.get_outcome(state(), job_id))
    assert outcome.verdict == "accepted"


def test_what_is_wrong_with_a_detached_job_is_said_at_once(repository: Path) -> None:
    spec = convert(job(repository, backend="bear@rehearsal/any"), Job, "job")
    with pytest.raises(UnknownName, match="bear") as caught:
        detach(spec, state=state())
    assert caught.value.do and "bare" in caught.value.do
    assert read.list_jobs(state()) == []


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


def test_a_row_without_a_workflow_is_started(repository: Path) -> None:
    Driver(job(repository), kill_at="prepare:before").process.wait()
    job_id = read.list_jobs(state())[0].id
    change_workflow("delete from workflow_status")
    assert settle() == [job_id]
    outcome = read.get_outcome(state(), job_id)
    assert outcome is not None and outcome.verdict == "accepted"
