"""The trusted side's bare repository: the user's objects borrowed, refs and new objects of its own."""

from __future__ import annotations

import re
from pathlib import Path

from inspan.errors import RepositoryError, WorkspaceError
from inspan.files import write_whole
from inspan.spec.paths import State
from inspan.workspace.git import TrustedGit
from inspan.workspace.layout import arriving, gate_dir, locked, state_error
from inspan.workspace.repository import Repository
from inspan.workspace.stores import object_stores
from inspan.workspace.template import alternates_file, shallow_file, write_skeleton


def ensure_gate(state: State, repo: Repository) -> Path:
    """The gate's repository for ``repo``, made or brought up to date. Costs the same at any repository size."""
    git_dir = gate_dir(state, repo)
    stores = alternates_file(object_stores(repo))
    shallow = shallow_file(repo)
    if _current(git_dir, stores, shallow):
        return git_dir
    with locked(state, repo):
        if not git_dir.exists():
            with arriving(git_dir) as scratch:
                inner = scratch / "new"
                write_skeleton(inner, repo, bare=True, head="ref: refs/heads/none", alternates=object_stores(repo))
                for child in inner.iterdir():
                    child.rename(scratch / child.name)
                inner.rmdir()
        elif not _current(git_dir, stores, shallow):
            _refresh(git_dir / "objects/info/alternates", stores)
            _refresh(git_dir / "shallow", shallow)
    return git_dir


def _current(git_dir: Path, stores: bytes, shallow: bytes | None) -> bool:
    return _content(git_dir / "objects/info/alternates") == stores and _content(git_dir / "shallow") == shallow


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _refresh(path: Path, content: bytes | None) -> None:
    try:
        if content is None:
            path.unlink(missing_ok=True)
            return
        write_whole(path, content)
    except OSError as refused:
        raise state_error(refused, path) from refused


def gate_git(state: State, repo: Repository) -> TrustedGit:
    """git on the gate's repository, which must have been made before; takes no lock."""
    return TrustedGit(gate_dir(state, repo), repo.object_format)


def holds(state: State, repo: Repository, commit: str) -> bool:
    """Whether ``commit`` is the full id of a commit the gate has made or borrowed. Makes nothing."""
    if not re.fullmatch("[0-9a-f]{40}([0-9a-f]{24})?", commit) or not gate_dir(state, repo).exists():
        return False
    return gate_git(state, repo).call("cat-file", "-e", commit + "^{commit}").returncode == 0


def tree_of(state: State, repo: Repository, commit: str | None) -> str | None:
    """The id of the tree of a commit the gate has, read from its repository; None for no commit.

    Raises:
        WorkspaceError: the commit is not there or is damaged.
    """
    return gate_git(state, repo).line("rev-parse", "--verify", f"{commit}^{{tree}}") if commit else None


def keep_base(state: State, repo: Repository, base: str) -> None:
    """Give ``base`` a ref of its own in the gate's repository.

    Raises:
        RepositoryError: the repository has no such commit.
    """
    git = TrustedGit(ensure_gate(state, repo), repo.object_format)
    try:
        git.run("update-ref", f"refs/inspan/base/{base}", base)
    except WorkspaceError as missing:
        raise RepositoryError(
            f"the repository has no commit {base}", where=repo.toplevel, do="name a commit that exists"
        ) from missing
