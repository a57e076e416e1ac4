"""``inspan doctor``."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from inspan import __version__
from inspan.errors import InspanError
from inspan.interfaces.cli import text
from inspan.interfaces.cli.harness import found_harnesses, harness_line
from inspan.spec.config import Configuration, load
from inspan.spec.paths import State, state

SCHEMA = "inspan.doctor/1"


@click.command(short_help="Show what works on this machine, by trying it.")
@click.argument("topic", required=False, type=click.Choice(["isolation"]))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def doctor(topic: str | None, as_json: bool) -> int:
    """Show what works on this machine. Each statement was tried just now, and nothing is changed.

    Credentials are shown by the name of their variable only. Exit status 1 when no job could run here. With TOPIC
    'isolation': every level of confinement, what was proved of it, and what would enable what is missing; exit status 1
    when none that confines works.
    """
    if topic is not None:
        return _isolation(as_json)
    config = load(None)
    found = findings(state(), config)
    if as_json:
        print(json.dumps(found))
    else:
        text.write(_lines(found))
    return 0 if found["ready"] else 1


def _isolation(as_json: bool) -> int:
    from inspan.interfaces.cli.doctor_isolation import isolation, lines

    with _room(state()) as room:
        found = isolation(room, _overlay(room))
    if as_json:
        print(json.dumps(found))
    else:
        text.write(lines(found))
    return 0 if found["auto"] else 1


def findings(place: State, config: Configuration) -> dict[str, Any]:
    """Everything the doctor looks at, as one document. ``ready``: git, a writable state and some level are there."""
    git = _git()
    writable = _writable(place)
    with _room(place) as room:
        levels = _levels(str(room.root))
        overlay = _overlay(room)
    return {
        "schema": SCHEMA,
        "inspan": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "uid": os.getuid(),
        "git": git,
        "state": {"path": str(place.root), "exists": place.root.is_dir(), "problem": writable},
        "levels": levels,
        "overlay": overlay,
        "harnesses": found_harnesses(config),
        "credentials": _credentials(config),
        "ready": git is not None and writable is None and any(level["available"] for level in levels),
    }


def _git() -> str | None:
    program = shutil.which("git")
    if program is None:
        return None
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return done.stdout.strip().removeprefix("git version ") or None


def _nearest_directory(place: State) -> str:
    path = place.root
    while not path.is_dir() and path != path.parent:
        path = path.parent
    return str(path)


def _writable(place: State) -> str | None:
    """Why the state directory cannot be used, None when it can; it is not created for the question."""
    from inspan.store.read import list_jobs

    if os.path.lexists(place.root) and not place.root.is_dir():
        return f"{place.root} is no directory"
    try:
        list_jobs(place, limit=1)
    except InspanError as error:  # of a newer Inspan, or not readable
        return error.what
    where = _nearest_directory(place)
    return None if os.access(where, os.W_OK | os.X_OK) else f"no permission to write {where}"


@contextlib.contextmanager
def _room(place: State) -> Iterator[State]:
    """A throw-away state beside the real one: probes try out the same file system and leave nothing behind."""
    from inspan.workspace.remove import remove_tree

    try:
        made = Path(tempfile.mkdtemp(prefix=".inspan-doctor-", dir=_nearest_directory(place)))
    except OSError:
        made = Path(tempfile.mkdtemp(prefix="inspan-doctor-"))
    try:
        yield State(made)
    finally:
        remove_tree(made)


def _levels(state_dir: str) -> list[dict[str, Any]]:
    from inspan.sandbox.levels import LEVELS, probe

    return [msgspec.to_builtins(probe(level, state_dir)) for level in LEVELS]


def _overlay(room: State) -> bool | None:
    from inspan.workspace.build import overlay_possible

    try:
        return overlay_possible(room)
    except (InspanError, OSError):
        return None


def _credentials(config: Configuration) -> list[dict[str, Any]]:
    from inspan.provider.registry import names, provider

    rows = []
    for name in names(config):
        variable = provider(name, config).credential_env
        if variable is not None:
            rows.append({"provider": name, "variable": variable, "present": bool(os.environ.get(variable, "").strip())})
    return rows


def _lines(found: dict[str, Any]) -> list[text.Line]:
    place = found["state"]
    note = place["problem"] or ("" if place["exists"] else "will be created")
    lines: list[text.Line] = [
        _row("inspan", f"{found['inspan']}, Python {found['python']}, {found['system']}, uid {found['uid']}", True),
        _row("git", found["git"] or "not found on PATH; install git", found["git"] is not None),
        _row("state", f"{place['path']}  {note}".strip(), place["problem"] is None),
    ]
    for level in found["levels"]:
        lines.append(_row(f"level {level['level']}", level["detail"], level["available"]))
        if level["enable"]:
            lines.append([(" " * 20 + "enable it: ", "dim"), (text.safe(level["enable"]), "bold")])
    overlay = {True: "overlays work", False: "no overlays here: clones", None: "overlays could not be tried"}
    lines.append(_row("workspace", overlay[found["overlay"]], found["overlay"] is not None))
    width = max(len(row["name"]) for row in found["harnesses"])
    lines += [[("harness           ", "dim"), *harness_line(row, width)] for row in found["harnesses"]]
    for row in found["credentials"]:
        word = "set" if row["present"] else "not set"
        line = _row("credential", f"{row['provider']}: {row['variable']} is {word}", row["present"])
        lines.append(line)
    return lines


def _row(label: str, fact: str, good: bool) -> text.Line:
    return [(f"{label:<18}", "dim"), ("ok  " if good else "--  ", "good" if good else "warn"), (text.safe(fact), "")]
