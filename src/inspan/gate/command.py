"""One check command in one fresh copy of one tree, confined, its output capped and its test results collected."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import msgspec

from inspan.errors import GateError
from inspan.files import beneath, read_regular
from inspan.gate.context import GateContext
from inspan.gate.results import TestRun
from inspan.gate.runners import Arranged, Runner, arrange, read_results
from inspan.gate.runners.contract import Left
from inspan.sandbox.contract import Confinement
from inspan.sandbox.levels import driver
from inspan.spec.levels import promises
from inspan.supervise.command import run_confined
from inspan.workspace.build import SetupLayer, discard, plan_check
from inspan.workspace.plan import Bind, MountPlan
from inspan.workspace.remove import remove_tree

EVIDENCE_LIMIT = 64 << 20
"""Bytes of all evidence files of one run."""
EVIDENCE_FILES = 20_000
_SHIM_INSIDE, _EVIDENCE_INSIDE = "/inspan/shim", "/inspan/evidence"


class CommandRun(msgspec.Struct, frozen=True, kw_only=True):
    """What one command did.

    Attributes:
        exit: exit status, negative for a signal, None when it did not end in time or was stopped.
        seconds: how long it ran.
        output: standard output and error together, its head and tail when it is long.
        tests: per-test results of a known runner, None for any other command.
        ended: ``exit``, ``timeout``, ``output`` (it wrote more than allowed), or ``limit``.
        exceeded: for ``limit``, which one.
    """

    exit: int | None
    seconds: float
    output: bytes
    tests: TestRun | None = None
    ended: str = "exit"
    exceeded: str | None = None


def run_command(
    context: GateContext,
    commit: str,
    command: str,
    *,
    runner: Runner | None,
    timeout: float,
    setup: SetupLayer | None,
    only: str = "",
) -> CommandRun:
    """Run ``command`` by ``sh -c`` on a fresh copy of ``commit``, above the set-up layer ``setup``.

    Raises:
        GateError: the copy, the sandbox or the evidence could not be had.
    """
    name = f"c{secrets.token_hex(4)}"
    plan = plan_check(
        context.state,
        context.repo,
        context.base,
        commit,
        context.attempt,
        name,
        kind=context.kind,
        owner=context.owner,
        share=context.share,
        setup=setup,
        level=context.level,
    )
    desk = context.state.attempt(context.attempt).root / f"evidence-{name}"
    try:
        return _run(context, plan, desk, command, runner, timeout, only)
    finally:
        discard(context.state, plan)
        remove_tree(desk)


def _prepare(context: GateContext, desk: Path) -> tuple[Path, Path]:
    """Directories for the shim (read by the command) and the evidence (written by it)."""
    shim, evidence = desk / "shim", desk / "out"
    for directory in (desk, shim, evidence):
        directory.mkdir(mode=0o755)
    if os.geteuid() == 0 and context.owner.uid != 0:
        os.chown(evidence, context.owner.uid, context.owner.gid)
    return shim, evidence


def _run(
    context: GateContext, plan: MountPlan, desk: Path, command: str, runner: Runner | None, timeout: float, only: str
) -> CommandRun:
    env = dict(context.env) | {"PATH": context.toolset.path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    evidence: Path | None = None
    key = root = ""
    if runner is not None:
        shim, evidence = _prepare(context, desk)
        targets = (_SHIM_INSIDE, _EVIDENCE_INSIDE) if promises(context.level).own_mounts else (str(shim), str(evidence))
        root = plan.root_inside
        arranged = arrange(
            runner,
            command,
            token=secrets.token_hex(22),
            shim_inside=targets[0],
            evidence_inside=targets[1],
            root_inside=root,
            env=env,
            only=only,
        )
        _place(shim, arranged)
        command, env, key = arranged.command, dict(arranged.env), arranged.key
        binds = (
            Bind(source=str(shim), target=targets[0]),
            Bind(source=str(evidence), target=targets[1], writable=True),
        )
        plan = msgspec.structs.replace(plan, binds=(*plan.binds, *binds))
    confinement = Confinement(
        plan=plan,
        argv=("/bin/sh", "-c", command),
        env=env,
        tools=context.toolset.binds,
        ports=0,
        limits=context.limits,
    )
    ran = run_confined(
        driver(context.level),
        confinement,
        timeout=timeout,
        output_limit=context.limits.output_bytes,
        cancelled=context.cancelled,
    )
    if ran.ended == "cancelled":
        raise GateError("the job was cancelled during a check", reason="cancelled_by_user")
    tests = None
    if runner is not None and evidence is not None:
        tests = read_results(runner, Left(files=read_directory(evidence), output=ran.output, key=key, root=root))
    return CommandRun(
        exit=ran.exit, seconds=ran.seconds, output=ran.output, tests=tests, ended=ran.ended, exceeded=ran.exceeded
    )


def _place(shim: Path, arranged: Arranged) -> None:
    """Write the shim files, names with folders too; those without a suffix are programs."""
    for name, data in arranged.files.items():
        file = shim / name
        for folder in reversed(file.relative_to(shim).parents[:-1]):
            (shim / folder).mkdir(mode=0o755, exist_ok=True)
        file.write_bytes(data)
        file.chmod(0o644 if file.suffix else 0o755)


def read_directory(directory: Path) -> dict[str, bytes]:
    """The evidence files by name, opened without following a link; what else stands there is left out.

    Raises:
        GateError: one is not a regular file, there are too many, or they are too large.
    """
    found: dict[str, bytes] = {}
    left = EVIDENCE_LIMIT
    try:
        with beneath(directory) as at:
            names = sorted(os.listdir(at))
            if len(names) > EVIDENCE_FILES:
                raise GateError(f"{len(names)} files of test results, more than {EVIDENCE_FILES}", where=str(directory))
            for name in names:
                found[name] = read_regular(name, left, at=at)
                left -= len(found[name])
    except OSError as error:
        raise GateError(f"the test results cannot be used: {error.strerror}", where=str(directory)) from error
    return found
