"""When a layer was last used, and taking one away that nobody uses. Races are decided by the order of two renames.

Whoever uses a layer notes it *first* and reads its ``meta.json`` *then*. Whoever removes one renames it away under the
repository's build lock and *then* looks at the note again: a use that came before the rename is seen and the layer put
back; one that comes after finds no layer and, waiting for the lock, builds it again or finds it back in its place.
"""

from __future__ import annotations

import os
from pathlib import Path

from inspan.workspace.remove import remove_tree, set_aside

_NOTE = "meta.json"


def note_use(layer: Path) -> None:
    """Note that a layer is being used now; does nothing for one that is not there."""
    try:
        os.utime(layer / _NOTE)
    except OSError:
        return


def last_use(layer: Path) -> float | None:
    """When a layer was last used, in seconds of the epoch; None for one that is not there or was never finished."""
    try:
        return os.lstat(layer / _NOTE).st_mtime
    except OSError:
        return None


def take_away(layer: Path, *, before: float) -> bool:
    """Remove a layer that was last used before a moment. The caller holds the repository's build lock.

    Returns:
        False when it has been used since, and stays.

    Raises:
        OSError: it cannot be removed; what is left of it is named as being removed.
    """
    used = last_use(layer)
    if used is None or used >= before:
        return False
    moved = set_aside(layer)
    used = last_use(moved)
    if used is not None and used >= before:
        moved.rename(layer)
        return False
    remove_tree(moved)
    return True
