"""A directory of the host that the user grants: the agent writes there, nobody else sees it, and the outcome says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from runs import make_repository, run

from inspan.sandbox.levels import probe


@pytest.mark.parametrize("level", ["sandbox", pytest.param("landlock", marks=pytest.mark.long)])
def test_what_the_agent_writes_to_a_granted_directory_stays_there_and_reaches_no_check(
    level: str, tmp_path: Path
) -> None:
    proof = probe(level, str(tmp_path))
    if not proof.available:
        pytest.skip(f"NORUN: level {level}: {proof.detail}")
    granted = tmp_path / "granted"
    granted.mkdir()
    granted.chmod(0o777)
    if level == "landlock" and os.geteuid() == 0:
        pytest.skip("NORUN: as root the job's user does not come to where these tests and their Python are")
    repo = make_repository(tmp_path / "repo", {"a.txt": "a\n"})
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        "schema: inspan.rehearsal/1\nname: granted\nsteps:\n"
        f"  - bash: echo kept > {granted}/kept; echo changed > a.txt\n  - say: done\n"
    )
    found = run(
        "write", "--repo", str(repo), "--backend", "bare@rehearsal/any", "--rehearse", str(scenario), "--sandbox", level,
        "--writable", str(granted), "--setup", f"test ! -e {granted}/kept", "--check", f"test ! -e {granted}/kept",
    )  # fmt: skip
    assert found.document["verdict"] == "accepted", found.document
    assert (granted / "kept").read_text() == "kept\n"
    assert found.document["isolation"]["writable"] == [str(granted)]
    assert [one["path"] for one in found.document["change"]["files"]] == ["a.txt"]
    assert any("outside the change" in text and str(granted) in text for text in found.document["warnings"])
