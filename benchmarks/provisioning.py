"""A project with its dependencies, the second time: from the question to a program inside that has found them.

Two projects with real packages: a Python one with a virtual environment, a Node one with ``node_modules``. Their set-up
is run once beside the sandbox by the ordinary clients (measuring needs no grant of egress then), frozen as a layer
by the same code, and shown to be usable inside before anything is timed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import ENVIRONMENT, desk, git
from benchmarks.timing import interleaved, median
from inspan.sandbox import spawning
from inspan.sandbox.contract import Confinement
from inspan.sandbox.levels import driver, owner
from inspan.sandbox.tools import Toolset, toolset
from inspan.spec.paths import State
from inspan.spec.provision.commands import known_inputs
from inspan.workspace.bare import Base, plan_bare
from inspan.workspace.build import discard, ensure_gate, ensure_pristine, find_setup, plan_attempt
from inspan.workspace.repository import Repository, open_repository
from inspan.workspace.setup import freeze, setup_scratch

ROUNDS = 15
_LEVEL = "sandbox"
_SECONDS = 900
_NULL = os.open(os.devnull, os.O_RDWR)


class _Project(NamedTuple):
    """What is installed, how, and what shows that it is there."""

    files: dict[str, str]
    command: str
    install: Callable[[Path, dict[str, str]], None]
    there: str
    usable: str
    program: str


def _install_python(place: Path, env: dict[str, str]) -> None:
    python = os.path.realpath(sys.executable)
    _run([python, "-m", "venv", str(place / ".venv")], place, env)
    _run([str(place / ".venv/bin/python"), "-m", "pip", "install", "-q", "pytest", "requests"], place, env)


def _install_node(place: Path, env: dict[str, str]) -> None:
    shutil.copy(place.parent / "base/package.json", place)
    _run(["npm", "install", "--no-audit", "--no-fund", "--silent", "--no-package-lock"], place, env)
    (place / "package.json").unlink()


def _run(argv: list[str], place: Path, env: dict[str, str]) -> None:
    done = subprocess.run(argv, cwd=place, env=env, capture_output=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv[:4])} ended with {done.returncode}: {done.stderr[-300:]!r}")


_PACKAGE = '{"name": "x", "version": "1.0.0", "dependencies": {"express": "^4", "typescript": "^5", "lodash": "^4"}}\n'
PROJECTS = {
    "python": _Project(
        {"requirements.txt": "pytest\nrequests\n"},
        "python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt",
        _install_python,
        "set -- .venv/lib/python3*/site-packages/requests/__init__.py; test -x .venv/bin/python -a -f $1",
        ".venv/bin/python -c 'import pytest, requests'",
        "python3",
    ),
    "node": _Project(
        {"package.json": _PACKAGE, "package-lock.json": "{}\n"},
        "npm ci",
        _install_node,
        "test -f node_modules/express/package.json -a -d $HOME/.npm",
        'node -e \'require("express"); require("lodash")\'',
        "node",
    ),
}


def provisioned() -> tuple[dict[str, float], dict[str, float], dict[str, str]]:
    """Figures, peers, and reasons for figures that are missing; medians of interleaved rounds.

    ``provisioned_second_ms`` is the slower project's. The peer is the same job on the same base without any set-up.
    """
    reasons: dict[str, str] = {}
    sides: dict[str, Callable[[], float]] = {}
    with desk() as root:
        for name, project in PROJECTS.items():
            figure = f"provisioned_second_ms_{name}"
            if shutil.which(project.program) is None:
                reasons[figure] = f"no {project.program} here"
                continue
            try:
                job = _Job(State(root / "state"), root / name, project)
                job.require_usable()
            except (RuntimeError, subprocess.TimeoutExpired) as failed:
                reasons[figure] = str(failed)
                continue
            sides[figure] = job.second
            sides[f"unprovisioned_ms_{name}"] = job.bare
        times = {name: median(values) for name, values in interleaved(sides, ROUNDS).items()}
    figures = {name: value for name, value in times.items() if name.startswith("provisioned")}
    if len(figures) == len(PROJECTS):
        figures["provisioned_second_ms"] = max(figures.values())
    else:
        reasons["provisioned_second_ms"] = "; ".join(reasons.values())
    return figures, {name: value for name, value in times.items() if name not in figures}, reasons


class _Job:
    """Jobs of one project whose layer is there."""

    def __init__(self, state: State, path: Path, project: _Project) -> None:
        self._state, self._project, self._owner, self._count = state, project, owner(_LEVEL), 0
        path.mkdir()
        for name, text in project.files.items():
            (path / name).write_text(text)
        git(path, "init", "-q", "-b", "main")
        git(path, "add", "-A")
        git(path, "commit", "-qm", "base")
        self._repo: Repository = open_repository(str(path))
        ensure_gate(state, self._repo)
        ensure_pristine(state, self._repo, self._repo.head, self._owner)
        program = os.path.dirname(shutil.which(project.program) or "/usr/bin/true")
        real = os.path.dirname(os.path.realpath(sys.executable))
        self._tools: Toolset = toolset(f"{real}:{program}", checkout=str(path), home=os.environ.get("HOME", "/"))
        self._make()

    def _key(self, view: Base) -> str:
        inputs = known_inputs(self._project.command, view.tree)
        if inputs is None:
            raise RuntimeError(f"what this reads is not known: {self._project.command}")
        return view.digest(inputs).removeprefix("sha256:")

    def _make(self) -> None:
        with Base(self._state, self._repo, self._repo.head) as view:
            key = self._key(view)
            inputs = known_inputs(self._project.command, view.tree)
            assert inputs is not None
            scratch = setup_scratch(self._state, self._repo, key)
            plan = plan_bare(self._repo, view, inputs, scratch, kind="overlay", owner=self._owner, level=_LEVEL)
        upper = Path(plan.upper or "")
        self._project.install(upper, {**os.environ, "HOME": plan.home})
        for place in (upper, Path(plan.home)):
            subprocess.run(["chown", "-R", f"{plan.uid}:{plan.gid}", place], check=True)
        freeze(self._state, self._repo, self._repo.head, key, plan, plan.lowers, shared=True)
        discard(self._state, plan)

    def require_usable(self) -> None:
        """RuntimeError unless a program inside can use what was installed."""
        self._inside(self._project.usable)

    def second(self) -> float:
        """Milliseconds from the question for a layer to a program inside that found its dependency."""
        return self._inside(self._project.there)

    def bare(self) -> float:
        """The same without a layer."""
        return self._inside("true", provisioned=False)

    def _inside(self, script: str, *, provisioned: bool = True) -> float:
        self._count += 1
        spawning.ahead("launcher")
        time.sleep(0.15)  # until it has loaded, as a runner has it waiting
        start = time.perf_counter()
        layer = None
        if provisioned:
            with Base(self._state, self._repo, self._repo.head) as view:
                layer = find_setup(self._state, self._repo, self._key(view), view)
            if layer is None:
                raise RuntimeError("the layer is not there")
        plan = plan_attempt(
            self._state, self._repo, self._repo.head, f"bench.a{self._count}",
            kind="overlay", owner=self._owner, setup=layer, level=_LEVEL,
        )  # fmt: skip
        env = {**ENVIRONMENT, "HOME": "/home/agent", "PATH": self._tools.path}
        confinement = Confinement(plan=plan, argv=("/bin/sh", "-c", script), env=env, tools=self._tools.binds, ports=0)
        tree = driver(_LEVEL).start(confinement, stdin=_NULL, stdout=_NULL, stderr=_NULL)
        try:
            tree.release()
            status = tree.wait(600)
            elapsed = (time.perf_counter() - start) * 1000
        finally:
            tree.close()
        discard(self._state, plan)
        if status != 0:
            raise RuntimeError(f"{script} ended with {status} inside")
        return elapsed
