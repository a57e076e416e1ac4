"""One attempt as a driver runs it: real runner, real sandbox, real gateway, the stub harness as the program."""

from __future__ import annotations

import json
import os
import shutil
import sys
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

import inspan.testing.stub_harness
from inspan.attempt.contract import AttemptRequest, TerminalRecord
from inspan.attempt.start import start_or_adopt, wait
from inspan.gateway.contract import Upstream
from inspan.sandbox.contract import Limits
from inspan.sandbox.levels import owner, probe
from inspan.spec.paths import AttemptPaths
from inspan.workspace.plan import Bind, MountPlan

STUB = inspan.testing.stub_harness.__file__
LEVELS = ("none", "sandbox")


@lru_cache
def python() -> str:
    """A Python that the sandbox shows: one of the system, else the base of ours."""
    for candidate in ("/usr/bin/python3", "/usr/local/bin/python3"):
        if os.path.exists(candidate):
            return candidate
    return os.path.realpath(sys.executable)


def require(level: str, state: Path) -> None:
    """NORUN when this machine cannot confine at a level."""
    found = probe(level, str(state))
    if not found.available:
        pytest.skip(f"NORUN: level {level}: {found.detail}")


def request(
    paths: AttemptPaths, level: str, steps: list[dict[str, Any]], *, timeout: float = 60.0, **changes: Any
) -> AttemptRequest:
    """A request whose harness plays ``steps``; ``config`` and ``upstream_changes`` adjust the parts."""
    who = owner(level)
    workspace, home = paths.workspace, paths.home
    for directory in (paths.root, workspace, home):
        directory.mkdir(parents=True, exist_ok=True)
    for directory in (workspace, home):
        os.chown(directory, who.uid, who.gid)
    stub = paths.root.parent / "stub_harness.py"
    shutil.copyfile(STUB, stub)
    script = paths.root.parent / f"{paths.root.name}.script.json"
    script.write_text(json.dumps(steps))
    for file in (stub, script):
        file.chmod(0o644)
    config = {
        "argv": [python(), str(stub), str(script)],
        "wire": "anthropic",
        "prompt": "stdin",
        "output": "jsonl",
        "liveness": "events",
        "env": {"INSPAN_TOKEN": "{token}"},
    } | changes.pop("config", {})
    upstream = {"kind": "rehearsal", "provider": "rehearsal", "model": "any", "wire": "anthropic"}
    upstream |= {"scenario": "text-only"} | changes.pop("upstream", {})
    fields: dict[str, Any] = {
        "attempt": paths.root.name,
        "harness": "stub",
        "model": "any",
        "prompt": "do it",
        "plan": MountPlan(
            kind="clone", root_inside="/workspace", directory=str(workspace), home=str(home), uid=who.uid, gid=who.gid
        ),
        "upstream": Upstream(**upstream),
        "deadline": (datetime.now(UTC) + timedelta(seconds=timeout)).isoformat(),
        "stall": 30.0,
        "level": level,
        "harness_config": config,
        "tools": (Bind(source=str(stub), target=str(stub)), Bind(source=str(script), target=str(script))),
        "path": "/usr/local/bin:/usr/bin:/bin",
        "limits": Limits(memory=1 << 30, processes=200),
    }
    return AttemptRequest(**(fields | changes))


def run(state: Path, level: str, steps: list[dict[str, Any]], *, name: str = "j1.a1", **changes: Any) -> TerminalRecord:
    """Run an attempt to its end."""
    require(level, state)
    paths = AttemptPaths(state / "attempts" / name)
    start_or_adopt(paths, request(paths, level, steps, **changes), None)
    return wait(paths)


def events(paths: AttemptPaths) -> list[dict[str, Any]]:
    """What stands in ``events.jsonl``."""
    return [json.loads(line) for line in paths.events.read_text().splitlines()]


def said(paths: AttemptPaths, kind: str) -> dict[str, Any]:
    """The first line of the harness's output whose type is ``kind``."""
    for line in paths.stdout.read_text().splitlines():
        if line.startswith("{") and (document := json.loads(line)).get("type") == kind:
            return dict(document)
    raise AssertionError(f"no {kind!r} line in {paths.stdout}")
