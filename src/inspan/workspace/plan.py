"""The mount plan: what of the host stands where inside, as data."""

from __future__ import annotations

from typing import Literal

import msgspec


class Bind(msgspec.Struct, frozen=True, kw_only=True):
    """One host path shown inside at ``target``. ``optional`` binds are left out when the source does not exist."""

    source: str
    target: str
    writable: bool = False
    optional: bool = False


class MountPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How a workspace is put together. All host paths are absolute; paths ending in ``inside`` are inside the sandbox.

    Attributes:
        kind: ``overlay`` (lowers + upper + work are stacked and mounted at ``root_inside``) or ``clone``
            (``directory`` is a complete writable tree, bound at ``root_inside``, or used in place where there
            are no mounts of the job's own).
        root_inside: absolute path of the workspace inside; the user's checkout path where that is possible.
        lowers: read-only layers, topmost first; nothing an agent wrote is ever among them.
        upper, work: the writable layer and overlayfs' work directory; None for a clone.
        directory: the clone's tree; for an overlay, the empty directory used as mount point.
        binds: further binds, in order: object stores, shared dependency directories.
        read_only: the workspace is mounted read-only (a read-only job).
        home: host directory bound writable as HOME.
        home_lower, home_work: a frozen home shown below it, whose upper layer ``home`` then is, and overlayfs' work
            directory for it; both None where HOME is ``home`` alone.
        uid, gid: owner of the writable leaves and the identity inside.
    """

    kind: Literal["overlay", "clone"]
    root_inside: str
    directory: str
    home: str
    lowers: tuple[str, ...] = ()
    upper: str | None = None
    work: str | None = None
    home_lower: str | None = None
    home_work: str | None = None
    binds: tuple[Bind, ...] = ()
    read_only: bool = False
    uid: int
    gid: int
