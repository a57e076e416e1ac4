"""One check command in one fresh copy of one tree, confined, its output capped and its test results collected."""

from __future__ import annotations

import os
import secrets
import stat
import threading
import time
from pathlib import Path

import msgspec

from inspan.errors import GateError
from inspan.gate.context import GateContext
from inspan.gate.results import TestRun, read_lines
from inspan.gate.runners import Arranged, Runner, arrange
from inspan.sandbox.contract import Confinement
from inspan.sandbox.levels import driver
from inspan.workspace.build import SetupLayer, discard, plan_check
from inspan.workspace.plan import Bind, MountPlan
from inspan.workspace.remove import remove_tree

HEAD, TAIL = 256 << 10, 768 << 10
"""Bytes of output kept from the beginning and from the end; what lies between is dropped and counted."""
EVIDENCE_LIMIT = 64 << 20
_SHIM_INSIDE, _EVIDENCE_INSIDE = "/inspan/shim", "/inspan/evidence"


class CommandRun(msgspec.Struct, frozen=True, kw_only=True):
    """What one command did.

    Attributes:
        exit: exit status, negative for a signal, None when it did not end in time or was stopped.
        seconds: how long it ran.
        output: standard output and error together, at most ``HEAD + TAIL`` bytes.
        tests: per-test results of a known runner, None for any other command.
        ended: ``exit``, ``timeout``, or ``output`` (it wrote more than allowed).
    """

    exit: int | None
    seconds: float
    output: bytes
    tests: TestRun | None = None
    ended: str = "exit"


class _Output:
    """Reads a pipe to its end in a thread, keeping a head and a tail."""

    def __init__(self, fd: int, limit: int | None) -> None:
        self.fd, self.limit = fd, limit
        self.head, self.tail = bytearray(), bytearray()
        self.total = 0
        self.flooded = threading.Event()
        self.thread = threading.Thread(target=self._drain, name="check-output", daemon=True)
        self.thread.start()

    def _drain(self) -> None:
        with os.fdopen(self.fd, "rb", buffering=0) as pipe:
            while chunk := pipe.read(1 << 16):
                self._take(chunk)

    def _take(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = HEAD - len(self.head)
        self.head += chunk[: max(room, 0)]
        self.tail += chunk[max(room, 0) :]
        if len(self.tail) > 2 * TAIL:
            del self.tail[:-TAIL]
        if self.limit is not None and self.total > self.limit:
            self.flooded.set()

    def take(self) -> bytes:
        """What was read so far. A pipe that somebody still holds open is not waited for."""
        self.thread.join(2.0)
        tail = bytes(self.tail[-TAIL:])
        dropped = self.total - len(self.head) - len(tail)
        middle = b"\n[... %d bytes ...]\n" % dropped if dropped > 0 else b""
        return bytes(self.head) + middle + tail


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
    key = ""
    if runner is not None:
        shim, evidence = _prepare(context, desk)
        bound = context.level != "none"
        arranged: Arranged = arrange(
            runner,
            command,
            token=secrets.token_hex(22),
            shim_inside=_SHIM_INSIDE if bound else str(shim),
            evidence_inside=f"{_EVIDENCE_INSIDE if bound else evidence}/results",
            root_inside=plan.root_inside,
            only=only,
        )
        (shim / f"{arranged.module_name}.py").write_bytes(arranged.module)
        key = arranged.key
        command, env = arranged.command, env | arranged.env
        if bound:
            binds = (
                Bind(source=str(shim), target=_SHIM_INSIDE),
                Bind(source=str(evidence), target=_EVIDENCE_INSIDE, writable=True),
            )
            plan = msgspec.structs.replace(plan, binds=(*plan.binds, *binds))
    confinement = Confinement(
        plan=plan,
        argv=("/bin/sh", "-c", command),
        env=env,
        tools=context.toolset.binds,
        ports=0,
        limits=context.limits,
        network="none",
    )
    exit_status, seconds, output, ended = _confined(context, confinement, timeout)
    tests = read_lines(_evidence(evidence), key) if evidence is not None else None
    return CommandRun(exit=exit_status, seconds=seconds, output=output, tests=tests, ended=ended)


def _confined(context: GateContext, confinement: Confinement, timeout: float) -> tuple[int | None, float, bytes, str]:
    """Start, follow and end one tree; nothing of it lives when this returns or raises."""
    read_end, write_end = os.pipe()
    null = os.open(os.devnull, os.O_RDONLY)
    output = _Output(read_end, context.limits.output_bytes)
    began = time.monotonic()
    try:
        tree = driver(context.level).start(confinement, stdin=null, stdout=write_end, stderr=write_end)
    finally:
        os.close(write_end)
        os.close(null)
    ended = "exit"
    try:
        tree.release()
        while (status := tree.wait(0.2)) is None:
            if context.cancelled is not None and context.cancelled():
                raise GateError("the job was cancelled during a check", reason="cancelled_by_user")
            late = time.monotonic() - began > timeout
            if late or output.flooded.is_set():
                ended = "timeout" if late else "output"
                tree.kill()
                tree.wait(30.0)
                break
    finally:
        tree.close()
    return status, time.monotonic() - began, output.take(), ended


def _evidence(directory: Path) -> bytes:
    """The evidence file, opened without following a link; empty when there is none.

    Raises:
        GateError: it is not a regular file, or too large.
    """
    at = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        try:
            fd = os.open("results", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise GateError("the test results are not a file", where=str(directory)) from error
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or found.st_size > EVIDENCE_LIMIT:
                raise GateError("the test results are not a file of a sane size", where=str(directory))
            with os.fdopen(os.dup(fd), "rb") as stream:
                return stream.read(EVIDENCE_LIMIT)
        finally:
            os.close(fd)
    finally:
        os.close(at)
