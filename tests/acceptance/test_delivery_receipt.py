"""What is delivered is what was judged: evidence that changed between the gate and the delivery delivers nothing."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runs import branches, environment, inspan, run

ASKED = ("create hello.txt", "--backend", "bare@rehearsal/any", "--rehearse", "write-file", "--check", "ok=true")
Noted = dict[str, Any]


def another_exit(noted: Noted, home: Path) -> None:
    """The check is said to have ended otherwise."""
    noted["gated"]["results"][0]["exit"] = 7


def another_commit(noted: Noted, home: Path) -> None:
    """The result is said to be a commit that nobody judged."""
    (gate,) = home.glob("repos/*/gate.git")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x", "--git-dir", str(gate)]
    blob = subprocess.run([*git, "hash-object", "-w", "--stdin"], input=b"evil", capture_output=True, check=True).stdout
    tree = b"100644 blob " + blob.strip() + b"\thello.txt\n"
    made = subprocess.run([*git, "mktree"], input=tree, capture_output=True, check=True).stdout.decode().strip()
    commit = subprocess.run([*git, "commit-tree", made, "-m", "x"], capture_output=True, check=True).stdout.decode()
    noted["collected"]["changeset"]["change"]["result"] = commit.strip()


def tamper(home: Path, with_: Callable[[Noted, Path], None]) -> None:
    """Change what the engine noted of the gate and of the decision, the way a broken disk or a person would."""
    with sqlite3.connect(home / "inspan.db") as connection:
        steps = connection.execute(
            "select rowid, output from operation_outputs where function_name in ('gate', 'decide')"
        ).fetchall()
        assert len(steps) == 2
        for row, output in steps:
            noted = json.loads(json.loads(output))
            with_(noted, home)
            connection.execute(
                "update operation_outputs set output = ? where rowid = ?", (json.dumps(json.dumps(noted)), row)
            )


@pytest.mark.parametrize(
    ("with_", "how"), [(None, "patch"), (another_exit, "patch"), (another_commit, "patch"), (another_commit, "branch")]
)
def test_changed_evidence_is_not_delivered(
    repository: Path, with_: Callable[[Noted, Path], None] | None, how: str
) -> None:
    home = Path(os.environ["INSPAN_HOME"])
    cut = inspan(
        "run", *ASKED, "--repo", str(repository), "--deliver", how, env=environment(INSPAN_TEST_KILL_AT="decide:done")
    )
    assert cut.returncode == -9, cut.stderr
    job = json.loads(inspan("ps", "--json").stdout)["jobs"][0]["job"]
    if with_ is not None:
        tamper(home, with_)
    run("look", "--read-only", "--repo", str(repository), "--backend", "bare@rehearsal/any", "--rehearse", "text-only")
    outcome = json.loads(inspan("show", job, "--json").stdout)["outcome"]
    delivered = [*branches(repository), *home.glob("attempts/*.patch")]
    if with_ is None:  # control: the same, untouched
        assert (outcome["verdict"], len(delivered)) == ("accepted", 1)
    else:
        assert (outcome["verdict"], delivered) == ("failed", []), outcome
        assert outcome["reasons"] == ["delivery_failed"] and outcome["delivery"]["kind"] == "none"
        assert "receipt" in outcome["detail"], outcome["detail"]
