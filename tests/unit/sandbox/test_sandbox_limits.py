"""Measuring, counting, and control groups that hold what they say."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from inspan.sandbox import census, cgroups
from inspan.sandbox.contract import Limits
from inspan.sandbox.limits import measure


def test_measure_counts_bytes_and_entries_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_bytes(b"x" * 100_000)
    (tmp_path / "out").symlink_to("/usr")
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "sparse", "wb") as out:
        out.truncate(1 << 40)
    found = measure([str(tmp_path), str(tmp_path / "absent")])
    assert found.files == 5
    assert 100_000 <= found.bytes < 1 << 20
    linked = measure([str(tmp_path / "out")])
    assert linked.files == 0


def test_nesting_does_not_hide_from_the_measure(tmp_path: Path) -> None:
    here = os.getcwd()
    try:
        os.chdir(tmp_path)
        for _ in range(60):
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
    finally:
        os.chdir(here)
    assert measure([str(tmp_path)]).files > 1 << 40
    subprocess.run(["rm", "-rf", str(tmp_path / ("d" * 100))], check=True)


def test_the_census_finds_descendants_and_marked_ones() -> None:
    marker = f"TEST_MARKER={time.monotonic_ns()}"
    name, value = marker.split("=")
    code = "import os, time\nif os.fork() == 0:\n  os.setsid()\ntime.sleep(100)\n"
    child = subprocess.Popen([sys.executable, "-c", code], env={name: value})
    try:
        while len(census.marked(marker.encode())) < 2:
            time.sleep(0.01)
        assert {process.pid for process in census.marked(marker.encode())} >= {child.pid}
        assert child.pid in {process.pid for process in census.descendants(os.getpid())}
        assert len(census.descendants(child.pid)) == 1
        assert census.marked(b"TEST_MARKER=another") == []
    finally:
        for process in census.marked(marker.encode()):
            os.kill(process.pid, 9)
        child.wait()


def test_a_process_name_with_parentheses_is_read_whole(tmp_path: Path) -> None:
    program = tmp_path / "a) (b"
    program.write_text(f"#!{sys.executable}\nimport time; time.sleep(100)\n")
    program.chmod(0o755)
    child = subprocess.Popen([str(program)])
    try:
        until = time.monotonic() + 20
        while census.processes()[child.pid].name != "a) (b" and time.monotonic() < until:
            time.sleep(0.01)
        found = census.processes()[child.pid]
        assert (found.name, found.parent) == ("a) (b", os.getpid())
    finally:
        child.kill()
        child.wait()


def test_groups_hold_what_they_say_and_go_away() -> None:
    made = cgroups.group(Limits(memory=256 << 20, processes=50))
    try:
        if not made.held:
            pytest.skip("NORUN: no control group with a controller can be made here")
        child = subprocess.Popen(["sleep", "100"])
        made.join(child.pid)
        assert child.pid in made.members()
        assert not made.out_of_memory() and not made.out_of_processes()
        places = [place.path for place in made._places]
        child.kill()
        child.wait()
    finally:
        made.remove()
    assert places
    assert not [place for place in places if os.path.exists(place)]


def test_groups_of_a_dead_maker_are_swept() -> None:
    code = "import os\nfrom inspan.sandbox import cgroups\nfrom inspan.sandbox.contract import Limits\n"
    code += "g = cgroups.group(Limits())\nprint(*[p.path for p in g._places], sep='\\n', flush=True)\nos._exit(0)\n"
    places = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    if not places:
        pytest.skip("NORUN: no control group can be made here")
    assert all(os.path.isdir(place) for place in places)
    cgroups.group(Limits()).remove()
    assert not [place for place in places if os.path.exists(place)]
