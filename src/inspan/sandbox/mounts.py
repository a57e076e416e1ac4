"""From a mount plan to the launcher's specification: what is staged under which name, and where bwrap shows it.

Pure but for looking whether an optional source exists.
"""

from __future__ import annotations

import os
import posixpath
import re
from typing import Any, NamedTuple

from inspan.errors import SandboxError
from inspan.sandbox import bubblewrap
from inspan.sandbox.contract import Confinement
from inspan.workspace.plan import Bind, MountPlan

HOME_INSIDE = "/home/agent"
"""Where a sandboxed program finds its scratch HOME."""

_WORKSPACE, _SKELETON, _JOB, _HOME, _EMPTY = "w", "s", "j", "h", "e"
"""Names on the stage."""


class Staging(NamedTuple):
    """The part of the launcher's specification that follows from the mount plan.

    Attributes:
        hold: (host path, name on the stage, writable) of every source.
        directories: empty directories on the stage: mount points, and the skeleton layer that carries mount points
            inside the workspace, so that they do not appear in the agent's upper layer.
        files: synthetic files on the stage.
        overlays: see ``launcher.overlay``.
        arguments: the bwrap arguments of the mounts.
    """

    hold: list[tuple[str, str, bool]]
    directories: list[str]
    files: dict[str, str]
    overlays: list[dict[str, Any]]
    arguments: list[str]


def staging(confinement: Confinement, stage: str, root: str = "", uid: int | None = None) -> Staging:
    """Lay out one job's mounts.

    Args:
        stage: where the launcher stages what is shown.
        root: where the program's file system is put together when that is not bubblewrap's own, because something
            stands between the two; empty otherwise.
        uid: what the program's identity is called inside, where that is not the plan's.

    Raises:
        SandboxError: when a required source does not exist, or a plan cannot be mounted as it stands.
    """
    plan = confinement.plan
    binds = _present([*confinement.tools, *plan.binds])
    hold: list[tuple[str, str, bool]] = []
    directories = [_SKELETON, _EMPTY]
    overlays = []
    if plan.home_lower is None:
        hold.append((plan.home, _HOME, True))
    else:
        directories.append(_HOME)
        overlays.append(_frozen_home(plan, hold))
    if plan.kind == "overlay":
        directories += [_WORKSPACE, *_mount_points(plan, binds)]
        overlays.append(_layers(plan, hold))
    else:
        hold.append((plan.directory, _WORKSPACE, not plan.read_only))
    names = {HOME_INSIDE: _HOME, plan.root_inside: _WORKSPACE}
    for number, bind in enumerate(binds):
        names[bind.target] = f"b{number}"
        hold.append((bind.source, f"b{number}", bind.writable))
    overlays += _deaf([f"b{number}" for number in _plain_directories(binds)])
    shown = [
        *binds,
        Bind(source=plan.home, target=HOME_INSIDE, writable=True),
        Bind(source=plan.directory, target=plan.root_inside, writable=not plan.read_only),
    ]
    files = _synthetic(plan.uid, plan.gid) if uid is None else _synthetic(uid, uid)
    etc = [part for name in files for part in ("--ro-bind", f"{stage}/{name}", f"{root}/{name}")]
    arguments = bubblewrap.joined(
        bubblewrap.frame_arguments(),
        bubblewrap.system_arguments(root),
        etc,
        bubblewrap.bind_arguments(shown, stage, names, root),
    )
    return Staging(hold, directories, files, overlays, arguments)


def _present(binds: list[Bind]) -> list[Bind]:
    """Binds whose source exists, one per target (the last one wins)."""
    chosen: dict[str, Bind] = {}
    for bind in binds:
        if os.path.exists(bind.source):
            chosen[bind.target] = bind
        elif not bind.optional:
            raise SandboxError(
                f"{bind.source} is to be shown inside as {bind.target} and does not exist", reason="environment_lost"
            )
    return list(chosen.values())


def _plain_directories(binds: list[Bind]) -> list[int]:
    """Which of the binds are read-only directories without further mounts in them."""
    with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as table:
        points = [re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), line.split(" ")[1]) for line in table]
    return [
        number
        for number, bind in enumerate(binds)
        if not bind.writable
        and os.path.isdir(bind.source)
        and not any(point.startswith(os.path.realpath(bind.source).rstrip("/") + "/") for point in points)
    ]


def _deaf(names: list[str]) -> list[dict[str, Any]]:
    """Overlays over directories of the host, in which a socket or a pipe is a name and leads to nobody.

    A read-only bind does not keep a program from connecting to a socket that somebody outside serves in there. What
    changes in such a directory while the job runs may or may not be seen inside.
    """
    return [{"lowers": [name, _EMPTY], "upper": None, "work": None, "at": name, "optional": True} for name in names]


def _mount_points(plan: MountPlan, binds: list[Bind]) -> list[str]:
    """Directories of the skeleton layer, for binds inside the workspace."""
    points = []
    for bind in binds:
        if bind.target.startswith(plan.root_inside + "/") and os.path.isdir(bind.source):
            points.append(_SKELETON + bind.target.removeprefix(plan.root_inside))
    return points


def _layers(plan: MountPlan, hold: list[tuple[str, str, bool]]) -> dict[str, Any]:
    names = []
    for number, lower in enumerate(plan.lowers):
        names.append(f"l{number}")
        hold.append((lower, names[-1], False))
    request: dict[str, Any] = {"lowers": [*names, _SKELETON], "upper": None, "work": None, "at": _WORKSPACE}
    if plan.upper is None or plan.work is None:
        if not plan.read_only:
            raise SandboxError("an overlay without an upper layer can only be read", reason="environment_lost")
        return request
    return request | _writable(plan.upper, plan.work, _JOB, hold)


def _frozen_home(plan: MountPlan, hold: list[tuple[str, str, bool]]) -> dict[str, Any]:
    """HOME as a frozen one with the job's own on top."""
    if plan.home_lower is None or plan.home_work is None:
        raise SandboxError("a home without a work directory cannot be stacked", reason="environment_lost")
    hold.append((plan.home_lower, f"{_HOME}l", False))
    return {"lowers": [f"{_HOME}l"], "at": _HOME} | _writable(plan.home, plan.home_work, f"{_HOME}j", hold)


def _writable(upper: str, work: str, name: str, hold: list[tuple[str, str, bool]]) -> dict[str, str]:
    """overlayfs wants upper and work on one mount: their common directory is bound, not each of them."""
    parent = os.path.commonpath([posixpath.dirname(upper), posixpath.dirname(work)])
    hold.append((parent, name, True))
    return {"upper": f"{name}/{os.path.relpath(upper, parent)}", "work": f"{name}/{os.path.relpath(work, parent)}"}


def _synthetic(uid: int, gid: int) -> dict[str, str]:
    """Files that programs look for and whose host versions would tell about the host."""
    return {
        "etc/passwd": f"agent:x:{uid}:{gid}:agent:{HOME_INSIDE}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
        "etc/group": f"agent:x:{gid}:\nnogroup:x:65534:\n",
        "etc/hostname": "inspan\n",
        "etc/hosts": "127.0.0.1 localhost inspan\n::1 localhost\n",
        "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
    }
