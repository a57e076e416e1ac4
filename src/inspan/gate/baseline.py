"""What a check command does on base, remembered: the same base, command and surroundings are not run twice."""

from __future__ import annotations

import hashlib

import msgspec

from inspan.errors import GateError
from inspan.files import write_whole
from inspan.gate.command import CommandRun, run_command
from inspan.gate.context import GateContext
from inspan.gate.runners import Runner
from inspan.outcome.canonical import digest
from inspan.spec.job import Check

_SHIM_VERSION = 4
"""Raised when the shim's lines change their meaning, so that remembered runs are not misread."""


def _key(context: GateContext, check: Check, runner: Runner | None) -> str:
    return digest(
        {
            "shim": _SHIM_VERSION,
            "base": context.base,
            "command": check.command,
            "timeout": check.timeout,
            "runner": [[part.family, *part.details] for part in runner.parts] if runner is not None else None,
            "setup": context.setup.key if context.setup else None,
            "level": context.level,
            "kind": context.kind,
            "path": context.toolset.path,
            "env": context.env,
            "share": list(context.share),
        }
    )


def run_on_base(context: GateContext, check: Check, runner: Runner | None) -> CommandRun:
    """The command's run on base, remembered or made now. A run that did not end, or found no program, is not kept."""
    folder = context.state.repo(context.repo.key) / "checks"
    name = hashlib.sha256(_key(context, check, runner).encode()).hexdigest()
    file = folder / f"{name}.json"
    try:
        return msgspec.json.decode(file.read_bytes(), type=CommandRun)
    except (FileNotFoundError, msgspec.DecodeError):
        pass
    run = run_command(context, context.base, check.command, runner=runner, timeout=check.timeout, setup=context.setup)
    if run.ended == "exit" and run.exit not in (126, 127):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(file, msgspec.json.encode(run))
        except OSError as error:
            raise GateError(f"a check's result on base cannot be kept: {error.strerror}", where=str(folder)) from error
    return run
