"""Whole jobs on set-up layers: whose job uses which, what makes set-up run again, and what a touched layer does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from attempts import require

from inspan.spec.paths import state
from inspan.store import read
from support.driving import Driver, job

VENV = "python3 -m venv --without-pip .venv"


def scenario(*commands: str) -> str:
    steps = "".join(f"  - bash: {command!r}\n" for command in commands)
    return f"schema: inspan.rehearsal/1\nname: mine\nsteps:\n{steps}  - say: 'Done.'\n"


def commit(repo: Path, script: str) -> None:
    subprocess.run(f"{script}\ngit add -A && git commit -qm x", shell=True, cwd=repo, check=True, capture_output=True)


def run(repo: Path, *commands: str, check: str = "true", **fields: object) -> tuple[dict, list[tuple[str, object]]]:
    """The outcome, and what set-up did: a number for each command that ran, ``why`` where it ran again."""
    checks = [{"name": "it", "command": check}]
    outcome = Driver(job(repo, scenario(*commands or ("touch x",)), checks=checks, sandbox="sandbox") | fields).wait()
    told = [e for e in read.events_since(state(), outcome["job"]) if e.kind in ("setup", "setup_widened")]
    return outcome, [(e.kind, e.data.get("number", e.data.get("why"))) for e in told]


def layers() -> list[str]:
    return sorted(p.name for p in state().root.glob("repos/*/setup/*") if not p.name.startswith((".lock", ".unfit")))


@pytest.mark.long
@pytest.mark.parametrize("level", ["none", "landlock", "sandbox", "gvisor"])
def test_a_later_base_with_the_same_inputs_uses_the_layer(repository: Path, level: str) -> None:
    require(level, repository.parent)
    fields = {
        "sandbox": level,
        "setup": [VENV],
        "check": ".venv/bin/python -c 'import sys; assert sys.prefix.endswith(\".venv\")'",
    }
    first, ran = run(repository, **fields)
    assert first["verdict"] == "accepted" and ran == [("setup", 1)], first
    commit(repository, "echo more > more.py; ls > names.txt")
    second, ran = run(repository, "cat more.py > x", **fields)
    assert second["verdict"] == "accepted" and ran == [] and len(layers()) == 1, second
    commit(repository, "echo 3.12 > .python-version")
    assert run(repository, **fields)[1] == [("setup", 1)], "control: an input that differs is another layer"


@pytest.mark.long
def test_commands_after_the_known_ones_run_for_every_base_on_a_copy(repository: Path) -> None:
    fields = {"setup": [VENV, "cp names.txt .venv/names.txt"], "check": "cmp names.txt .venv/names.txt"}
    commit(repository, "echo 1 > names.txt")
    first, ran = run(repository, **fields)
    assert first["verdict"] == "accepted" and ran == [("setup", 1), ("setup", 2)], first
    assert run(repository, **fields)[1] == []
    commit(repository, "echo 2 > names.txt")
    second, ran = run(repository, **fields)
    assert second["verdict"] == "accepted" and ran == [("setup", 2)], "never another base's files"
    assert len(layers()) == 3


@pytest.mark.long
def test_commands_that_want_more_than_they_were_shown_see_the_whole_base(repository: Path) -> None:
    commit(
        repository, "printf 'mkdir made; cp lock.txt made/' > tool.sh; echo 1 > lock.txt;"
        " printf 'setup = [\"sh tool.sh\"]\\nsetup_inputs = [\"lock.txt\"]\\n' > inspan.toml",
    )  # fmt: skip
    fields = {"setup": ["sh tool.sh"], "check": "cmp lock.txt made/lock.txt"}
    first, ran = run(repository, **fields)
    assert first["verdict"] == "accepted" and [kind for kind, _ in ran] == ["setup", "setup_widened", "setup"], ran
    commit(repository, "echo other > other.txt")
    second, ran = run(repository, **fields)
    assert second["verdict"] == "accepted" and ran == [("setup", 1)], "tried once, and remembered"


@pytest.mark.long
def test_what_the_configuration_names_is_what_set_up_sees_and_what_decides(repository: Path) -> None:
    commit(
        repository, "echo 1 > lock.txt; printf 'setup = [\"ls -A > seen.txt; cp lock.txt made.txt\"]\\n"
        "setup_inputs = [\"lock.txt\"]\\n' > inspan.toml",
    )  # fmt: skip
    fields = {"setup": ["ls -A > seen.txt; cp lock.txt made.txt"], "check": "cmp lock.txt made.txt"}
    first, ran = run(repository, "cp seen.txt copy", **fields)
    patch = read.artifact(state(), first["artifacts"]["patch"]).decode()
    assert first["verdict"] == "accepted" and "+lock.txt\n" in patch and "README" not in patch
    commit(repository, "echo other > other.txt")
    assert run(repository, "echo y > other.txt", **fields)[1] == [], "another file makes nothing run again"
    changed, ran = run(repository, "echo 2 > lock.txt", **fields)
    assert changed["verdict"] == "accepted" and ran == [("setup", 1)], "the checks stand on the result's inputs"
    assert len(layers()) == 1, "what was made from the agent's file is gone"


@pytest.mark.long
def test_an_installed_copy_of_the_base_is_not_what_is_checked(repository: Path) -> None:
    """``pip install .``: the check finds the package in the environment, never in the tree."""
    commit(repository, "mkdir pkg; (seq 40 | sed 's/^/# /'; echo 'good = True') > pkg/__init__.py")
    fields = {
        "setup": ["mkdir -p .site && cp -r pkg .site/"],
        "check": "cd / && PYTHONPATH=$OLDPWD/.site python3 -c 'import pkg; assert pkg.good'",
    }
    broken, ran = run(repository, "echo 'good = False' >> pkg/__init__.py", **fields)
    assert (broken["verdict"], broken["reason"]) == ("rejected", "checks_failed") and ran == [("setup", 1)] * 2, broken
    right, ran = run(repository, "echo 'fine = True' >> pkg/__init__.py", **fields)
    assert right["verdict"] == "accepted" and ran == [("setup", 1)]


@pytest.mark.long
def test_a_layer_that_changes_while_a_job_runs_gives_no_evidence(repository: Path) -> None:
    """At level none the agent can write into the state directory; what it plants is seen, and gone for the next job."""
    fields = {"setup": ["mkdir -p .site && echo clean > .site/f"], "sandbox": "none", "check": "grep -q clean .site/f"}
    assert run(repository, **fields)[0]["verdict"] == "accepted"
    plant = f"for f in {state().root}/repos/*/setup/*/layer/.site/f; do echo planted clean > $f; done; touch x"
    poisoned, ran = run(repository, plant, **fields)
    assert (poisoned["verdict"], poisoned["reason"]) == ("failed", "environment_lost") and ran == [], poisoned
    after, ran = run(repository, "cp .site/f x", **fields)
    assert after["verdict"] == "accepted" and ran == [("setup", 1)]
    assert "planted" not in read.artifact(state(), after["artifacts"]["patch"]).decode()


@pytest.mark.long
def test_of_two_jobs_at_once_one_makes_the_layer(repository: Path) -> None:
    fields = {"setup": ["sleep 3; date +%s%N > made.txt"], "sandbox": "sandbox"}
    drivers = [Driver(job(repository, scenario("cp made.txt x"), checks=[], unchecked=True) | fields) for _ in range(2)]
    outcomes = [driver.wait() for driver in drivers]
    kinds = [e.kind for o in outcomes for e in read.events_since(state(), o["job"])]
    assert kinds.count("setup") == 1 and [o["verdict"] for o in outcomes] == ["accepted"] * 2
    patches = {read.artifact(state(), o["artifacts"]["patch"]) for o in outcomes}
    assert len(patches) == 1 and len(layers()) == 1
