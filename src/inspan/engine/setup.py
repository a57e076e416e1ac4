"""Set-up: the commands that install what checks and agent need, run once per base before any agent exists.

They run in a sandbox of their own on the pristine tree, without network, and what they wrote is frozen as a layer. The
layer is keyed by everything it depends on, so that it is made once and used by every job that asks for the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from inspan.engine.context import Context
from inspan.engine.places import environment_of, owner_at
from inspan.engine.records import Resolved, dump, load
from inspan.errors import WorkspaceError
from inspan.outcome.canonical import digest
from inspan.sandbox.contract import Confinement
from inspan.sandbox.levels import driver
from inspan.sandbox.tools import Toolset
from inspan.store.database import make_private_directory
from inspan.store.ids import attempt_id
from inspan.supervise.command import run_confined
from inspan.workspace.build import SetupLayer, discard, find_setup, freeze_setup, plan_setup
from inspan.workspace.plan import MountPlan

LONGEST = 1800.0
"""Seconds one set-up command may take."""

_SHOWN = 2048  # bytes of a failed command's output in the outcome


def setup_key(resolved: Resolved, base: str, commands: Sequence[str], toolset: Toolset) -> str:
    """Everything a layer depends on: base (lock files are in it), commands, tools, kind of workspace and owner."""
    owner = owner_at(resolved.level)
    tools = [(bind.source, bind.target) for bind in toolset.binds]
    parts = [base, list(commands), tools, toolset.path, resolved.workspace, resolved.level, owner.uid]
    return digest(parts).removeprefix("sha256:")[:32]


def ensure_setup(context: Context, job: str, base: str, commands: Sequence[str], toolset: Toolset) -> SetupLayer | None:
    """The frozen layer of ``commands`` on ``base``, made now when there is none. None without commands.

    Raises:
        WorkspaceError: (``setup_failed``) a command failed; its last output is in the message.
    """
    if not commands:
        return None
    resolved = context.resolved(job)
    repo, kind = resolved.repository, resolved.workspace
    key = setup_key(resolved, base, commands, toolset)
    found = find_setup(context.state, repo, key)
    if found is not None:
        return found
    forget_setup(context, job)
    plan = plan_setup(context.state, repo, base, key, kind=kind, owner=owner_at(resolved.level), level=resolved.level)
    make_private_directory(_note(context, job).parent)
    _note(context, job).write_text(dump(plan))
    try:
        for number, command in enumerate(commands, 1):
            context.say(job, "setup", {"command": command, "number": number, "of": len(commands)})
            _run(context, job, resolved, plan, toolset, command)
        return freeze_setup(context.state, repo, base, key, plan)
    finally:
        forget_setup(context, job)


def forget_setup(context: Context, job: str) -> None:
    """Remove what a set-up of this job left that was cut off with its driver. Idempotent."""
    note = _note(context, job)
    if note.exists():
        with contextlib.suppress(ValueError):  # cut off while it was written: nothing had run yet
            discard(context.state, load(note.read_text(), MountPlan))
        note.unlink()


def _note(context: Context, job: str) -> Path:
    """Where the place of a running set-up is written down."""
    return context.state.attempt(attempt_id(job, 1)).root / "setup.json"


def _run(context: Context, job: str, resolved: Resolved, plan: MountPlan, toolset: Toolset, command: str) -> None:
    confinement = Confinement(
        plan=plan,
        argv=("/bin/sh", "-c", command),
        env=environment_of(toolset, resolved, context.environ) | {"PATH": toolset.path},
        tools=toolset.binds,
        ports=0,
    )
    ran = run_confined(driver(resolved.level), confinement, timeout=LONGEST, cancelled=lambda: context.cancelled(job))
    if ran.exit == 0:
        return
    how = {"timeout": f"of one that was ended after {LONGEST:.0f} s", "cancelled": "of one that was cancelled"}
    tail = ran.output[-_SHOWN:].decode("utf-8", "replace").strip()
    raise WorkspaceError(
        f"the set-up command ended with status {how.get(ran.ended, ran.exit)}: {command}\n{tail}",
        where="set-up, before any agent",
        do="Correct the command, or what it needs; set-up has no network.",
        reason="setup_failed",
    )
