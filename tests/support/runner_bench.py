"""Runs a known runner's command as the gate arranges it, on the host and without a sandbox: what is looked at here is
what the runner leaves and how it is read. The same runs in the sandbox are in tests/acceptance/test_gate_runners_inside.py."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import msgspec

from inspan.gate.command import read_directory
from inspan.gate.results import TestRun
from inspan.gate.runners import Runner, arrange, detect, read_results
from inspan.gate.runners.contract import Left


class Run(msgspec.Struct, kw_only=True):
    """What one arranged run did."""

    status: int
    output: bytes
    tests: TestRun
    runner: Runner
    left: Left


def write(where: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text)


def run(
    root: Path, files: dict[str, str], command: str, *, path: str = "", env: dict[str, str] | None = None,
    report: str | None = None, only: str = "",
) -> Run:  # fmt: skip
    """Write ``files`` below ``root / tree`` and run ``command`` there, arranged."""
    tree = root / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    write(tree, files)
    desk = secrets.token_hex(4)
    shim, evidence = root / f"shim-{desk}", root / f"evidence-{desk}"
    shim.mkdir()
    evidence.mkdir()

    def read(name: str) -> bytes | None:  # as base has it
        file = tree / name
        return file.read_bytes() if file.is_file() else None

    runner = detect(command, read, report=report)
    assert runner is not None, command
    own = {"PATH": os.pathsep.join(filter(None, [path, os.path.dirname(sys.executable), os.environ["PATH"]]))}
    own |= {"HOME": os.environ.get("HOME", str(root)), "LANG": "C.UTF-8"} | (env or {})
    arranged = arrange(
        runner, command, token=secrets.token_hex(22), shim_inside=str(shim), evidence_inside=str(evidence),
        root_inside=str(tree), env=own, only=only,
    )  # fmt: skip
    for name, data in arranged.files.items():
        (shim / name).parent.mkdir(parents=True, exist_ok=True)
        (shim / name).write_bytes(data)
        (shim / name).chmod(0o644 if (shim / name).suffix else 0o755)
    done = subprocess.run(
        ["/bin/sh", "-c", arranged.command], cwd=tree, env=dict(arranged.env), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=300, check=False,
    )  # fmt: skip
    left = Left(files=read_directory(evidence), output=done.stdout, key=arranged.key, root=str(tree))
    return Run(status=done.returncode, output=done.stdout, tests=read_results(runner, left), runner=runner, left=left)
