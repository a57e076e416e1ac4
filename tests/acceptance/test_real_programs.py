"""Claude Code, Codex and ``bare``, each inside the sandbox against the rehearsal provider, with no network.

The same scenarios run on all three, so that what is shown is shown on real programs and not only on ours.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from runs import (
    HARNESSES,
    branches,
    checkout_digest,
    environment,
    inspan,
    interrupt,
    make_repository,
    nothing_left,
    run,
    start,
)

from inspan.sandbox.levels import probe

PROGRAMS = ("bare", "claude-code", "codex")
CALC = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
TEST = """import unittest

from src.calc import add


class Add(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)

    def test_zero(self):
        self.assertEqual(add(0, 0), 0)
"""
UNIT = "unit=python3 -m unittest -q"
ONE_OF_EACH = ["bare", *(pytest.param(p, marks=[pytest.mark.real, pytest.mark.long]) for p in PROGRAMS[1:])]
"""For what hardly depends on the program: the ordinary run shows it with the small one."""


@pytest.fixture(params=[pytest.param(p, marks=[] if p == "bare" else pytest.mark.real) for p in PROGRAMS])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A harness that is really there; NORUN with the reason otherwise."""
    name: str = request.param
    if name != "bare":
        if not (HARNESSES / name).is_dir():
            pytest.skip(f"NORUN: {name} is not installed in {HARNESSES.name} (scripts/install-harnesses says why)")
        state = Path(os.environ["INSPAN_HOME"])
        state.mkdir(parents=True, exist_ok=True)
        (state / "harness").symlink_to(HARNESSES)
    proof = probe("sandbox", str(tmp_path))
    if not proof.available:
        pytest.skip(f"NORUN: no sandbox here: {proof.detail}")
    return name


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Path]:
    """A repository with a bug and its failing test; after the test it must be as it was and nothing may run."""
    made = make_repository(
        tmp_path / "repo",
        {
            "src/__init__.py": "",
            "src/calc.py": CALC,
            "tests/__init__.py": "",
            "tests/test_calc.py": TEST,
            "README.md": "hi\n",
        },
    )
    before = checkout_digest(made)
    yield made
    assert checkout_digest(made) == before, "the user's checkout was touched"
    assert nothing_left(Path(os.environ["INSPAN_HOME"])) == []


def rehearse(tmp_path: Path, steps: str) -> str:
    """A scenario file with these YAML steps."""
    path = tmp_path / "scenario.yaml"
    path.write_text(f"schema: inspan.rehearsal/1\nsteps:\n{steps}\n")
    return str(path)


def _backend(program: str) -> str:
    return f"{program}@rehearsal/any"


def test_write_file_with_a_check_is_accepted(program: str, repo: Path) -> None:
    result = run(
        "create hello.txt", "--repo", str(repo), "--backend", _backend(program), "--rehearse", "write-file",
        "--check", "there=test -f hello.txt",
    )  # fmt: skip
    outcome = result.document
    assert (result.status, outcome["verdict"], outcome["reason"]) == (0, "accepted", "verified"), result
    assert [f["path"] for f in outcome["change"]["files"]] == ["hello.txt"]
    assert outcome["usage"]["source"] == "gateway"
    assert outcome["usage"]["requests"] >= 2
    assert outcome["usage"]["input"] == 100 * outcome["usage"]["requests"]
    assert outcome["isolation"]["sandbox"] == "sandbox" and outcome["isolation"]["proved"] is True
    assert outcome["rehearsal"] == "write-file" and outcome["backend"]["provider"] == "rehearsal"
    assert branches(repo) == [f"refs/heads/inspan/{outcome['job']}"]


def test_write_file_without_a_check_is_unverified(program: str, repo: Path) -> None:
    result = run("create hello.txt", "--repo", str(repo), "--backend", _backend(program), "--rehearse", "write-file")
    outcome = result.document
    assert (result.status, outcome["verdict"], outcome["reason"]) == (4, "unverified", "no_suite"), result
    assert [f["path"] for f in outcome["change"]["files"]] == ["hello.txt"]
    assert branches(repo) == [f"refs/heads/inspan/{outcome['job']}"]


def test_an_honest_fix_is_accepted(program: str, repo: Path, tmp_path: Path) -> None:
    steps = f"  - write: {{path: src/calc.py, content: {FIXED!r}}}\n  - say: fixed".replace("'", '"')
    result = run(
        "fix add", "--repo", str(repo), "--backend", _backend(program), "--rehearse", rehearse(tmp_path, steps),
        "--scope", "src/**", "--check", UNIT,
    )  # fmt: skip
    assert (result.status, result.document["reason"]) == (0, "verified"), result
    check = result.document["checks"][0]
    assert (check["evidence"], check["base"], check["state"]) == ("tests", "failed", "passed")


@pytest.mark.parametrize("committed", [False, True], ids=["written", "committed"])
def test_an_out_of_scope_write_is_rejected(program: str, repo: Path, tmp_path: Path, committed: bool) -> None:
    steps = f"  - write: {{path: src/calc.py, content: {FIXED!r}}}".replace("'", '"')
    steps += '\n  - write: {path: other.txt, content: "more\\n"}'
    if committed:
        steps += '\n  - bash: "git add -A && git commit -qm done"'
    result = run(
        "fix add", "--repo", str(repo), "--backend", _backend(program), "--rehearse", rehearse(tmp_path, steps + "\n  - say: done"),
        "--scope", "src/**", "--check", UNIT,
    )  # fmt: skip
    outcome = result.document
    assert (result.status, outcome["verdict"], outcome["reason"]) == (3, "rejected", "out_of_scope"), result
    assert [v["path"] for v in outcome["violations"] if v["level"] == "reject"] == ["other.txt"]
    assert {f["path"] for f in outcome["change"]["files"]} == {"other.txt", "src/calc.py"}
    assert branches(repo) == []
    assert outcome["artifacts"]["patch"].startswith("sha256:")


def test_a_weakened_test_is_rejected(program: str, repo: Path, tmp_path: Path) -> None:
    steps = "  - bash: \"sed -i 's/assertEqual(add(2, 3), 5)/assertTrue(add(2, 3))/' tests/test_calc.py\"\n  - say: all green"
    result = run(
        "make the tests pass", "--repo", str(repo), "--backend", _backend(program), "--rehearse", rehearse(tmp_path, steps),
        "--check", UNIT,
    )  # fmt: skip
    assert (result.status, result.document["verdict"]) == (3, "rejected"), result
    assert "checks_weakened" in result.document["reasons"], result
    assert branches(repo) == []


def test_a_write_in_a_read_only_job_does_not_happen(program: str, repo: Path, tmp_path: Path) -> None:
    steps = '  - bash: "echo no > written.txt; true"\n  - say: The bug is in add().'
    result = run(
        "where is the bug?", "--repo", str(repo), "--backend", _backend(program), "--rehearse", rehearse(tmp_path, steps),
        "--read-only",
    )  # fmt: skip
    outcome = result.document
    assert (result.status, outcome["verdict"], outcome["reason"]) == (0, "no_change", "answered"), result
    assert outcome["change"]["files"] == []
    assert branches(repo) == []


def test_a_loop_stalls_and_keeps_its_work(program: str, repo: Path, tmp_path: Path) -> None:
    steps = '  - write: {path: src/calc.py, content: "changed\\n"}\n  - bash: "true"\nthen: loop\npace: 0.1'
    result = run(
        "loop", "--repo", str(repo), "--backend", _backend(program), "--rehearse", rehearse(tmp_path, steps),
        "--stall", "4", "--timeout", "90",
    )  # fmt: skip
    outcome = result.document
    assert (result.status, outcome["verdict"], outcome["reason"]) == (1, "failed", "stalled"), result
    assert branches(repo) == []
    assert [f["path"] for f in outcome["change"]["files"]] == ["src/calc.py"]
    assert {"patch", "transcript"} <= set(outcome["artifacts"])


def test_a_hanging_model_ends_at_the_deadline(program: str, repo: Path) -> None:
    result = run(
        "hang", "--repo", str(repo), "--backend", _backend(program), "--rehearse", "hang", "--stall", "3", "--timeout", "10",
    )  # fmt: skip
    assert (result.status, result.document["reason"]) == (1, "deadline"), result
    assert branches(repo) == []


def test_a_cancel_ends_the_job_and_keeps_the_work(program: str, repo: Path, tmp_path: Path) -> None:
    steps = '  - write: {path: src/calc.py, content: "changed\\n"}\n  - bash: "sleep 100"\n  - say: never'
    process = start(
        "slow", "--repo", str(repo), "--backend", _backend(program), "--rehearse", rehearse(tmp_path, steps), "--timeout", "120",
    )  # fmt: skip
    end = time.monotonic() + 60
    while time.monotonic() < end:
        upper = list(Path(os.environ["INSPAN_HOME"]).glob("attempts/*/ws/**/src/calc.py"))
        if any(path.read_text() == "changed\n" for path in upper):
            break
        time.sleep(0.1)
    else:
        process.kill()
        pytest.fail("the agent never wrote its file")
    interrupt(process)
    stdout, stderr = process.communicate(timeout=60)
    import json

    outcome = json.loads(stdout)
    assert (process.returncode, outcome["verdict"], outcome["reason"]) == (130, "cancelled", "cancelled_by_user"), (
        stderr
    )
    assert [f["path"] for f in outcome["change"]["files"]] == ["src/calc.py"]
    assert "patch" in outcome["artifacts"]
    assert branches(repo) == []


ERRORS = {
    "error-401": "auth",
    "error-429": "rate_limited",
    "error-429-quota": "out_of_credits",
    "error-400-context": "context_length",
    "error-500": "provider_error",
    "drop": "network",
}


@pytest.mark.parametrize("scenario", sorted(ERRORS))
def test_an_error_carries_its_reason_whatever_the_exit_status(program: str, repo: Path, scenario: str) -> None:
    result = run(
        "create hello.txt", "--repo", str(repo), "--backend", _backend(program), "--rehearse", scenario, "--timeout", "60",
        "--check", "there=test -f hello.txt",
    )  # fmt: skip
    outcome = result.document
    assert outcome["reason"] == ERRORS[scenario], result
    assert outcome["verdict"] in ("failed", "parked")
    assert outcome["usage"]["requests"] <= 6, "retries inside the harness are bounded by our knob"
    assert branches(repo) == []


@pytest.mark.parametrize("program", ONE_OF_EACH, indirect=True)
def test_a_slow_stream_is_not_a_stall(program: str, repo: Path) -> None:
    result = run(
        "create hello.txt", "--repo", str(repo), "--backend", _backend(program), "--rehearse", "slow-stream", "--stall", "2",
        "--timeout", "90",
    )  # fmt: skip
    assert result.document["reason"] not in ("stalled", "deadline"), result


def test_text_only_is_rejected(program: str, repo: Path) -> None:
    result = run("talk", "--repo", str(repo), "--backend", _backend(program), "--rehearse", "text-only")
    assert (result.status, result.document["reason"]) == (3, "text_only"), result


@pytest.mark.parametrize("program", ONE_OF_EACH, indirect=True)
def test_cancel_from_another_process(program: str, repo: Path) -> None:
    process = start(
        "hang", "--repo", str(repo), "--backend", _backend(program), "--rehearse", "hang", "--timeout", "90"
    )
    end = time.monotonic() + 40
    job = None
    while job is None and time.monotonic() < end:
        import json

        done = inspan("ps", "--json", env=environment())
        jobs = json.loads(done.stdout)["jobs"] if done.returncode == 0 and done.stdout else []
        job = next((j["job"] for j in jobs if j["state"] == "running"), None)
        time.sleep(0.2)
    assert job, "ps never showed the running job"
    assert inspan("cancel", job).returncode == 0
    process.communicate(timeout=60)
    assert process.returncode == 130
