"""Mount plans: what an attempt, a set-up and a check find when they start. Nothing is mounted here.

Every plan costs the same at any repository size as an overlay; a clone is a complete private copy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from inspan.errors import WorkspaceError
from inspan.spec.levels import promises
from inspan.spec.paths import State
from inspan.workspace.clone import copy_pristine
from inspan.workspace.gate_repository import ensure_gate, gate_git
from inspan.workspace.git import TrustedGit
from inspan.workspace.layers import (
    Difference,
    change_copy,
    copy_home,
    differences_between,
    own_tree,
    write_difference,
)
from inspan.workspace.layout import Meta, Owner, gate_dir, made, state_error
from inspan.workspace.objects import Objects
from inspan.workspace.passage import open_passage
from inspan.workspace.place import inside_root
from inspan.workspace.plan import Bind, MountPlan
from inspan.workspace.pristine import ensure_pristine, meta_of, missing
from inspan.workspace.probe import overlay_possible
from inspan.workspace.remove import remove_tree, set_aside
from inspan.workspace.repository import Repository
from inspan.workspace.setup import SCRATCH, SetupLayer, apply_setup, find_setup, freeze, setup_scratch
from inspan.workspace.shares import share_directory
from inspan.workspace.stores import STORES_INSIDE
from inspan.workspace.template import alternates_file, exclude_lines, write_branch

__all__ = [
    "Owner",
    "SetupLayer",
    "discard",
    "ensure_gate",
    "ensure_pristine",
    "find_setup",
    "freeze_setup",
    "missing",
    "overlay_possible",
    "plan_attempt",
    "plan_check",
    "plan_setup",
    "write_result",
]

Kind = Literal["overlay", "clone"]


def plan_attempt(
    state: State,
    repo: Repository,
    base: str,
    attempt: str,
    *,
    kind: Kind,
    owner: Owner,
    share: Sequence[str] = (),
    setup: SetupLayer | None = None,
    read_only: bool = False,
    level: str,
) -> MountPlan:
    """The workspace of one attempt on ``base``, on its own branch ``agent/<attempt>``.

    What an earlier, never started plan of the same attempt left is replaced.

    Args:
        state, repo: the state directory and the user's repository.
        base: a commit of it.
        attempt: ``<job>.a<n>``.
        kind: ``overlay`` or ``clone``.
        owner: who owns the writable leaves.
        share: ignored directories of the checkout shown read-only, relative to it; only with mounts of its own.
        setup: a frozen set-up layer to start on.
        read_only: mount the workspace read-only.
        level: the sandbox level; without mounts of its own the workspace stands at its own host path.

    Raises:
        InvalidSpec: a share leaves the checkout or is no directory.
        WorkspaceError, StateError, RepositoryError: as ``ensure_pristine``.
    """
    paths = state.attempt(attempt)
    made(paths.root)
    remove_tree(paths.workspace)
    remove_tree(paths.home)
    return _plan(
        state, repo, base, paths.workspace, paths.home,
        kind=kind, owner=owner, share=share, setup=setup, read_only=read_only, level=level, attempt=attempt,
    )  # fmt: skip


def plan_setup(
    state: State, repo: Repository, base: str, key: str, *, kind: Kind, owner: Owner, level: str
) -> MountPlan:
    """The workspace the set-up commands run in, on ``base``; ``freeze_setup`` turns it into a layer."""
    scratch = setup_scratch(state, repo, key)
    return _plan(
        state, repo, base, scratch / "ws", scratch / "home",
        kind=kind, owner=owner, level=level, attempt="setup",
    )  # fmt: skip


def freeze_setup(state: State, repo: Repository, base: str, key: str, plan: MountPlan) -> SetupLayer:
    """Turn what the set-up commands wrote into the frozen layer ``key``. Only after their tree is dead.

    A layer of that key that somebody else froze first is kept, and this one is discarded.

    Raises:
        WorkspaceError: the layer cannot be read or written.
    """
    owner = Owner(uid=plan.uid, gid=plan.gid)
    lowers = ensure_pristine(state, repo, base, owner)
    layer = freeze(state, repo, base, key, plan, lowers)
    discard(state, plan)
    return layer


def plan_check(
    state: State,
    repo: Repository,
    base: str,
    result: str,
    attempt: str,
    name: str,
    *,
    kind: Kind,
    owner: Owner,
    share: Sequence[str] = (),
    setup: SetupLayer | None = None,
    level: str,
) -> MountPlan:
    """A fresh tree of ``result`` (``base`` or a commit of the gate's) for the check called ``name``.

    The trusted side wrote everything in it from its own objects; nothing is taken from the attempt's workspace. Tracked
    files are those of ``result`` whatever the set-up did to them: what is checked is what would be delivered.
    """
    place = state.attempt(attempt).root / "checks" / (re.sub(r"[^A-Za-z0-9_-]", "-", name) or "check")
    remove_tree(place)
    plan = _plan(
        state, repo, base, place / "ws", place / "home",
        kind=kind, owner=owner, share=share, setup=setup, level=level, attempt="check",
    )  # fmt: skip
    if result != base or (setup is not None and setup.changed_tracked):
        write_result(state, repo, base, result, plan, owner, setup, restore=setup.changed_tracked if setup else ())
    return plan


def write_result(
    state: State,
    repo: Repository,
    base: str,
    result: str,
    plan: MountPlan,
    owner: Owner,
    setup: SetupLayer | None,
    *,
    restore: Sequence[str] = (),
) -> None:
    """Turn the fresh tree of ``base`` in ``plan``'s workspace into that of ``result``, from the gate's own objects.

    Args:
        restore: paths that a set-up layer changed and that are to be as ``result`` has them.
    """
    git = gate_git(state, repo)
    meta = meta_of(state, repo, base, owner)
    with Objects(git) as objects:
        changes = differences_between(git, base, result)
        changes += _restored(objects, result, {os.fsencode(p) for p in restore} - {c.path for c in changes})
        changes = [c for c in changes if b"160000" not in (c.mode_before, c.mode)]
        changes = [c for c in changes if os.fsdecode(c.path) not in meta.lfs]
        if plan.upper is not None:
            # Below a set-up layer a directory without tracked files may still hold what set-up made.
            write_difference(Path(plan.upper), changes, objects, result, whole=setup is None)
        else:
            change_copy(Path(plan.directory), changes, objects)
    _own_changed(Path(plan.upper or plan.directory), changes, owner)


def _restored(objects: Objects, result: str, paths: Iterable[bytes]) -> list[Difference]:
    """``paths`` as ``result`` has them, or gone where it has none."""
    found = []
    for path in sorted(paths):
        entry = objects.entry(result, path)
        if entry is None:
            found.append(Difference("D", b"100644", b"000000", "", "", path))
        elif not entry.is_tree:
            found.append(Difference("M", entry.mode, entry.mode, entry.oid, entry.oid, path))
    return found


def _own_changed(root: Path, changes: Sequence[Difference], owner: Owner) -> None:
    if owner.uid == os.geteuid():
        return
    for change in changes:
        target = root
        for part in os.fsdecode(change.path).split("/"):
            target = target / part
            if not os.path.lexists(target):
                break
            os.lchown(target, owner.uid, owner.gid)


def _plan(
    state: State,
    repo: Repository,
    base: str,
    place: Path,
    home: Path,
    *,
    kind: Kind,
    owner: Owner,
    level: str,
    attempt: str,
    share: Sequence[str] = (),
    setup: SetupLayer | None = None,
    read_only: bool = False,
) -> MountPlan:
    shares = [share_directory(repo, path) for path in share] if promises(level).own_mounts else []
    lowers = ensure_pristine(state, repo, base, owner)
    meta = meta_of(state, repo, base, owner)
    made(place, 0o755)
    try:
        if kind == "overlay":
            below, work = _frozen_home(setup), place / "home-work"
            home = place / "home" if below else home
            for directory in (home, work) if below else (home,):
                _make_home(directory, None, owner)
            plan = _overlay(state, repo, base, place, home, owner, attempt, lowers, meta, shares, setup, read_only)
            return msgspec.structs.replace(plan, home_lower=below, home_work=os.fspath(work)) if below else plan
        _make_home(home, setup, owner)
        return _clone(state, repo, base, place, home, owner, attempt, lowers, meta, shares, setup, read_only, level)
    except OSError as refused:
        raise state_error(refused, place) from refused


def _frozen_home(setup: SetupLayer | None) -> str | None:
    """The home a set-up left, where there is anything in it."""
    return setup.home if setup is not None and os.listdir(setup.home) else None


def _make_home(home: Path, setup: SetupLayer | None, owner: Owner) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if setup is not None:
        copy_home(Path(setup.home), home)
    own_tree(home, owner.uid, owner.gid)


def _overlay(
    state: State, repo: Repository, base: str, place: Path, home: Path, owner: Owner, attempt: str,
    lowers: tuple[str, ...], meta: Meta, shares: list[str], setup: SetupLayer | None, read_only: bool,
) -> MountPlan:  # fmt: skip
    upper, work, point = place / "upper", place / "work", place / "m"
    for directory in (upper, work, point):
        directory.mkdir(mode=0o755)
    (upper / ".git").mkdir(mode=0o755)
    write_branch(upper / ".git", repo, base, attempt)
    if shares:
        (upper / ".git/info").mkdir(mode=0o755)
        (upper / ".git/info/exclude").write_bytes(exclude_lines(shares))
    for directory in (upper, work, point):
        own_tree(directory, owner.uid, owner.gid)
    root = inside_root(repo.toplevel)
    return MountPlan(
        kind="overlay",
        root_inside=root,
        directory=os.fspath(point),
        home=os.fspath(home),
        lowers=(*((setup.lower,) if setup else ()), *lowers),
        upper=os.fspath(upper),
        work=os.fspath(work),
        binds=_binds(state, repo, meta, shares, root),
        read_only=read_only,
        uid=owner.uid,
        gid=owner.gid,
    )


def _clone(
    state: State, repo: Repository, base: str, place: Path, home: Path, owner: Owner, attempt: str,
    lowers: tuple[str, ...], meta: Meta, shares: list[str], setup: SetupLayer | None, read_only: bool, level: str,
) -> MountPlan:  # fmt: skip
    tree = place / "tree"
    root = inside_root(repo.toplevel) if promises(level).own_mounts else os.fspath(tree)
    binds: tuple[Bind, ...] = ()
    copy_pristine(lowers, tree)
    if setup is not None:
        apply_setup(setup, tree)
    write_branch(tree / ".git", repo, base, attempt)
    if promises(level).own_mounts:
        binds = _binds(state, repo, meta, shares, root)
    else:
        (tree / ".git/objects/info/alternates").write_bytes(alternates_file(meta.stores))
        binds = tuple(Bind(source=store, target=store) for store in meta.stores)
    if shares:
        (tree / ".git/info/exclude").write_bytes(exclude_lines(shares))
    _refresh_clone(state, repo, tree, owner)
    if not promises(level).own_mounts:
        for used in (tree, *map(Path, meta.stores)):
            open_passage(state.root, used, owner)
    return MountPlan(
        kind="clone",
        root_inside=root,
        directory=os.fspath(tree),
        home=os.fspath(home),
        binds=binds,
        read_only=read_only,
        uid=owner.uid,
        gid=owner.gid,
    )


def _refresh_clone(state: State, repo: Repository, tree: Path, owner: Owner) -> None:
    """Give the copy to its owner and let its index know the copied files. No agent exists yet: its git is ours."""
    own_tree(tree, owner.uid, owner.gid)
    git = TrustedGit(tree / ".git", repo.object_format, work_tree=tree, objects=gate_dir(state, repo) / "objects")
    git.call("update-index", "-q", "--refresh")
    own_tree(tree / ".git", owner.uid, owner.gid)


def _binds(state: State, repo: Repository, meta: Meta, shares: Sequence[str], root: str) -> tuple[Bind, ...]:
    binds = []
    for number, store in enumerate(meta.stores):
        binds.append(Bind(source=store, target=f"{STORES_INSIDE}/{number}"))
        if os.path.lexists(os.path.join(store, "info/alternates")):
            # It names host paths that are not there inside; the stores behind them are all bound, so hide it.
            empty = state.repo(repo.key) / "empty"
            empty.touch(mode=0o644)
            binds.append(Bind(source=os.fspath(empty), target=f"{STORES_INSIDE}/{number}/info/alternates"))
    binds += [Bind(source=os.path.join(repo.toplevel, path), target=f"{root}/{path}") for path in shares]
    return tuple(binds)


def discard(state: State, plan: MountPlan) -> None:
    """Remove what a ``plan_*`` function made: the workspace and its home. Idempotent.

    Raises:
        WorkspaceError: the plan names a place that is not a workspace in the state directory.
    """
    place, home = Path(plan.directory).parent, Path(plan.home)
    for path in (place, home):
        if not _ours(state, path):
            raise WorkspaceError(
                "this is no workspace of the state directory", where=os.fspath(path), do="leave it alone"
            )
    try:
        for path in (place, home):
            if os.path.lexists(path):
                remove_tree(set_aside(path))
        if place.parent.parent.name == "checks" or place.parent.name.startswith(SCRATCH):
            place.parent.rmdir()
    except FileNotFoundError:
        return
    except OSError as refused:
        raise state_error(refused, place) from refused


def _ours(state: State, path: Path) -> bool:
    """Whether ``path`` is below one attempt or one unfinished set-up, with no link on the way."""
    if path != Path(os.path.normpath(path)):
        return False
    for root, depth in ((state.attempts, 2), (state.root / "repos", 4)):
        try:
            parts = path.relative_to(root).parts
        except ValueError:
            continue
        if depth == 4 and (len(parts) < 4 or parts[1] != "setup" or not parts[2].startswith(SCRATCH)):
            return False
        return len(parts) >= depth and os.path.realpath(path.parent) == os.path.join(
            os.path.realpath(root), *parts[:-1]
        )
    return False
