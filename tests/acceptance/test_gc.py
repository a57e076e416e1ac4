"""``inspan gc`` on real jobs: beside a running one it takes nothing, and after it everything goes but the work."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from runs import inspan, start

pytestmark = pytest.mark.long

BACKEND = ("--backend", "bare@rehearsal/any")
STEPS = 'schema: inspan.rehearsal/1\nsteps:\n  - write: {path: a.txt, content: "kept\\n"}\n  - bash: "sleep 2"\n  - say: done\n'
NONE = '[gc]\nworkspaces = "0s"\nlayers = "0s"\norphans = "0s"\nartifacts = "0s"\n'


def collected(*flags: str) -> dict:
    done = inspan("gc", *flags, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "gc.toml"
    config.write_text(NONE)
    monkeypatch.setenv("INSPAN_CONFIG", str(config))


@pytest.mark.usefixtures("at_once")
def test_beside_a_running_job_and_after_it(repository: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "two-seconds.yaml"
    scenario.write_text(STEPS)
    run = ("run", "x", "--repo", str(repository), *BACKEND, "--rehearse", str(scenario))
    job = start(*run[1:], "--check", "there=test -f a.txt", "--json")
    removed = []
    while job.poll() is None:  # every class has no grace time at all: whatever is not in use goes
        found = collected()["found"]
        removed += [row for row in found if row["removed"] and row["kind"] not in ("artifact", "scratch")]
    out, err = job.communicate()
    document = json.loads(out)
    assert document.get("verdict") == "accepted", out + err + json.dumps(removed)
    assert all(row["kind"] in ("journal", "pristine") for row in removed), removed
    collected()
    home = Path(os.environ["INSPAN_HOME"])
    assert not list(home.glob("attempts/*")) and not list(home.glob("repos/*/pristine/*"))
    # The work is in no branch of the user's: its patch is still there, and a retry starts from it.
    patch = inspan("diff", document["job"])
    assert patch.returncode == 0 and "+kept" in patch.stdout
    assert inspan("show", document["job"]).returncode == 0
    again = inspan("retry", document["job"], "--json")
    assert json.loads(again.stdout)["verdict"] == "accepted", again.stderr


@pytest.mark.usefixtures("at_once")
def test_the_engine_forgets_ended_jobs_and_nothing_starts_again(repository: Path) -> None:
    run = ("run", "x", "--repo", str(repository), *BACKEND, "--rehearse", "write-file", "--json")
    first = json.loads(inspan(*run).stdout)
    assert collected("--dry-run")["forgotten"] == 0
    assert collected()["forgotten"] == 1
    second = json.loads(inspan(*run).stdout)
    assert second["job"] != first["job"] and second["reason"] == first["reason"]
    assert inspan("show", first["job"]).returncode == 0
    assert collected()["forgotten"] == 1
