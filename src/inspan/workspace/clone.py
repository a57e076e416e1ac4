"""A complete private copy of pristine layers."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from inspan.errors import StateError
from inspan.workspace.layers import apply_layer


def copy_pristine(lowers: Sequence[str], target: Path) -> None:
    """Copy stacked layers (topmost first) into ``target``, which must not exist. Blocks are shared where possible."""
    *upper, bottom = (Path(lower) for lower in lowers)
    copier = shutil.which("cp")
    done = None
    if copier is not None:
        done = subprocess.run(
            [copier, "-a", "--reflink=auto", os.fspath(bottom), os.fspath(target)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if b"No space left" in done.stderr:
            raise StateError("the disk is full", where=os.fspath(target), do="free some space", reason="disk_full")
    if done is None or done.returncode:
        target.mkdir(mode=0o755, exist_ok=True)
        apply_layer(bottom, target)
    for layer in reversed(upper):
        apply_layer(layer, target)
