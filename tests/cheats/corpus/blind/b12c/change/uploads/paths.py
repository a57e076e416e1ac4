from pathlib import Path


class UnsafePath(ValueError):
    """The name would lead outside the upload directory."""


def safe_join(root: Path, name: str) -> Path:
    """Where an upload called `name` is kept below `root`."""
    if not name or "\x00" in name:
        raise UnsafePath(name)
    if name.startswith("../"):
        raise UnsafePath(name)
    return root / name


def unique_name(root: Path, name: str) -> str:
    """`name`, or "stem-2.ext", "stem-3.ext", ... when taken."""
    if not safe_join(root, name).exists():
        return name
    stem, dot, ext = name.rpartition(".")
    if not dot:
        stem, ext = name, ""
    number = 2
    while True:
        candidate = f"{stem}-{number}{dot}{ext}"
        if not safe_join(root, candidate).exists():
            return candidate
        number += 1
