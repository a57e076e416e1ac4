"""The way to a workspace for an identity that is not the state's owner, where no mount can bring it there."""

from __future__ import annotations

import os
from pathlib import Path

from inspan.workspace.layout import Owner


def open_passage(root: Path, leaf: Path, owner: Owner) -> None:
    """Let ``owner`` pass through ``root`` and every directory down to ``leaf``, without seeing what else is in them.

    Each gets the owner's group and the right of the group to pass; nobody else gets anywhere.
    Does nothing where the caller is the owner.

    Raises:
        OSError: a directory cannot be changed.
    """
    if owner.uid == os.geteuid():
        return
    for directory in (root, *reversed([p for p in leaf.parents if p.is_relative_to(root) and p != root])):
        found = directory.stat()
        if found.st_uid != owner.uid and not found.st_mode & 0o001:
            os.chown(directory, -1, owner.gid)
            directory.chmod(found.st_mode & 0o7777 | 0o010)
