"""Who starts a job must not matter: root whose toolchain and state only root may enter, or an ordinary user."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import msgspec
import pytest

import sandbox_jobs as jobs
from inspan.sandbox.levels import SANDBOX_UID
from inspan.sandbox.tools import toolset
from inspan.workspace.plan import Bind

ROOT = Path(__file__).resolve().parents[2]
USER = 61077
CALC = {
    "src/calc/__init__.py": "def add(a, b):\n    return a + b\n",
    "test_calc.py": "import unittest, calc\nclass T(unittest.TestCase):\n    def test_add(self): self.assertEqual(calc.add(2, 3), 5)\n",
}


@pytest.fixture
def private_home(tmp_path: Path) -> Path:
    """A home that only its owner may enter, as /root is."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return home


def as_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("NORUN: needs to be started as root")


def checkout(home: Path) -> Path:
    """A project with a virtual environment in which it is installed in place."""
    project = home / "project"
    for name, text in CALC.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(project / ".venv")], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = project / ".venv" / "lib" / version / "site-packages"
    (site / "editable.pth").write_text(f"{project}/src\n")
    return project


def test_an_editable_install_below_a_private_home_means_the_workspace(private_home: Path) -> None:
    jobs.require("sandbox")
    project = checkout(private_home)
    state = private_home / "state"
    state.mkdir(mode=0o700)
    tools = toolset(f"{project}/.venv/bin:/usr/bin:/bin", checkout=str(project), home=str(private_home))
    made = jobs.plan(state, "sandbox", files=CALC, root_inside=str(project))
    check = ".venv/bin/python -m unittest -q 2>&1 | tail -1; command -v python"
    with_tools = {"tools": tools.binds, "env": {"PATH": tools.path}}
    good = jobs.run("sandbox", made, check, **with_tools)
    assert good.out == f"OK\n{project}/.venv/bin/python\n", (good, tools)
    broken = jobs.run(
        "sandbox", made, "printf 'def add(a, b):\\n    return 0\\n' > src/calc/__init__.py; " + check, **with_tools
    )
    assert "FAILED" in broken.out
    # Control: the checkout itself is untouched and green.
    outside = jobs.run_free(".venv/bin/python -m unittest -q 2>&1 | tail -1", cwd=str(project))
    assert outside.stdout == "OK\n"
    # The environment is shown, not writable, and its mount point is not charged to the agent.
    tried = jobs.run("sandbox", made, "touch .venv/x; ls -a", **with_tools)
    assert "Read-only" in tried.err
    assert ".venv" not in os.listdir(str(made.upper))


def test_a_tree_only_root_may_enter_is_shown_and_stays_read_only(private_home: Path, tmp_path: Path) -> None:
    as_root()
    jobs.require("sandbox")
    prefix = private_home / "prefix"
    (prefix / "bin").mkdir(parents=True)
    prefix.chmod(0o700)
    tool = prefix / "bin" / "tool"
    tool.write_text("#!/bin/sh\necho ran as $(id -u)\ntouch $(dirname $0)/x || echo not written\n")
    tool.chmod(0o700)
    bind = (Bind(source=str(prefix), target=str(prefix)),)
    ended = jobs.run("sandbox", jobs.plan(tmp_path, "sandbox"), str(tool), "x", tools=bind)
    assert ended.out == f"ran as {SANDBOX_UID}\nnot written\n", ended.err
    # Control: without the launcher's staging the job's identity does not get there.
    with pytest.raises(PermissionError):
        subprocess.run([str(tool)], user=SANDBOX_UID, group=SANDBOX_UID, extra_groups=[], check=True)


def test_state_below_a_private_home_works_as_layers_too(private_home: Path) -> None:
    jobs.require("sandbox")
    made = jobs.plan(private_home, "sandbox")
    if os.geteuid() == 0:
        os.chown(made.lowers[0], 0, 0)
        os.chmod(made.lowers[0], 0o700)
        for place in Path(made.lowers[0]).iterdir():
            os.chown(place, 0, 0)
            place.chmod(0o600)
    ended = jobs.run("sandbox", made, "cat a.txt; echo more >> a.txt; cat a.txt; cp /bin/true su; chmod 4755 su")
    assert ended.out == "base\nbase\nmore\n", ended.err
    assert (Path(str(made.upper)) / "su").stat().st_uid == made.uid


def test_relative_layers_are_refused_by_name(tmp_path: Path) -> None:
    from inspan.errors import SandboxError

    jobs.require("sandbox")
    made = msgspec.structs.replace(jobs.plan(tmp_path, "sandbox"), binds=(Bind(source="/no/such/place", target="/x"),))
    with pytest.raises(SandboxError, match="/no/such/place"), jobs.started("sandbox", made, ("true",)):
        pass
    optional = msgspec.structs.replace(made, binds=(Bind(source="/no/such/place", target="/x", optional=True),))
    assert jobs.run("sandbox", optional, "ls /x").status != 0


DRIVERS = "tests/conformance/test_sandbox_drivers.py"
SUITES = {
    (DRIVERS, "-k", "none"): 25,
    (DRIVERS, "-k", "landlock"): 25,
    (DRIVERS, "-k", "sandbox-overlay"): 25,
    (DRIVERS, "-k", "sandbox-clone"): 25,
    ("tests/attacks/test_sandbox_escape.py",): 25,
    ("tests/attacks/test_landlock_escape.py",): 15,
}
"""Suites, and how many of their checks an ordinary user must at least be able to run."""
CORE = "workspace_is_there or gateway or fifty or outlives or callers_death or network_table or privileges or teardown"


@pytest.mark.long
@pytest.mark.parametrize("suite", SUITES, ids=" ".join)
def test_the_suites_hold_for_an_ordinary_user(suite: tuple[str, ...]) -> None:
    print(as_ordinary_user(*suite, least=SUITES[suite]))


@pytest.mark.long
def test_granted_egress_holds_for_an_ordinary_user() -> None:
    print(as_ordinary_user("tests/conformance/test_sandbox_egress.py", least=4))
    print(as_ordinary_user("tests/acceptance/test_egress_jobs.py", "-k", "landlock", least=1))


def test_the_core_of_the_suites_holds_for_an_ordinary_user() -> None:
    suites = dict.fromkeys(suite[0] for suite in SUITES)
    print(as_ordinary_user(*suites, "-k", CORE, "-m", "not long", least=14))


def as_ordinary_user(*arguments: str, least: int) -> str:
    """Run tests under another identity; NORUN where that cannot be."""
    as_root()
    jobs.require("sandbox")
    python = shutil.which(f"python{sys.version_info.major}.{sys.version_info.minor}", path="/usr/local/bin:/usr/bin")
    if python is None:
        pytest.skip("NORUN: no Python of this version that an ordinary user may run")
    base = Path(tempfile.mkdtemp(dir="/var/tmp"))
    try:
        os.chown(base, USER, USER)
        paths = f"{ROOT}/src:{sysconfig.get_paths()['purelib']}"
        done = subprocess.run(
            [
                python,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                f"--basetemp={base}/p",
                f"--rootdir={ROOT}",
                *arguments,
            ],
            user=USER,
            group=USER,
            extra_groups=[],
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(base),
                "TMPDIR": str(base),
                "PYTHONPATH": paths,
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if "No module named" in done.stderr or "Permission denied" in done.stderr:
            pytest.skip(f"NORUN: the tests cannot be read by an ordinary user: {done.stderr[-200:]}")
        counted = re.search(r"(\d+) passed", done.stdout)
        assert done.returncode == 0, done.stdout[-6000:]
        assert counted and int(counted.group(1)) >= least
        return done.stdout[-300:]
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", str(base)], check=False)
        shutil.rmtree(base, ignore_errors=True)
