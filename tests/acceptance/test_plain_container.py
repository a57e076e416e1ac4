"""In a plain container, which allows no namespaces: a rehearsal falls to level ``none`` and says so; a real provider
and anybody who asked for the sandbox are refused, with what would allow it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from runs import ROOT, branches, checkout_digest, environment, make_repository, nothing_left, run

CAGE = Path(__file__).resolve().parents[1] / "support/cage.py"
REHEARSED = ("--backend", "bare@rehearsal/any", "--rehearse", "write-file")
KEY = "sk-ant-canary-0123456789abcdef"


def caged(*argv: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """One program in the cage."""
    done = subprocess.run(
        [sys.executable, str(CAGE), *argv],
        env=env or environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip
    if done.returncode == 75:
        pytest.skip("NORUN: a process cannot put itself under a system call filter here")
    return done


def inspan(*args: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return caged(sys.executable, "-m", "inspan.interfaces.cli", *args, env=env)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", {"a.txt": "a\n"})


def test_the_cage_holds_and_nothing_else() -> None:
    """The control: namespaces and mounts are refused, threads and processes are not."""
    refused = caged(sys.executable, "-c", "import ctypes, os; l = ctypes.CDLL(None, use_errno=True); print(l.unshare(0x10000000), ctypes.get_errno())")  # fmt: skip
    assert refused.stdout == "-1 1\n", refused
    allowed = caged(sys.executable, "-c", "import threading, subprocess; t = threading.Thread(target=print, args=['t']); t.start(); t.join(); subprocess.run(['echo', 'p'])")  # fmt: skip
    assert sorted(allowed.stdout.split()) == ["p", "t"], allowed


def test_the_demo_runs_says_where_and_ends_as_it_must(tmp_path: Path) -> None:
    """On a copy whose environment is this one, so that nothing of the checkout is installed again meanwhile."""
    for name in ("scripts", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/bin").symlink_to(Path(sys.executable).parent)
    (tmp_path / ".venv/.inspan-sandbox").touch()
    if not (tmp_path / ".venv/bin/inspan").exists():
        pytest.skip("NORUN: the inspan command is not installed beside this interpreter")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = caged(str(tmp_path / "scripts/demo"), env=environment(TMPDIR=str(temporary)))
    assert done.returncode == 0, done
    one, _, two = done.stdout.partition("== Job two")
    assert "accepted  verified" in one and "isolation   none (not proved)" in one, done.stdout
    assert "rejected  out_of_scope" in two and "checks_weakened" in two, done.stdout
    assert "isolation   none (not proved)" in two and "level none" in done.stderr
    assert "claude-code@anthropic/" in two.rstrip().splitlines()[-1], "the line for a real run is the last one"
    assert list(temporary.iterdir()) == [] and nothing_left(temporary) == []


def test_a_rehearsal_falls_to_none_even_where_the_sandbox_was_seen_to_work(repo: Path) -> None:
    free = run("x", "--repo", str(repo), *REHEARSED, "--unchecked").document
    before = checkout_digest(repo)
    done = inspan("run", "x", "--repo", str(repo), *REHEARSED, "--check", "there=test -f hello.txt", "--json")
    outcome = json.loads(done.stdout)
    assert (done.returncode, outcome["verdict"], outcome["reason"]) == (0, "accepted", "verified"), done
    assert outcome["isolation"]["sandbox"] == "none" and outcome["isolation"]["proved"] is False
    assert outcome["rehearsal"] == "write-file" and "level none" in done.stderr
    assert checkout_digest(repo) == before
    assert len(branches(repo)) == 2 and nothing_left(Path(os.environ["INSPAN_HOME"])) == []
    again = run("x", "--repo", str(repo), *REHEARSED, "--unchecked").document
    assert again["isolation"]["sandbox"] == free["isolation"]["sandbox"], "what the cage saw is not for others"


@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        (("--backend", "bare@anthropic/some-model"), {"ANTHROPIC_API_KEY": KEY}),
        ((*REHEARSED, "--sandbox", "sandbox"), {}),
        ((*REHEARSED, "--read-only"), {}),
        (REHEARSED, {"INSPAN_MIN_SANDBOX": "sandbox"}),
    ],
    ids=["a real provider", "asked for", "read-only", "the least level"],
)
def test_never_less_than_what_is_needed(repo: Path, arguments: tuple[str, ...], more: dict[str, str]) -> None:
    before = checkout_digest(repo)
    done = inspan("run", "x", "--repo", str(repo), *arguments, "--json", env=environment(**more))
    document = json.loads(done.stdout)
    assert (done.returncode, document["reason"]) == (1, "sandbox_unavailable"), done
    assert "Traceback" not in done.stderr and KEY not in done.stdout + done.stderr
    if "--read-only" not in arguments:
        assert "--security-opt seccomp=unconfined" in document["do"], document
    assert checkout_digest(repo) == before and branches(repo) == []
    assert not (Path(os.environ["INSPAN_HOME"]) / "attempts").exists()


@pytest.mark.parametrize("held", ["-all", "-all,+chown,+dac_override,+fowner,+kill,+setgid,+setuid,+sys_chroot"])
def test_root_without_the_privileges_of_root(repo: Path, held: str) -> None:
    """A container that drops capabilities: all of them, and those that a container usually drops."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("NORUN: needs to be started as root, and setpriv")
    weak = (
        "setpriv",
        f"--bounding-set={held}",
        "--inh-caps=-all",
        sys.executable,
        "-m",
        "inspan.interfaces.cli",
        "run",
        "x",
    )
    common = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 150, "check": False}
    fallen = subprocess.run(
        [*weak, "--repo", str(repo), *REHEARSED, "--unchecked", "--json"], env=environment(), **common
    )
    outcome = json.loads(fallen.stdout)
    assert (outcome["verdict"], outcome["isolation"]["sandbox"]) == ("accepted", "none"), fallen
    real = ("--repo", str(repo), "--backend", "bare@anthropic/m", "--json")
    refused = subprocess.run([*weak, *real], env=environment(ANTHROPIC_API_KEY=KEY), **common)
    document = json.loads(refused.stdout)
    assert (refused.returncode, document["reason"]) == (1, "sandbox_unavailable"), refused
    assert "--cap-add SYS_ADMIN" in document["do"], document
    assert nothing_left(Path(os.environ["INSPAN_HOME"])) == []


def test_the_doctor_names_what_would_allow_it() -> None:
    done = inspan("doctor")
    assert done.returncode == 0, done  # level none is there
    assert "enable it: docker run" in done.stdout and "level sandbox     --" in done.stdout, done.stdout
