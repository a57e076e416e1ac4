"""A full disk: said in plain words, nothing half-done left behind, and the next command ends what was cut off."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUN = f"{sys.executable} -m inspan.interfaces.cli"
ASK = "--backend bare@rehearsal/any --rehearse write-file"


def on_small_disk(tmp_path: Path, size: str, script: str) -> str:
    """Run a shell script with the state on a file system of ``size``, mounted for it alone."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = f"mount -t tmpfs -o size={size} none {place} && export INSPAN_HOME={place}/state\n"
    if subprocess.run(["unshare", "-m", "sh", "-c", mounted], capture_output=True).returncode:
        pytest.skip("NORUN: no small file system can be mounted here")
    done = subprocess.run(["unshare", "-m", "sh", "-c", mounted + script], capture_output=True, text=True, timeout=200)
    return done.stdout + done.stderr


def test_a_disk_too_small_for_the_tables_is_named(repository: Path, tmp_path: Path) -> None:
    script = f"{RUN} run x --repo {repository} {ASK}; echo status $?; ls $INSPAN_HOME/executors; {RUN} ps"
    said = on_small_disk(tmp_path, "200k", script)
    assert "The disk is full" in said and "status 2" in said and "INSPAN_HOME" in said
    assert ".lock" not in said and "no jobs yet" in said


@pytest.mark.parametrize("size", ["700k", "900k"])
def test_a_disk_that_fills_up_on_the_way_loses_nothing(repository: Path, tmp_path: Path, size: str) -> None:
    script = (
        f"{RUN} run first --repo {repository} {ASK}\n"
        f"mount -o remount,size=20m {tmp_path}/disk\n"
        f"{RUN} run second --repo {repository} {ASK} >/dev/null 2>&1\n"
        f"{RUN} ps\nfind $INSPAN_HOME -name '*.lock' -path '*executors*' -o -name ws -path '*attempts*'"
    )
    said = on_small_disk(tmp_path, size, script)
    listing = said.splitlines()
    assert any("second" in line and "unverified" in line for line in listing), said
    firsts = [line for line in listing if line.rstrip().endswith("first")]
    assert all("unverified" in line or "disk_full" in line for line in firsts), said
    assert "/ws" not in said and ".lock" not in said, said
