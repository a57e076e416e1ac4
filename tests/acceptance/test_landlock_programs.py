"""Real harness programs at level ``landlock``: they do without path sockets, names, ``/tmp`` and other people's files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from people import Person
from runs import HARNESSES, nothing_left
from test_users import FILES, _need, anybody, ground, user

__all__ = ["anybody", "ground", "user"]


@pytest.mark.long
@pytest.mark.real
@pytest.mark.parametrize("program", ["claude-code", "codex"])
def test_a_real_program_writes_a_file(program: str, user: Person, ground: Path) -> None:
    _need(user, "landlock")
    if not (HARNESSES / program).is_dir() or shutil.which("node", path="/usr/local/bin:/usr/bin:/bin") is None:
        pytest.skip(
            f"NORUN: {program} is not installed in {HARNESSES.name}, or there is no node that everybody may run"
        )
    place = user.state / "harness"
    place.mkdir(parents=True, exist_ok=True)
    linked = subprocess.run(["cp", "-al", str(HARNESSES / program), str(place)], capture_output=True, check=False)
    if linked.returncode != 0:
        pytest.skip(f"NORUN: {program} cannot be linked to where an ordinary user may read it")
    shutil.chown(user.state, user.uid, user.uid)
    repo = user.repository(f"repo-{program}", FILES)
    found = user.run(
        "create hello.txt", "--repo", str(repo), "--backend", f"{program}@rehearsal/any", "--rehearse", "write-file",
        "--check", "there=test -f hello.txt", "--sandbox", "landlock",
    ).document  # fmt: skip
    assert (found["verdict"], found["reason"]) == ("accepted", "verified"), found
    assert found["isolation"]["sandbox"] == "landlock" and found["isolation"]["egress"] == "gateway"
    assert found["usage"]["requests"] >= 2 and found["backend"]["harness_version"]
    assert [one["path"] for one in found["change"]["files"]] == ["hello.txt"]
    assert nothing_left(user.state) == []
