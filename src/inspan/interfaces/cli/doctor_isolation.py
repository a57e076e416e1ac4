"""``inspan doctor isolation``: every level tried, what was proved of it, and the one command for what is missing."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from inspan.errors import SandboxError
from inspan.interfaces.cli import text
from inspan.sandbox.contract import Proof
from inspan.sandbox.levels import choose, probe
from inspan.spec.levels import PROMISES, promises
from inspan.spec.paths import State

SCHEMA = "inspan.doctor.isolation/1"

_COMMAND_OF_DELEGATION = "systemd-run --user --scope -p Delegate=yes inspan run ..."
_PLAIN = ("watch", "nothing", "rlimit")
"""Mechanisms by which a limit of memory or processes is not held by the kernel for the tree as a whole."""


def isolation(room: State, overlay: bool | None) -> dict[str, Any]:
    """Everything about confinement here, as one document.

    Args:
        room: a throw-away state on the file system of the real one.
        overlay: whether overlays can stand there; None when it could not be tried.
    """
    state_dir = str(room.root)
    found = [probe(name, state_dir) for name in PROMISES]
    return {
        "schema": SCHEMA,
        "auto": _auto(state_dir),
        "workspace": {True: "overlay", False: "clone", None: None}[overlay],
        "levels": [_level(one, overlay) for one in found],
        "missing": _missing(found, overlay),
    }


def _auto(state_dir: str) -> str | None:
    """What ``auto`` gives a job with a real provider; None where it is refused."""
    try:
        return choose("auto", state_dir=state_dir, rehearsal=False, allow_none=False)
    except SandboxError:
        return None


def _level(found: Proof, overlay: bool | None) -> dict[str, Any]:
    promised = promises(found.level)
    kinds = ["overlay"] * bool(promised.own_mounts and overlay) + ["clone"]
    shown: dict[str, Any] = msgspec.to_builtins(found)
    return shown | {
        "workspaces": kinds if found.available else [],
        "promises": {name: value for name, value in msgspec.to_builtins(promised).items() if isinstance(value, bool)},
    }


def _missing(found: list[Proof], overlay: bool | None) -> list[dict[str, str | None]]:
    """What does not work, why, and the one command that would help; None where none is known."""
    rows = [(f"level {one.level}", one.detail, one.enable) for one in found if not one.available]
    if overlay is False:
        why = "an overlay's upper layer cannot stand in the state directory: a job costs a copy of the tree"
        rows.append(("overlay workspaces", why, "set INSPAN_HOME to a directory on ext4, XFS or btrfs"))
    best = next((one for one in reversed(found) if one.available and one.evidence.get("limits")), None)
    if best is not None and best.evidence["limits"].get("memory") in _PLAIN:
        delegates = os.geteuid() != 0 and os.path.isdir("/run/systemd/system")
        why = "memory is watched four times a second, and held by no control group"
        rows.append(("control groups", why, _COMMAND_OF_DELEGATION if delegates else None))
    return [{"what": what, "why": why, "command": command} for what, why, command in rows]


def lines(document: dict[str, Any]) -> list[text.Line]:
    """The document for people."""
    auto = document["auto"] or "refused: no level that confines works here"
    said = [
        _row("auto", auto, document["auto"] is not None),
        _row("workspace", document["workspace"] or "could not be tried", document["workspace"] == "overlay"),
    ]
    for level in document["levels"]:
        said.append(_row(f"level {level['level']}", level["detail"], level["available"]))
        said += [[(" " * 22, ""), (text.safe(fact), "dim")] for fact in _facts(level)]
    for row in document["missing"]:
        said.append(_row("missing", f"{row['what']}: {row['why']}", False))
        if row["command"]:
            said.append([(" " * 22 + "enable it: ", "dim"), (text.safe(row["command"]), "bold")])
    return said


def _facts(level: dict[str, Any]) -> list[str]:
    """What was seen of a process of the level, one line each."""
    evidence = dict(level["evidence"])
    outside, limits = evidence.pop("own", {}), evidence.pop("limits", {})
    facts = []
    if namespaces := evidence.pop("namespaces", {}):
        inodes = (f"{name} {inode} (outside {outside.get(name)})" for name, inode in namespaces.items())
        facts.append(f"namespaces: {', '.join(inodes)}")
    if evidence:
        facts.append(", ".join(f"{name} {_plain(value)}" for name, value in evidence.items()))
    if limits:
        facts.append(f"limits: {', '.join(f'{name} by {how}' for name, how in limits.items())}")
    return [*facts, f"workspaces: {', '.join(level['workspaces'])}"] if level["available"] else facts


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _row(label: str, fact: str, good: bool) -> text.Line:
    return [(f"{label:<18}", "dim"), ("ok  " if good else "--  ", "good" if good else "warn"), (text.safe(fact), "")]
