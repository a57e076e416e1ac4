"""Uncommitted work is never silently left out and never silently taken in: whoever runs the job reads its names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from runs import Result, checkout_digest, inspan, make_repository, nothing_left, run

ODD = "new ü\nline"
SECRETS = (".env.local", "keys/server.pem")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Tracked work (changed, staged, deleted, another mode), untracked work, ignored files, and what looks secret."""
    made = make_repository(
        tmp_path / "repo",
        {"tracked.txt": "old\n", "staged.txt": "old\n", "gone.txt": "x\n", "tool.sh": "#!/bin/sh\n", "same.txt": "same\n",
         ".gitignore": "*.log\nbuild/\n"},
    )  # fmt: skip
    (made / "tracked.txt").write_text("new\n")
    (made / "staged.txt").write_text("new\n")
    subprocess.run(["git", "add", "staged.txt"], cwd=made, check=True)
    (made / "gone.txt").unlink()
    (made / "tool.sh").chmod(0o755)
    for name in ("untracked.txt", ODD, "run.log", "build/out.o", *SECRETS):
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(f"canary of {name}\n")
    return made


TRACKED = ("tracked.txt", "staged.txt", "gone.txt", "tool.sh")


def job(repo: Path, check: str, *more: str) -> Result:
    """One job whose check looks at the tree it starts from; the checkout is the same bytes afterwards."""
    before = checkout_digest(repo)
    result = run(
        "create hello.txt", "--repo", str(repo), "--backend", "bare@rehearsal/any", "--rehearse", "write-file",
        "--check", f"tree={check} && test -f hello.txt", *more,
    )  # fmt: skip
    assert checkout_digest(repo) == before
    assert nothing_left(Path(os.environ["INSPAN_HOME"])) == []
    return result


def warning(outcome: dict, word: str) -> str:
    (found,) = [w for w in outcome["warnings"] if w.startswith(word)]
    return found


@pytest.mark.parametrize("level", ["auto", pytest.param("none", marks=pytest.mark.long)])
def test_without_dirty_it_is_left_out_and_named(repo: Path, level: str) -> None:
    committed = "grep -q old tracked.txt && grep -q old staged.txt && test -f gone.txt && ! test -x tool.sh"
    result = job(repo, f"{committed} && test ! -e untracked.txt && test ! -e build", "--sandbox", level)
    outcome = result.document
    assert (outcome["verdict"], outcome["reason"]) == ("accepted", "verified"), result
    changed, new = warning(outcome, "not committed"), warning(outcome, "untracked")
    assert all(name in changed for name in TRACKED), changed
    assert all(name in new for name in ("untracked.txt", ODD, *SECRETS)), new
    assert not any(n in " ".join(outcome["warnings"]) for n in ("run.log", "build", "same.txt")), outcome["warnings"]
    for text in (result.stderr, inspan("show", outcome["job"]).stdout):
        assert "untracked.txt" in text and "tracked.txt" in text and "new ü\\nline" in text
    assert outcome["change"]["base"] == _head(repo)


def test_with_dirty_it_is_taken_in_and_what_is_left_out_is_named(repo: Path) -> None:
    taken = "grep -q new tracked.txt && grep -q new staged.txt && test ! -e gone.txt && test -x tool.sh && test -f untracked.txt"
    left = " && ".join(f"test ! -e {name}" for name in (*SECRETS, "run.log", "build"))
    result = job(repo, f"{taken} && {left}", "--dirty")
    outcome = result.document
    assert (outcome["verdict"], outcome["reason"]) == ("accepted", "verified"), result
    inside = warning(outcome, "not committed and taken into the base")
    assert all(name in inside for name in (*TRACKED, "untracked.txt", ODD)), inside
    outside = warning(outcome, "left out of the snapshot")
    assert all(f"{name} (looks like a secret)" in outside for name in SECRETS), outside
    ignored = warning(outcome, "ignored and so left out")
    assert "build/" in ignored and "run.log" in ignored, ignored
    assert "warning: left out of the snapshot" in result.stderr and ".env.local" in result.stderr
    _only_the_change_and_no_secret(repo, outcome)


def _only_the_change_and_no_secret(repo: Path, outcome: dict) -> None:
    """The change is the agent's alone; what looks secret is no object anywhere, not of the repository, not of ours."""
    assert [f["path"] for f in outcome["change"]["files"]] == ["hello.txt"]
    branch = f"inspan/{outcome['job']}"
    parent = _git(repo, "rev-parse", f"{branch}^").strip()
    assert parent == outcome["change"]["base"] != _head(repo)
    assert _git(repo, "rev-parse", f"{parent}^").strip() == _head(repo)
    paths = set(_git(repo, "ls-tree", "-r", "-z", "--name-only", branch).split("\0")) - {""}
    assert paths == {
        "hello.txt",
        "tracked.txt",
        "staged.txt",
        "tool.sh",
        "same.txt",
        ".gitignore",
        "untracked.txt",
        ODD,
    }


def test_dirty_on_a_clean_checkout_is_head_and_says_nothing(tmp_path: Path) -> None:
    clean = make_repository(tmp_path / "clean", {"a.txt": "a\n"})
    outcome = job(clean, "test -f a.txt", "--dirty").document
    assert outcome["warnings"] == [] and outcome["change"]["base"] == _head(clean)


def _git(repo: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=repo, capture_output=True, text=True, check=True).stdout


def _head(repo: Path) -> str:
    return _git(repo, "rev-parse", "HEAD").strip()
