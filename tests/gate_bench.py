"""A bench for the gate: a repository, a change made in a real workspace by a shell script, and the gate's word on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from inspan.gate.context import GateContext
from inspan.gate.evidence import run_gate
from inspan.gate.report import GateReport
from inspan.redact import Redactor
from inspan.sandbox.contract import Confinement
from inspan.sandbox.levels import driver, owner, probe
from inspan.sandbox.tools import toolset
from inspan.spec.job import Check, Job
from inspan.spec.limits import Limits
from inspan.spec.paths import State
from inspan.workspace.build import discard, ensure_gate, overlay_possible, plan_attempt
from inspan.workspace.changeset import Changeset, collect
from inspan.workspace.plan import Bind
from inspan.workspace.repository import open_repository

GIT = {
    "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@t", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@t",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": os.environ["PATH"], "HOME": "/nonexistent",
}  # fmt: skip


def git(where: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=where, env=GIT, check=True, capture_output=True, text=True).stdout.strip()


def write(where: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text)


def repository(where: Path, files: dict[str, str] | Path) -> Path:
    where.mkdir(parents=True, exist_ok=True)
    git(where, "init", "-q", "-b", "main")
    if isinstance(files, Path):
        shutil.copytree(files, where, symlinks=True, dirs_exist_ok=True)
    else:
        write(where, files)
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "base")
    return where


def require(level: str, state: Path) -> None:
    if not probe(level, str(state)).available:
        pytest.skip(f"NORUN: level {level} does not work here: {probe(level, str(state)).detail}")


class Bench:
    """One repository at one level. ``binds`` and ``env`` are further tools and variables for change and checks alike."""

    def __init__(
        self, root: Path, files: dict[str, str] | Path, level: str, *, path: str | None = None,
        binds: tuple[Bind, ...] = (), env: dict[str, str] | None = None, **extra: Any,
    ) -> None:  # fmt: skip
        self.level = level
        self.state = State(root / "state")
        self.state.attempts.mkdir(parents=True, exist_ok=True)
        require(level, self.state.root)
        self.checkout = repository(root / "repo", files)
        self.repo = open_repository(str(self.checkout))
        ensure_gate(self.state, self.repo)
        self.path = path or os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        self.tools = toolset(self.path, checkout=str(self.checkout), home=os.path.expanduser("~"), extra=binds)
        self.env = self.tools.env | (env or {"LANG": "C.UTF-8"})
        self.kind: Any = "overlay" if level != "none" and overlay_possible(self.state) else "clone"
        self.owner = owner(level)
        self.extra = extra
        self.n = 0
        self.naive_output = ""

    def change(self, script: str, check: str | None = None) -> tuple[Changeset, int | None]:
        """Let a shell script change a workspace; returns what the gate collects and, as the naive gate, the status of
        the check run in that very workspace."""
        self.n += 1
        attempt = f"j{self.n}.a1"
        plan = plan_attempt(
            self.state, self.repo, self.repo.head, attempt, kind=self.kind, owner=self.owner, level=self.level,
            share=self.extra.get("share", ()),
        )  # fmt: skip
        naive = f"; {{ {check}; }} >$HOME/naive.log 2>&1; echo $? > $HOME/naive" if check else ""
        self._run(plan, f"set -e; {script}\nset +e{naive}\ntrue")
        status = int((Path(plan.home) / "naive").read_text()) if check else None
        self.naive_output = (Path(plan.home) / "naive.log").read_text(errors="replace") if check else ""
        changeset = collect(self.state, self.repo, self.repo.head, plan, attempt)
        discard(self.state, plan)
        return changeset, status

    def _run(self, plan: Any, script: str) -> None:
        null, log = os.open(os.devnull, os.O_RDONLY), os.open(self.state.root / "agent.log", os.O_RDWR | os.O_CREAT)
        env = self.env | {"PATH": self.tools.path, "PYTHONDONTWRITEBYTECODE": "1"}
        tree = driver(self.level).start(
            Confinement(plan=plan, argv=("/bin/sh", "-c", script), env=env, tools=self.tools.binds, ports=0),
            stdin=null, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            tree.release()
            status = tree.wait(300)
        finally:
            tree.close()
            os.close(null)
            os.close(log)
        assert status == 0, (self.state.root / "agent.log").read_text()

    def context(
        self, changeset: Changeset, *checks: str, prompt: str = "make the tests pass", timeout: float = 60, **job: Any
    ) -> GateContext:
        asked = Job(
            prompt=prompt,
            repo=str(self.checkout),
            checks=tuple(Check(name=f"c{i}", command=c, timeout=timeout) for i, c in enumerate(checks)),
            **job,
        )
        return GateContext(
            state=self.state, repo=self.repo, job=asked, changeset=changeset, attempt=f"j{self.n}.a1",
            level=self.level, kind=self.kind, owner=self.owner, toolset=self.tools, env=self.env,
            redactor=Redactor(), share=self.extra.get("share", ()), harness_globs=self.extra.get("harness_globs", ()),
            limits=self.extra.get("limits", Limits()),
        )  # fmt: skip

    def gate(self, changeset: Changeset, *checks: str, **asked: Any) -> GateReport:
        return run_gate(self.context(changeset, *checks, **asked))

    def judge(self, script: str, *checks: str, **job: Any) -> GateReport:
        return self.gate(self.change(script)[0], *checks, **job)


def rules(report: GateReport, level: str | None = None) -> set[str]:
    return {v.rule for v in report.violations if level in (None, v.level)}


def shown(report: GateReport) -> str:
    return msgspec.json.format(msgspec.json.encode(report)).decode()
