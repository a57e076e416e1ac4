"""The verbs on real jobs, as a user types them, and the same from Python."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from runs import branches, checkout_digest, environment, inspan, nothing_left, start

import inspan as package
from inspan.errors import UsageError
from inspan.spec.levels import PROMISES

BACKEND = ("--backend", "bare@rehearsal/any")
SLOW = 'schema: inspan.rehearsal/1\nsteps:\n  - write: {path: a.txt, content: "kept\\n"}\n  - bash: "sleep 60"\n  - say: never\n'


@pytest.fixture
def repo(repository: Path) -> Iterator[Path]:
    """After the test the checkout is as it was, and nothing runs."""
    before = checkout_digest(repository)
    yield repository
    assert checkout_digest(repository) == before
    assert nothing_left(Path(os.environ["INSPAN_HOME"])) == []


@pytest.fixture
def slow(tmp_path: Path) -> str:
    path = tmp_path / "slow.yaml"
    path.write_text(SLOW)
    return str(path)


def document(*arguments: str) -> dict:
    done = inspan(*arguments, "--json")
    assert done.returncode in (0, 3, 4), done.stderr
    return json.loads(done.stdout)


def working(process: subprocess.Popen[str] | None = None, deadline: float = 60) -> str:
    """The id of the one job whose agent has written its file."""
    home = Path(os.environ["INSPAN_HOME"])
    end = time.monotonic() + deadline
    while time.monotonic() < end:
        if any(p.read_text() == "kept\n" for p in home.glob("attempts/*/ws/**/a.txt")):
            return document("ps")["jobs"][0]["job"]
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError("the agent never wrote its file")


def test_the_verbs_on_a_finished_job(repo: Path, tmp_path: Path) -> None:
    ran = inspan(
        "run",
        "create hello.txt",
        "--repo",
        str(repo),
        *BACKEND,
        "--rehearse",
        "write-file",
        "--check",
        "there=test -f hello.txt",
    )
    assert ran.returncode == 0, ran.stderr
    assert "accepted  verified" in ran.stdout and "a scripted model stood in" in ran.stdout
    assert "\x1b" not in ran.stdout + ran.stderr and "queued" in ran.stderr
    (row,) = document("ps")["jobs"]
    job = row["job"]
    assert (row["state"], row["driver"], row["prompt"]) == ("accepted", None, "create hello.txt")
    assert job in inspan("ps").stdout

    shown = document("show", job[:8])
    assert shown["outcome"]["verdict"] == "accepted" and shown["spec"]["checks"][0]["name"] == "there"
    assert "accepted  verified" in inspan("show", "@last").stdout

    kinds = [event["kind"] for event in document("logs", job)["events"]]
    assert kinds[0] == "queued" and kinds[-1] == "ended" and "harness" in kinds
    assert "hello.txt" in inspan("logs", job).stdout

    patch = inspan("diff", job).stdout
    assert patch == document("diff", job)["patch"] and "+++ b/hello.txt" in patch
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(repo), str(clone)], check=True)
    subprocess.run(["git", "apply", "-"], cwd=clone, input=patch, text=True, check=True)
    assert (clone / "hello.txt").exists()

    cancelled = inspan("cancel", job)
    assert cancelled.returncode == 2 and "has ended already" in cancelled.stderr
    assert [row for row in document("gc")["found"] if row["goes"]] == []

    again = document("retry", job)
    assert again["verdict"] == "accepted" and again["job"] != job
    assert document("show", again["job"])["retry_of"] == job
    going_on = document("retry", job, "--continue")
    assert going_on["change"]["base"] == again["change"]["base"], "the earlier change is charged again"
    assert len(branches(repo)) == 3


@pytest.mark.parametrize("flags", [(), ("--dirty",)], ids=["commit", "snapshot"])
def test_a_retry_starts_from_the_base_of_the_first_job(repository: Path, flags: tuple[str, ...]) -> None:
    (repository / "draft.txt").write_text("first\n")
    command = ("run", "p", "--repo", str(repository), *BACKEND, "--rehearse", "write-file", "--unchecked", *flags)
    first = document(*command)
    (repository / "draft.txt").write_text("second\n")
    subprocess.run(["git", "-C", repository, "commit", "-q", "--allow-empty", "-m", "the branch moves on"], check=True)
    again = document("retry", first["job"])
    assert again["change"]["base"] == first["change"]["base"] and again["verdict"] == "accepted", again
    anew = document(*command)  # control: asked anew, it starts from the checkout as it is now
    assert anew["change"]["base"] != first["change"]["base"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_and_the_work_is_kept(repo: Path, slow: str, number: signal.Signals) -> None:
    process = start("slow", "--repo", str(repo), *BACKEND, "--rehearse", slow)
    job = working(process)
    process.send_signal(signal.SIGHUP)  # the terminal goes away: no reason to stop
    follower = subprocess.Popen(
        [sys.executable, "-m", "inspan.interfaces.cli", "logs", "-f", job],
        env=environment(), stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    unfinished = inspan("diff", job)
    assert unfinished.returncode == 2 and "has not ended" in unfinished.stderr
    assert process.poll() is None and document("show", job)["outcome"] is None
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    outcome = json.loads(stdout)
    assert (process.returncode, outcome["reason"]) == (130, "cancelled_by_user"), stderr
    assert "+kept" in inspan("diff", job).stdout
    assert branches(repo) == []
    followed, _ = follower.communicate(timeout=30)
    assert follower.returncode == 0 and "ended: cancelled" in followed


def test_detached(repo: Path, slow: str) -> None:
    first = document("run", "slow", "--repo", str(repo), *BACKEND, "--rehearse", slow, "--detach")
    assert first["state"] == "queued" and working() == first["job"]
    assert "cancelling" in inspan("cancel", first["job"]).stdout
    assert inspan("logs", "-f", first["job"]).returncode == 0
    assert document("show", first["job"])["outcome"]["verdict"] == "cancelled"
    refused = inspan("run", "x", "--repo", str(repo), "--backend", "bare@rehearsal/m", "--detach")
    assert refused.returncode == 2 and "--rehearse" in refused.stderr


def test_a_read_only_job_prints_its_answer(repo: Path) -> None:
    done = inspan("run", "why?", "--repo", str(repo), *BACKEND, "--rehearse", "text-only", "--read-only")
    assert done.returncode == 0 and "no_change  answered" in done.stdout
    answer = done.stdout.strip().splitlines()[-1]
    assert answer and answer in inspan("show", "@last").stdout


def test_configuration_of_the_repository_is_used_and_frozen(repo: Path, tmp_path: Path) -> None:
    clone = tmp_path / "configured"
    subprocess.run(["git", "clone", "-q", str(repo), str(clone)], check=True)
    (clone / "test_x.py").write_text("import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self): pass\n")
    made = document("init", "--repo", str(clone))
    assert [c["command"] for c in made["checks"]] == ["python3 -m unittest -q"]
    assert inspan("init", "--repo", str(clone)).returncode == 2
    settings = document("config", "--repo", str(clone))["settings"]
    assert settings["checks"]["origin"] == str(clone / "inspan.toml")
    effective = {k: settings[k]["value"] for k in ("timeout", "stall", "deliver")}
    assert effective == {"timeout": 3600, "stall": 600, "deliver": "branch"}
    for args in (["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run(["git", *args], cwd=clone, check=True)
    outcome = document("run", "x", "--repo", str(clone), *BACKEND, "--rehearse", "write-file")
    assert [c["name"] for c in outcome["checks"]] == ["unittest"]


def test_doctor_and_harnesses(repo: Path) -> None:
    os.environ["OPENAI_API_KEY"] = "sk-doctor-canary-0123456789"
    try:
        done = inspan("doctor", "--json")
        people = inspan("doctor")
    finally:
        del os.environ["OPENAI_API_KEY"]
    found = json.loads(done.stdout)
    assert found["ready"] is True and {level["level"] for level in found["levels"]} == {*PROMISES}
    assert {"provider": "openai", "variable": "OPENAI_API_KEY", "present": True} in found["credentials"]
    assert "canary" not in done.stdout + done.stderr + people.stdout + people.stderr
    assert not Path(os.environ["INSPAN_HOME"]).exists(), "the doctor changes nothing"
    assert "bare" in {row["name"] for row in document("harness", "list")["harnesses"]}


def test_the_doctor_says_what_a_job_would_be_refused_for(tmp_path: Path) -> None:
    (tmp_path / "newer").mkdir()
    with sqlite3.connect(tmp_path / "newer" / "inspan.db") as database:
        database.execute("pragma user_version = 99")
    (tmp_path / "file").touch()
    for place, words in (("newer", "newer Inspan"), ("file", "no directory")):
        done = inspan("doctor", "--json", env=environment(INSPAN_HOME=str(tmp_path / place)))
        found = json.loads(done.stdout)
        assert done.returncode == 1 and words in found["state"]["problem"] and not found["ready"], found


def test_from_python(repo: Path) -> None:
    job = package.Job(
        prompt="create hello.txt", repo=str(repo), backend="bare@rehearsal/any", rehearse="write-file",
        checks=(package.Check(name="there", command="test -f hello.txt"),),
    )  # fmt: skip
    run = package.run(job)
    kinds = [event.kind for event in run]
    outcome = run.outcome()
    assert isinstance(outcome, package.Outcome) and outcome.verdict == "accepted" and outcome.job == run.job
    assert kinds[0] == "queued" and "harness" in kinds
    assert [event.kind for event in run] == kinds, "events can be read again"
    with pytest.raises(UsageError, match="bad backend"):
        package.run(package.Job(prompt="x", repo=str(repo), backend="nonsense"))


def test_from_python_the_engine_stays_out_of_the_callers_process(repo: Path) -> None:
    caller = (
        "import sys, inspan\n"
        "job = inspan.Job(prompt='x', repo=sys.argv[1], backend='bare@rehearsal/any', rehearse='write-file')\n"
        "print(inspan.run(job).outcome(60).verdict, 'dbos' in sys.modules, 'sqlalchemy' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", caller, str(repo)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["unverified", "False", "False"]


def test_from_python_waiting_and_cancelling(repo: Path, slow: str) -> None:
    run = package.run(package.Job(prompt="x", repo=str(repo), backend="bare@rehearsal/any", rehearse=slow))
    with pytest.raises(TimeoutError):
        run.outcome(timeout=0.1)
    assert working() == run.job
    run.cancel()
    assert run.outcome(timeout=60).verdict == "cancelled"
    run.cancel()


def test_a_module_of_the_repository_never_shadows_ours(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child is started in the current directory, which may be a repository with a ``json.py`` of its own."""
    (tmp_path / "json.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    control = subprocess.run(
        [sys.executable, "-m", "inspan.interfaces.child"], input=b"", capture_output=True, check=False
    )
    assert (tmp_path / "ran").exists(), control  # without -P it is imported
    (tmp_path / "ran").unlink()
    package.run(package.Job(prompt="x", repo=str(repo), backend="bare@rehearsal/any", rehearse="text-only")).outcome(60)
    assert not (tmp_path / "ran").exists()
