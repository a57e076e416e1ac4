"""Whole jobs at level ``gvisor``: real programs in a guest, its ends, and what is left of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from runs import HARNESSES, branches, environment, make_repository, nothing_left, run
from stubs import DONE, EDIT, FIXED, FOREVER, START, Job, Stubs, ended, files
from test_hostile_jobs import ACCEPTED, LIMITS, ROWS

import sandbox_jobs as jobs

pytestmark = pytest.mark.long
LEVEL = "gvisor"
HOST = Path("/proc/version").read_text(encoding="utf-8").strip()


@pytest.fixture
def stubs(tmp_path: Path) -> Iterator[Stubs]:
    jobs.require(LEVEL)
    made = Stubs(tmp_path, LEVEL)
    yield made
    made.close()


@pytest.mark.parametrize(
    "program", ["bare", *(pytest.param(name, marks=pytest.mark.real) for name in ("claude-code", "codex"))]
)
def test_a_real_program_works_in_a_guest(program: str, tmp_path: Path) -> None:
    jobs.require(LEVEL)
    state = Path(os.environ["INSPAN_HOME"])
    if program != "bare":
        if not (HARNESSES / program).is_dir():
            pytest.skip(f"NORUN: {program} is not installed in {HARNESSES.name} (scripts/install-harnesses says why)")
        state.mkdir(parents=True, exist_ok=True)
        (state / "harness").symlink_to(HARNESSES)
    repo = make_repository(tmp_path / "repo", {"a.txt": "a\n"})
    result = run(
        "create hello.txt", "--repo", str(repo), "--backend", f"{program}@rehearsal/any", "--rehearse", "write-file",
        "--check", "there=test -f hello.txt", "--sandbox", LEVEL, timeout=280,
    )  # fmt: skip
    assert ended(result) == (0, "accepted", "verified"), result
    assert files(result) == ["hello.txt"]
    isolation = result.document["isolation"]
    assert (isolation["sandbox"], isolation["proved"]) == (LEVEL, True)
    proof = isolation["proof"]
    assert proof["host_kernel"] == HOST != proof["guest_kernel"] and proof["platform"] in ("systrap", "ptrace")
    assert result.document["usage"]["requests"] >= 2  # by the gateway's listener, from inside
    assert branches(repo) == [f"refs/heads/inspan/{result.document['job']}"]
    assert nothing_left(state) == []


def test_a_minimum_above_the_default_is_what_auto_then_takes(tmp_path: Path) -> None:
    jobs.require(LEVEL)
    repo = make_repository(tmp_path / "repo", {"a.txt": "a\n"})
    given = ("create hello.txt", "--repo", str(repo), "--backend", "bare@rehearsal/any", "--rehearse", "write-file")
    demanded = run(*given, env={"INSPAN_MIN_SANDBOX": LEVEL}, timeout=280)
    assert demanded.document["isolation"]["sandbox"] == LEVEL
    assert "guest_kernel" in demanded.document["isolation"]["proof"]
    plain = run(*given)
    assert plain.document["isolation"]["sandbox"] == "sandbox"  # control: auto alone ends at the default
    weaker = run(*given, "--sandbox", "sandbox", env={"INSPAN_MIN_SANDBOX": LEVEL})
    assert (weaker.status, weaker.document["reason"]) == (1, "sandbox_unavailable")


NO_RUNSC = (
    "import sys; import inspan.sandbox.runsc as r; r.candidates = lambda: ('/no/such/runsc',); "
    "from inspan.interfaces.cli import main; sys.exit(main())"
)


def test_without_runsc_the_level_is_refused_and_its_package_named(tmp_path: Path) -> None:
    jobs.require("sandbox")
    repo = make_repository(tmp_path / "repo", {"a.txt": "a\n"})
    backend = ("--backend", "bare@rehearsal/any", "--rehearse", "write-file", "--sandbox", LEVEL)
    done = subprocess.run(
        [sys.executable, "-c", NO_RUNSC, "run", "x", "--repo", str(repo), *backend],
        env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1 and "no runsc (gVisor) on PATH" in said and "install runsc" in said, said
    assert not list(Path(os.environ["INSPAN_HOME"]).glob("attempts/*"))


def test_a_deadline_ends_guest_and_job(stubs: Stubs) -> None:
    result = stubs.run([START, EDIT, FOREVER], "--timeout", "25", *FIXED)
    assert result.document["reason"] == "deadline", result
    assert result.document["isolation"]["sandbox"] == LEVEL
    assert stubs.left() == []


def test_a_cancelled_job_ends_guest_and_job(stubs: Stubs) -> None:
    result = stubs.cancelled([START, EDIT, FOREVER])
    assert (result.status, result.document["verdict"]) == (130, "cancelled"), result
    assert stubs.left() == []


def test_what_a_job_left_running_is_named(stubs: Stubs) -> None:
    result = stubs.run([START, EDIT, {"run": "(setsid sleep 4321 <&- >&- 2>&- &)"}, DONE], *FIXED)
    assert ended(result) == (0, "accepted", "verified"), result
    assert files(result) == ["calc.py"]
    assert jobs.alive_with("sleep\x004321") == []


EXCEPTIONS = {"pipe-in-place": ACCEPTED}
"""A pipe made in the guest stays in the guest: outside the file is gone, which the change shows."""


@pytest.mark.timeout(900)
def test_hostile_jobs_end_for_their_own_reasons(stubs: Stubs) -> None:
    """The twenty of ``test_hostile_jobs``, two at a time: a guest is a heavy thing to have twenty of on a small machine."""
    stubs.configure("limits", LIMITS | {"cpu_seconds": 20})  # reached before the deadline on a slow machine too
    before = Path("/proc/self/mountinfo").read_text()
    results = stubs.together(**{name: Job(row.steps, ("--timeout", "100", *row.flags)) for name, row in ROWS.items()})
    wanted = {name: row.end for name, row in ROWS.items()} | EXCEPTIONS
    assert {name: ended(result)[1:] for name, result in results.items()} == wanted
    assert len(results) == 20
    assert ("README.md", "deleted") in [
        (f["path"], f["status"]) for f in results["pipe-in-place"].document["change"]["files"]
    ]
    assert stubs.left() == [] and Path("/proc/self/mountinfo").read_text() == before
    assert not list(Path("/tmp").glob("pwned-*"))
