"""One thing that was found on disk, its class, and removing it so that an interruption leaves no half of it."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Literal

import msgspec

from inspan.sandbox.limits import measure
from inspan.spec.tables import GcTable
from inspan.workspace.remove import remove_tree, set_aside

Class = Literal[
    "active",
    "merged-clean",
    "merged-dirty",
    "kept",
    "unkept",
    "orphan",
    "journal",
    "pristine",
    "setup",
    "artifact",
    "scratch",
]
"""What can be found.

``active``: somebody works on it, or may yet. ``merged-clean``: the work is in a branch of the user's (or there was
none) and the workspace holds nothing else. ``merged-dirty``: it is, and the workspace holds something else. ``kept``:
the work is in no branch of the user's, but its patch is kept and the workspace holds nothing else. ``unkept``: the only
place where the work is. ``orphan``: no job of this state knows it. ``journal``: what is left of an attempt besides its
workspace. ``pristine``, ``setup``: layers that are made again when they are missing. ``artifact``: a kept file.
``scratch``: what a builder or a removal that was killed left half done.
"""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One thing on disk.

    Attributes:
        kind: its class.
        name: what it is called, relative to the state directory.
        why: in words, why it goes or stays.
        goes: whether it may be removed now.
        places: absolute paths that are removed with it; empty when it stays.
        bytes: allocated space of ``places``.
        digest: of an artifact.
    """

    kind: Class
    name: str
    why: str
    goes: bool = False
    places: tuple[str, ...] = ()
    bytes: int = 0
    digest: str | None = None


def stays(kind: Class, name: str, why: str) -> Found:
    """Something that is only named."""
    return Found(kind=kind, name=name, why=why)


def going(kind: Class, name: str, why: str, places: list[str]) -> Found:
    """Something that may be removed."""
    space = sum(allocated(place) for place in places)
    return Found(kind=kind, name=name, why=why, goes=True, places=tuple(places), bytes=space)


def aged(kind: Class, name: str, why: str, places: list[str], *, idle: float, grace: float) -> Found:
    """Something that goes once it was left alone for ``grace`` seconds; ``idle``: how long that is by now."""
    if idle < grace:
        return stays(kind, name, f"{why}; left alone for {spoken(idle)} of {spoken(grace)}")
    return going(kind, name, why, places)


def spoken(seconds: float) -> str:
    """A duration for people: ``3 days``, ``20 minutes``."""
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            n = int(seconds // size)
            return f"{n} {word}{'' if n == 1 else 's'}"
    return "less than a minute"


def remove(place: str) -> str | None:
    """Remove a tree or file of ours; None when it is gone, else why it is not.

    A directory is first given a name that says it is being removed: who is killed in between leaves nothing that could
    be taken for a workspace or a layer.
    """
    path = Path(place)
    try:
        if os.path.lexists(path):
            remove_tree(path if path.is_symlink() or not path.is_dir() else set_aside(path))
    except OSError as error:
        return f"{error.strerror or error} ({error.filename or place})"
    return None if not os.path.lexists(place) else "it is there again"


def mounted(places: list[str]) -> str | None:
    """A mount at or below one of ``places``, which a removal would reach into."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        points = [re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), line.split(" ")[4]) for line in file]
    return next((m for m in points for p in places if m == p or m.startswith(f"{p}/")), None)


def allocated(top: str) -> int:
    """Space a tree or file takes, in bytes; what vanishes meanwhile or lies too deep to be named counts nothing."""
    total = 0
    with contextlib.suppress(OSError):
        total = os.lstat(top).st_blocks * 512
    return total + measure([top]).bytes


def idle(path: str, now: float) -> float:
    """Seconds since a file or directory was last touched; none at all for one that cannot be looked at."""
    try:
        return max(0.0, now - os.lstat(path).st_mtime)
    except OSError:
        return 0.0


def without_grace(ages: GcTable) -> GcTable:
    """The same, with every grace time over; what is kept of a job keeps its retention."""
    return msgspec.structs.replace(ages, workspaces=0.0, layers=0.0, orphans=0.0)
