"""The objects of one base in a workspace of its own, where the user's object stores are not to be read."""

from __future__ import annotations

from pathlib import Path

from inspan.spec.paths import State
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.repository import Repository


def pack_base(state: State, repo: Repository, base: str, git_dir: Path) -> None:
    """Give the repository ``git_dir`` every object that ``base`` reaches, and no way to any other.

    What is packed already is copied as it stands; the cost follows the size of the history, like a clone's.

    Raises:
        WorkspaceError, StateError: an object is missing, or the disk is full.
    """
    pack = git_dir / "objects/pack/pack"
    git = gate_git(state, repo)
    git.run("pack-objects", "--revs", "--delta-base-offset", "-q", str(pack), input=f"{base}\n".encode())
    (git_dir / "objects/info/alternates").unlink(missing_ok=True)
