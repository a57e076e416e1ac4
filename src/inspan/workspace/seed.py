"""Starting an attempt from an earlier one's result."""

from __future__ import annotations

from inspan.spec.paths import State
from inspan.workspace.build import SetupLayer, write_result
from inspan.workspace.layout import Owner
from inspan.workspace.plan import MountPlan
from inspan.workspace.repository import Repository


def seed(
    state: State, repo: Repository, plan: MountPlan, base: str, result: str, setup: SetupLayer | None = None
) -> None:
    """Write the tree of ``result``, a commit of the gate's on ``base``, into a fresh workspace as uncommitted changes.

    The workspace's base stays ``base``, so that the whole change is judged again, the earlier part included. Written by
    the trusted side from the gate's own objects; the agent has not started.

    Raises:
        WorkspaceError, StateError: as ``plan_attempt``.
    """
    if result != base:
        write_result(state, repo, base, result, plan, Owner(uid=plan.uid, gid=plan.gid), setup)
