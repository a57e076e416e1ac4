"""Set-up: the commands that install what checks and agent need, run before any agent exists.

They run in a sandbox of their own, and what they wrote is frozen as a layer that every job with the same question uses.
Commands that are known to read lock files and manifests alone, or of which the configuration says what they read, see
nothing else: their layer serves every base that has the same files. All others see the whole base, and theirs is that
base's alone; it starts from a copy of what the former made.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from inspan.engine.context import Context
from inspan.engine.places import environment_of, owner_at
from inspan.engine.records import Prepared, Resolved, dump, load
from inspan.engine.setup_key import key_of, sharable
from inspan.errors import WorkspaceError
from inspan.gate.setup import setup_changed
from inspan.sandbox.contract import Confinement
from inspan.sandbox.levels import driver
from inspan.sandbox.tools import Toolset
from inspan.spec.provision.tree import Inputs
from inspan.store.database import make_private_directory
from inspan.store.ids import attempt_id
from inspan.supervise.command import Ran, run_confined
from inspan.workspace.bare import Base, begin_with, lacking, plan_bare
from inspan.workspace.build import SetupLayer, discard, find_setup, freeze_setup, plan_setup
from inspan.workspace.changeset import Changeset
from inspan.workspace.plan import MountPlan
from inspan.workspace.setup import building, drop_setups, freeze, intact, is_unfit, note_unfit, setup_scratch

LONGEST = 1800.0
"""Seconds one set-up command may take."""

_SHOWN = 2048  # bytes of a failed command's output in the outcome
_NAMED = 8  # destinations it asked for in vain


class _Order(NamedTuple):
    """What is asked for.

    Attributes:
        shared: how many of the commands, from the first, can be run with ``inputs`` alone in view.
        keys: of the layer those make, and of the layer all of them make on the whole base.
        once: name of a layer for the checks of one attempt; None for one that later jobs use.
    """

    context: Context
    job: str
    resolved: Resolved
    base: str
    commands: tuple[str, ...]
    toolset: Toolset
    shared: int
    inputs: Inputs
    keys: tuple[str, str]
    once: str | None

    @property
    def complete(self) -> bool:
        """Whether all commands can be run with ``inputs`` alone in view."""
        return self.shared == len(self.commands)

    def find(self, *names: str) -> SetupLayer | None:
        """The first of some layers that is there."""
        state, repo = self.context.state, self.resolved.repository
        with Base(state, repo, self.base) as view:
            found = (find_setup(state, repo, name, view) for name in names)
            return next((layer for layer in found if layer is not None), None)

    def found(self) -> SetupLayer | None:
        """The layer of all commands, where it has been made already."""
        names = (self.once, self.keys[0] if self.complete else None, self.keys[1])
        return self.find(*(name for name in names if name is not None))


def ensure_setup(
    context: Context, job: str, base: str, commands: Sequence[str], toolset: Toolset, *, once: bool = False
) -> SetupLayer | None:
    """The frozen layer of ``commands`` for ``base``, made now when there is none. None without commands.

    Of several jobs that want the same layer one makes it, and the others wait.

    Args:
        once: a layer made now is for the checks of this job's attempt alone (``forget_once``).

    Raises:
        WorkspaceError: (``setup_failed``) a command failed; its last output is in the message.
    """
    if not commands:
        return None
    order = _order(context, job, base, commands, toolset, once)
    found = order.found()
    if found is not None:
        return found
    forget_setup(context, job)
    lock = order.once or order.keys[0]
    with building(context.state, order.resolved.repository, lock, cancelled=lambda: context.cancelled(job)):
        try:
            return order.found() or _made(order)
        finally:
            forget_setup(context, job)


def setup_for_result(context: Context, job: str, prepared: Prepared, changeset: Changeset) -> SetupLayer | None:
    """The layer the checks stand on in place of the agent's, None where that one will do.

    Set-up runs again for the checks when the result changed what it read: of commands that saw certain files alone, one
    of those; else a lock file, a manifest or what the configuration names, or anything at all where set-up left copies
    of the repository's own sources, which would be checked in the result's place.

    Raises:
        WorkspaceError: (``environment_lost``) the layer has changed since it was frozen, or as ``ensure_setup``.
    """
    layer, resolved, commands = prepared.setup, context.resolved(job), context.spec(job).setup
    if layer is None:
        return None
    if not intact(layer):
        find_setup(context.state, resolved.repository, layer.key)  # which takes it away
        raise WorkspaceError(
            "the set-up layer was changed while the job ran",
            where=layer.lower,
            do="run the job again: the layer is made anew; see who else writes into the state directory",
            reason="environment_lost",
        )
    paths = [file.path for file in changeset.change.files]
    if changeset.result is None or not paths:
        return None
    if layer.shared:
        if _order(context, job, changeset.result, commands, prepared.toolset, True).keys[0] == layer.key:
            return None
    elif not layer.copied and not setup_changed(paths, resolved.setup_inputs):
        return None
    return ensure_setup(context, job, changeset.result, commands, prepared.toolset, once=True)


def _order(context: Context, job: str, base: str, commands: Sequence[str], toolset: Toolset, once: bool) -> _Order:
    resolved = context.resolved(job)
    with Base(context.state, resolved.repository, base) as view:
        shared, inputs = sharable(view, resolved, commands, toolset)
        seen = view.digest(inputs) if shared else base
    keys = (
        key_of(context, resolved, seen, commands[: shared or None], toolset),
        key_of(context, resolved, base, commands, toolset),
    )
    name = f"{_once(job)}{keys[1][:16]}" if once else None
    return _Order(context, job, resolved, base, tuple(commands), toolset, shared, inputs, keys, name)


def _made(order: _Order) -> SetupLayer:
    """Run the commands: those that see their inputs alone first, then the rest on the whole base."""
    state, repo, key = order.context.state, order.resolved.repository, order.keys[0]
    below, tried = None, False
    if order.shared and not is_unfit(state, repo, key):
        below = order.find(key)
        # Made from what an agent wrote it is found by no later job, and so is not made for a part of the commands.
        if below is None and (order.complete or not order.once):
            below, tried = _made_bare(order), True
        if below is not None and order.complete:
            return below
    plan = plan_setup(
        state, repo, order.base, order.once or order.keys[1],
        kind=order.resolved.workspace, owner=owner_at(order.resolved.level), level=order.resolved.level,
    )  # fmt: skip
    _write_note(order, plan)
    if below is not None:
        begin_with(Path(below.lower), Path(below.home), plan)
    _run_all(order, plan, range(order.shared if below is not None else 0, len(order.commands)))
    made = freeze_setup(state, repo, order.base, order.once or order.keys[1], plan)
    if tried and below is None and not order.once:
        note_unfit(state, repo, key)
    return made


def _made_bare(order: _Order) -> SetupLayer | None:
    """The layer of the commands that see their inputs alone; None where the whole base turns out to be wanted."""
    state, repo, resolved = order.context.state, order.resolved.repository, order.resolved
    name = order.once or order.keys[0]
    scratch = setup_scratch(state, repo, name)
    with Base(state, repo, order.base) as view:
        plan = plan_bare(
            repo, view, order.inputs, scratch,
            kind=resolved.workspace, owner=owner_at(resolved.level), level=resolved.level,
        )  # fmt: skip
    _write_note(order, plan)
    try:
        _run_all(order, plan, range(order.shared))
        why = lacking(Path(plan.upper or plan.directory), plan.root_inside)
    except WorkspaceError as failed:
        if failed.reason != "setup_failed" or order.context.cancelled(order.job):
            raise
        why = f"it ended with an error there: {failed.what.splitlines()[-1]}"
    if why is None:
        made = freeze(state, repo, order.base, name, plan, plan.lowers, shared=True)
        forget_setup(order.context, order.job)
        return made
    forget_setup(order.context, order.job)
    order.context.say(order.job, "setup_widened", {"why": why})
    return None


def _run_all(order: _Order, plan: MountPlan, numbers: range) -> None:
    for number in numbers:
        command = order.commands[number]
        told = {"command": command, "number": number + 1, "of": len(order.commands)}
        order.context.say(order.job, "setup", told)
        _run(order.context, order.job, order.resolved, plan, order.toolset, command)


def _write_note(order: _Order, plan: MountPlan) -> None:
    note = _note(order.context, order.job)
    make_private_directory(note.parent)
    note.write_text(dump(plan))


def _once(job: str) -> str:
    """What the names of the layers that serve one attempt's checks alone begin with."""
    return f"once-{attempt_id(job, 1)}-"


def forget_once(context: Context, job: str) -> None:
    """Remove the layer that was made for the checks of this job's attempt alone. Idempotent."""
    drop_setups(context.state, context.resolved(job).repository, _once(job))


def forget_setup(context: Context, job: str) -> None:
    """Remove what a set-up of this job left that was cut off with its driver. Idempotent."""
    note = _note(context, job)
    if note.exists():
        with contextlib.suppress(ValueError):  # cut off while it was written: nothing had run yet
            discard(context.state, load(note.read_text(), MountPlan))
        note.unlink()


def _note(context: Context, job: str) -> Path:
    """Where the place of a running set-up is written down."""
    return context.state.attempt(attempt_id(job, 1)).setup_note


def _run(context: Context, job: str, resolved: Resolved, plan: MountPlan, toolset: Toolset, command: str) -> None:
    confinement = Confinement(
        plan=plan,
        argv=("/bin/sh", "-c", command),
        env=environment_of(toolset, resolved, context.environ) | {"PATH": toolset.path},
        tools=toolset.binds,
        ports=0,
        limits=resolved.limits,
        egress=resolved.egress,
        private=resolved.private,
    )
    ran = run_confined(driver(resolved.level), confinement, timeout=LONGEST, cancelled=lambda: context.cancelled(job))
    if ran.egress is not None:
        context.say(job, "setup_connections", {"command": command, "connections": msgspec.to_builtins(ran.egress)})
    if ran.exit == 0:
        return
    how = {"timeout": f"of one that was ended after {LONGEST:.0f} s", "cancelled": "of one that was cancelled"}
    how["limit"] = f"of one that exceeded the limit {ran.exceeded}"
    tail = ran.output[-_SHOWN:].decode("utf-8", "replace").strip()
    raise WorkspaceError(
        f"the set-up command ended with status {how.get(ran.ended, ran.exit)}: {command}\n{tail}",
        where="set-up, before any agent",
        do=f"Correct the command, or what it needs; set-up reaches what --egress grants and nothing else.{_asked(ran)}",
        reason="setup_failed",
    )


def _asked(ran: Ran) -> str:
    """What a command asked for in vain: probably what it needs."""
    decisions = () if ran.egress is None else ran.egress.decisions
    refused = [f"{d.host}:{d.port}" for d in decisions if d.why == "not_granted"]
    return f" It asked for {', '.join(refused[:_NAMED])}." if refused else ""
