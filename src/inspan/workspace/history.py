"""What of the repository's history an agent can read: every object its base reaches, and no other.

Later commits, other branches and what was amended away stand in the same packs of the user's repository as the base, so
those packs are never shown. Each base gets packs of its own. Those of an earlier base that is an ancestor are shared by
hard links, so that a next base costs what is new in it.
"""

from __future__ import annotations

import os
from pathlib import Path

from inspan.workspace.git import TrustedGit

MAX_PACKS = 16
"""Packs of one base; more of them are gathered into one."""


def write_history(git: TrustedGit, base: str, store: Path, below: tuple[str, Path] | None) -> None:
    """Fill ``store``, which must not exist, with the objects that ``base`` reaches.

    What is packed already is copied as it stands; the first base of a repository costs what a clone of it costs.

    Args:
        git: the trusted side's repository.
        below: a commit that ``base`` descends from, and its filled store.

    Raises:
        WorkspaceError: git cannot read the history.
        OSError: the store cannot be written.
    """
    packs = store / "pack"
    packs.mkdir(mode=0o755, parents=True)
    (store / "info").mkdir(mode=0o755)
    wanted = f"{base}\n"
    known = sorted((below[1] / "pack").iterdir()) if below is not None else []
    if below is not None and len(known) < 2 * MAX_PACKS:
        for pack in known:
            os.link(pack, packs / pack.name)
        wanted += f"^{below[0]}\n"
    if below is None or below[0] != base:
        # What a partial clone does not have is missing inside as well; a base itself was read before.
        options = ("--revs", "--missing=allow-any", "--delta-base-offset", "--window=0", "-q")
        git.run("pack-objects", *options, os.fspath(packs / "pack"), input=wanted.encode())
    for directory in (store, packs, store / "info"):
        directory.chmod(0o755)
    for pack in packs.iterdir():
        pack.chmod(0o444)


def descends(git: TrustedGit, base: str, known: str) -> bool:
    """Whether ``base`` is ``known`` or has it among its ancestors."""
    return base == known or git.call("merge-base", "--is-ancestor", known, base).returncode == 0
