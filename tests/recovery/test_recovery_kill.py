"""kill -9 of the driver at every boundary of every stage: the next command ends the job as if nothing had happened."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from inspan.engine.job import STAGES
from inspan.spec.paths import State, state
from inspan.store import read
from support.driving import Driver, branch, eventually, job, leftovers, outcomes, runner_starts, settle

PLACES = [f"{stage}:{side}" for stage in STAGES for side in ("before", "after", "done")]
AT_ONCE = 4


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory):
    """Some drivers side by side on one state, each killed at its place; then one command that takes over all of them.

    The killed ones take over from each other too, so a job may lose more than one driver.
    """
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("killed")
        repo = home / "repo"
        for args in (
            ["init", "-q", "-b", "main", str(repo)],
            ["-C", str(repo), "commit", "-q", "--allow-empty", "-mbase"],
        ):
            subprocess.run(["git", *args], check=True)
        found: dict[str, tuple[State, str]] = {}
        for first in range(0, len(PLACES), AT_ONCE):
            patch.setenv("INSPAN_HOME", str(home / f"state{first}"))
            places = PLACES[first : first + AT_ONCE]
            drivers = [Driver(job(repo, prompt=f"killed at {place}"), kill_at=place) for place in places]
            for driver in drivers:
                driver.process.communicate(timeout=120)
                assert driver.process.returncode == -9
            settle()
            for row in read.list_jobs(state()):
                found[row.spec.prompt.removeprefix("killed at ")] = (state(), row.id)
        yield repo, found


@pytest.mark.parametrize("place", PLACES)
def test_a_driver_killed_there_is_followed_by_one_that_ends_the_job(killed, monkeypatch, place: str) -> None:
    repo, found = killed
    at, job_id = found[place]
    monkeypatch.setenv("INSPAN_HOME", str(at.root))
    outcome = read.get_outcome(at, job_id)
    assert outcome is not None and (outcome.verdict, outcome.reason) == ("accepted", "verified"), outcome
    assert [f.path for f in outcome.change.files] == ["starts.txt"]
    assert outcomes(job_id) == 1 and runner_starts(job_id) == 1
    assert branch(repo, job_id) == outcome.delivery.commit
    assert not at.attempt(f"{job_id}.a1").workspace.exists(), "the workspace was given back"
    assert set(outcome.artifacts) >= {"patch", "changes", "transcript"}


def test_every_place_was_reached_and_nothing_is_left(killed, monkeypatch) -> None:
    _, found = killed
    assert sorted(found) == sorted(PLACES) and len(PLACES) == 24
    for at in {at for at, _ in found.values()}:
        monkeypatch.setenv("INSPAN_HOME", str(at.root))
        eventually(lambda: not leftovers())
        assert [p.name for p in at.executors.iterdir() if p.suffix == ".lock"] == []
        assert all(row.ended for row in read.list_jobs(at))


def test_without_a_kill_the_seam_does_nothing(repository: Path) -> None:
    outcome = Driver(job(repository), kill_at="nowhere:before").wait()
    assert outcome["verdict"] == "accepted"
