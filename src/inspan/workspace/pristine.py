"""Pristine layers: the raw content of one base, made once, never changed, shared by every attempt on it.

A base near one that is already there becomes a layer that holds only the difference. Nothing is converted: the layer's
own attributes switch filters, end-of-line conversion, ident and encodings off, so its bytes are those the gate hashes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from inspan.errors import WorkspaceError
from inspan.spec.paths import State
from inspan.workspace import fills
from inspan.workspace.gate_repository import gate_git, keep_base
from inspan.workspace.git import TrustedGit
from inspan.workspace.history import descends, write_history
from inspan.workspace.ignore import ensure_rules
from inspan.workspace.layers import (
    Difference,
    differences_between,
    make_whiteout,
    own_tree,
    walk,
    whiteouts_possible,
    write_difference,
)
from inspan.workspace.layout import Meta, Owner, arriving, gate_dir, locked, pristine_dir, pristine_name, read_meta
from inspan.workspace.objects import Objects
from inspan.workspace.remove import remove_tree, set_aside
from inspan.workspace.repository import Repository
from inspan.workspace.stores import STORES_INSIDE
from inspan.workspace.template import write_skeleton
from inspan.workspace.use import note_use

MAX_DEPTH = 8
"""Layers of one stack; a base above a full stack begins another on the same full tree."""
MAX_DIFFERENCE = 2000
"""Changed paths up to which a base counts as near; one that is near to no layer gets a full tree."""
CANDIDATES = 4
"""How many of the youngest layers are tried as the one below."""


def ensure_pristine(state: State, repo: Repository, base: str, owner: Owner) -> tuple[str, ...]:
    """The read-only layers of ``base``, topmost first; made when missing. Safe against concurrent builders.

    Raises:
        RepositoryError: the repository has no such commit.
        WorkspaceError: an object is missing (a partial clone) or git refuses the tree.
        StateError: no permission or a full disk.
    """
    name = pristine_name(base, owner)
    note_use(pristine_dir(state, repo, name))
    meta = _readable(pristine_dir(state, repo, name))
    if meta is None:
        keep_base(state, repo, base)
        ensure_rules(state, repo, base)
        with locked(state, repo):
            note_use(pristine_dir(state, repo, name))
            meta = _readable(pristine_dir(state, repo, name)) or _build(state, repo, base, owner)
    for lower in meta.lowers:
        note_use(pristine_dir(state, repo, lower))
    return _stack(state, repo, name, meta)


def meta_of(state: State, repo: Repository, base: str, owner: Owner) -> Meta:
    """What is known about the pristine layers of ``base``; they must exist."""
    directory = pristine_dir(state, repo, pristine_name(base, owner))
    meta = read_meta(directory)
    if meta is None:
        raise WorkspaceError(
            f"the pristine copy of {base} has vanished", where=str(directory), do="start the job again"
        )
    return meta


def missing(state: State, repo: Repository, base: str, owner: Owner) -> tuple[str, ...]:
    """Submodules and Git LFS files of ``base`` whose content the user's repository does not have, one sentence each."""
    return meta_of(state, repo, base, owner).missing


def _readable(directory: Path) -> Meta | None:
    """The layer's description; None where there is no layer, or one of an earlier version that shows all the packs of
    the user's repository."""
    meta = read_meta(directory)
    return meta if meta is not None and meta.stores == (os.fspath(directory / "objects"),) else None


def _stack(state: State, repo: Repository, name: str, meta: Meta) -> tuple[str, ...]:
    return tuple(os.fspath(pristine_dir(state, repo, layer) / "tree") for layer in (name, *meta.lowers))


def _build(state: State, repo: Repository, base: str, owner: Owner) -> Meta:
    final = pristine_dir(state, repo, pristine_name(base, owner))
    if final.exists():
        remove_tree(set_aside(final))  # of an earlier version
    near, below = _nearest(state, repo, base, owner), _ancestor(state, repo, base)
    with arriving(final) as scratch:
        tree = scratch / "tree"
        tree.mkdir(mode=0o755)
        write_skeleton(tree / ".git", repo, bare=False, head=base, alternates=[f"{STORES_INSIDE}/0"])
        git = TrustedGit(tree / ".git", repo.object_format, work_tree=tree, objects=gate_dir(state, repo) / "objects")
        meta = Meta(base=base, stores=(os.fspath(final / "objects"),))
        try:
            write_history(gate_git(state, repo), base, scratch / "objects", below)
            if near is None:
                meta = _full(repo, git, tree, meta, owner)
            else:
                meta = _layer(state, repo, git, tree, meta, owner, near)
        except WorkspaceError as error:
            raise _explained(error, repo, base) from error
        own_tree(tree / ".git", owner.uid, owner.gid)
        _own(tree, owner)
        (scratch / "meta.json").write_bytes(msgspec.json.encode(meta))
        os.chmod(scratch, 0o755)  # noqa: S103 - the sandbox user must get in; what is above is closed
    return meta


def _own(directory: Path, owner: Owner) -> None:
    if owner.uid != os.geteuid():
        os.chown(directory, owner.uid, owner.gid)


def _explained(error: WorkspaceError, repo: Repository, base: str) -> WorkspaceError:
    if "unable to read sha1 file" in error.what or "is missing" in error.what or "could not fetch" in error.what:
        return WorkspaceError(
            f"objects of {base} are not in the repository (a partial clone?): {error.what}",
            where=repo.toplevel,
            do=f"fetch them first, for example: git -C {repo.toplevel} checkout --detach {base}",
        )
    return error


def _ancestor(state: State, repo: Repository, base: str) -> tuple[str, Path] | None:
    """The youngest layer whose base is ``base`` or an ancestor of it, whoever owns it: that commit and its store."""
    git = gate_git(state, repo)
    for _mtime, name in _young(state, repo, "")[:CANDIDATES]:
        directory = pristine_dir(state, repo, name)
        meta = _readable(directory)
        if meta is not None and descends(git, base, meta.base):
            return meta.base, directory / "objects"
    return None


def _young(state: State, repo: Repository, suffix: str) -> list[tuple[int, str]]:
    """Finished layers whose name ends with ``suffix``, youngest first."""
    try:
        with os.scandir(pristine_dir(state, repo, "x").parent) as entries:
            named = [e for e in entries if e.name.endswith(suffix) and e.name[0] != "."]
            return sorted(((e.stat().st_mtime_ns, e.name) for e in named), reverse=True)
    except FileNotFoundError:
        return []


def _full(repo: Repository, git: TrustedGit, tree: Path, meta: Meta, owner: Owner) -> Meta:
    git.run("read-tree", "--reset", "-u", meta.base, config={"checkout.workers": "0"})
    missing: list[str] = []
    submodules = fills.fill_submodules(repo, git, tree, missing)
    moment = _moment(git, meta.base)
    _settle(tree, owner, moment)
    _refresh(git)
    # After the index has seen the pointers: their entries stay as they are and are taken as unchanged.
    lfs = fills.fill_lfs(repo, git, tree, missing)
    for path in lfs:
        _settle_one(os.fspath(tree / path), owner, moment)
    return msgspec.structs.replace(meta, submodules=submodules, lfs=lfs, missing=tuple(missing))


def _layer(
    state: State,
    repo: Repository,
    git: TrustedGit,
    tree: Path,
    meta: Meta,
    owner: Owner,
    near: tuple[str, list[Difference]],
) -> Meta:
    """Write only what differs from the pristine layer called ``near[0]``."""
    name, changes = near
    below = pristine_dir(state, repo, name)
    old = read_meta(below)
    if old is None:
        raise WorkspaceError("a pristine layer vanished", where=str(below), do="start the job again")
    (tree / ".git/index").write_bytes((below / "tree/.git/index").read_bytes())
    git.run("read-tree", "-m", meta.base)
    with Objects(git) as objects:
        write_difference(tree, changes, objects, meta.base)
    if (below / "tree/.git/shallow").exists() and not (tree / ".git/shallow").exists():
        make_whiteout(os.fspath(tree / ".git/shallow"))
    _settle(tree, owner, _moment(git, meta.base))
    _record(git, changes)
    return msgspec.structs.replace(
        meta, lowers=(name, *old.lowers), submodules=old.submodules, lfs=old.lfs, missing=old.missing
    )


def _nearest(state: State, repo: Repository, base: str, owner: Owner) -> tuple[str, list[Difference]] | None:
    """The layer to put ``base`` on, and what differs: the nearest of the youngest. None when none is near.

    In place of a layer whose stack is full stands the full tree at its bottom: another stack begins there, and differs
    from it by little more.
    """
    home = pristine_dir(state, repo, "x").parent
    young = _young(state, repo, f".{owner.uid}")[:CANDIDATES]
    if not young or not whiteouts_possible(home):
        return None
    git = gate_git(state, repo)
    near = sorted(
        (c for _mtime, name in young if (c := _compared(git, home, name, base))), key=lambda c: len(c.changes)
    )
    for candidate in near:
        full = len(candidate.meta.lowers) + 1 >= MAX_DEPTH
        chosen = _compared(git, home, candidate.meta.lowers[-1], base) if full else candidate
        if chosen is not None:
            with Objects(git) as objects:
                pointer = fills.brings_pointer(chosen.changes, objects)
            return None if pointer else (chosen.name, chosen.changes)
    return None


class _Compared(NamedTuple):
    """A layer that is near a base, and what differs."""

    name: str
    meta: Meta
    changes: list[Difference]


def _compared(git: TrustedGit, home: Path, name: str, base: str) -> _Compared | None:
    meta = _readable(home / name)
    if meta is None:
        return None
    try:
        changes = differences_between(git, meta.base, base)
    except WorkspaceError:
        return None  # its commit was pruned from the user's repository
    if len(changes) > MAX_DIFFERENCE or fills.concerned(changes, meta.submodules, meta.lfs):
        return None
    return _Compared(name, meta, changes)


def _moment(git: TrustedGit, base: str) -> int:
    """Modification time of every file, in seconds: the commit's own, always safely in the past."""
    committed = int(git.line("show", "-s", "--format=%ct", base) or 0)
    return max(946684800, min(committed, int(time.time()) - 10))


def _settle(tree: Path, owner: Owner, moment: int) -> None:
    """Owner and modification time of every file, before the index records them.

    Files as young as the index would be hashed again by every first ``git status``.
    """
    for path, entry in walk(os.fspath(tree)):
        if path != ".git" and not path.startswith(".git/"):
            _settle_one(entry.path, owner, None if entry.is_dir(follow_symlinks=False) else moment)


def _settle_one(path: str, owner: Owner, moment: int | None) -> None:
    if owner.uid != os.geteuid() or owner.gid != os.getegid():
        os.chown(path, owner.uid, owner.gid, follow_symlinks=False)
    if moment is not None:
        os.utime(path, (moment, moment), follow_symlinks=False)


def _record(git: TrustedGit, changes: Iterable[Difference]) -> None:
    """As ``_refresh``, for a layer: the state of what changed; that of all else stands in the index already."""
    here = b"".join(change.path + b"\0" for change in changes if change.status != "D")
    git.run("update-index", "--add", "--replace", "-z", "--stdin", input=here)


def _refresh(git: TrustedGit) -> None:
    """Record the files' state in the index, so that a first ``git status`` inside neither hashes nor writes."""
    done = git.call("update-index", "-q", "--refresh")
    if done.returncode:
        raise WorkspaceError(
            f"the fresh copy does not match its base: {done.stdout.decode('utf-8', 'replace')[:400]}", where=git.git_dir
        )
