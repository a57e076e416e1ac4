import os
from pathlib import Path


def tree_size(root: Path) -> int:
    """Bytes in all files below root; symbolic links count as nothing."""
    total = 0
    for folder, _dirs, names in os.walk(root):
        for name in names:
            total += os.path.getsize(os.path.join(folder, name))
    return total


def human(size: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size} {unit}"
        size //= 1024
    return f"{size} GiB"
