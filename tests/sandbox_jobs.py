"""Confined jobs for tests: a plan made by hand, a program run under a driver, what it wrote and how it ended."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from inspan.sandbox import census
from inspan.sandbox.contract import Confinement, Limits
from inspan.sandbox.levels import driver, owner, probe
from inspan.spec.levels import promises
from inspan.workspace.passage import open_passage
from inspan.workspace.plan import Bind, MountPlan

_numbers = itertools.count()
_PASSABLE = "INSPAN_TEST_PASSABLE"


class Ended(NamedTuple):
    """One job's end."""

    status: int | None
    out: str
    err: str
    tree: Any
    plan: MountPlan


def require(level: str) -> None:
    """NORUN when this machine cannot confine at a level."""
    found = probe(level, tempfile.gettempdir())
    if not found.available:
        pytest.skip(f"NORUN: level {level}: {found.detail}")


def give(path: Path, level: str) -> None:
    """Make a tree belong to the job's identity."""
    who = owner(level)
    for place in [path, *path.rglob("*")]:
        os.chown(place, who.uid, who.gid, follow_symlinks=False)


def plan(
    base: Path, level: str, *, kind: str | None = None, files: dict[str, str] | None = None, **further: Any
) -> MountPlan:
    """A plan whose pristine tree holds ``files``; an overlay where the level has mounts, a clone otherwise."""
    own_mounts = promises(level).own_mounts
    kind = kind or ("overlay" if own_mounts else "clone")
    made = homes(base, level) / f"job{os.getpid()}-{next(_numbers)}"
    tree = made / "tree"
    for directory in (tree, made / "home", made / "ws" / "upper", made / "ws" / "work", made / "ws" / "root"):
        directory.mkdir(parents=True)
    for name, text in ({"a.txt": "base\n"} if files is None else files).items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    for place in (tree, made / "home", made / "ws"):
        give(place, level)
    made.chmod(0o700)
    who = owner(level)
    if not own_mounts:
        open_passage(made, tree, who)
    common = {"home": str(made / "home"), "uid": who.uid, "gid": who.gid} | further
    if kind == "clone":
        inside = "/code/project" if own_mounts else str(tree)
        return MountPlan(**{"kind": "clone", "root_inside": inside, "directory": str(tree)} | common)
    layers = {"lowers": (str(tree),), "upper": str(made / "ws" / "upper"), "work": str(made / "ws" / "work")}
    return MountPlan(
        **{"kind": "overlay", "root_inside": "/code/project", "directory": str(made / "ws" / "root")} | layers | common
    )


@cache
def _passable() -> Path:
    """A place the sandbox's user may pass through: pytest's own is closed again by whoever starts pytest."""
    known = os.environ.get(_PASSABLE)  # a test's own child, which may be killed, uses and leaves its parent's
    if known:
        return Path(known)
    place = Path(tempfile.mkdtemp(prefix="inspan-tests-", dir="/var/tmp"))
    place.chmod(0o711)
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    os.environ[_PASSABLE] = str(place)
    return place


def homes(base: Path, level: str) -> Path:
    """Where ``plan(base, level)`` puts its jobs."""
    return base if promises(level).own_mounts or os.geteuid() else _passable()


@contextmanager
def started(
    level: str,
    made: MountPlan,
    argv: tuple[str, ...],
    *,
    env: dict[str, str] | None = None,
    tools: tuple[Bind, ...] = (),
    limits: Limits | None = None,
    ports: int = 1,
    cwd: str | None = None,
    egress: tuple[str, ...] = (),
    private: tuple[str, ...] = (),
) -> Iterator[tuple[Any, Path, Path]]:
    """A held tree with its output in two files."""
    desk = Path(tempfile.mkdtemp())
    out, err = desk / "out", desk / "err"
    confinement = Confinement(
        plan=made,
        argv=argv,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"} | (env or {}),
        tools=tools,
        limits=limits or Limits(),
        ports=ports,
        cwd_inside=cwd,
        egress=egress,
        private=private,
    )
    try:
        with open(os.devnull) as null, out.open("wb") as to_out, err.open("wb") as to_err:
            try:
                tree = driver(level).start(
                    confinement, stdin=null.fileno(), stdout=to_out.fileno(), stderr=to_err.fileno()
                )
            except Exception as error:
                error.add_note(err.read_text())
                raise
        try:
            yield tree, out, err
        finally:
            tree.close()
    finally:
        shutil.rmtree(desk)


def run(level: str, made: MountPlan, *argv: str, timeout: float = 240, **further: Any) -> Ended:
    """Start, release and wait; one argument is a shell script."""
    command = ("sh", "-c", argv[0]) if len(argv) == 1 else argv
    with started(level, made, command, **further) as (tree, out, err):
        tree.release()
        status = tree.wait(timeout)
        assert status is not None, f"did not end in {timeout} s: {out.read_text()} {err.read_text()}"
        return Ended(status, out.read_text(errors="replace"), err.read_text(errors="replace"), tree, made)


def run_free(
    script: str, *, cwd: str | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The negative control: the same thing without any confinement."""
    return subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, timeout=60, cwd=cwd, env=env, check=False
    )


def alive_with(marker: str) -> list[int]:
    """Live processes of this machine whose command line holds ``marker``."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                line = Path(f"/proc/{entry}/cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in line:
                found.append(int(entry))
    return found


def watcher(level: str, root: int, marker: str) -> Callable[[], list[int]]:
    """Counts the live processes of a held tree's program from outside, whenever it is called.

    They are known by ``marker`` in their command lines. A kernel of the job's own does not show those: there whatever
    appears below the tree's outermost process ``root`` from now on counts, and what was seen once is looked for again.
    """
    if not promises(level).own_kernel:
        return lambda: alive_with(marker)
    before = {one.pid for one in census.descendants(root)}
    seen: dict[int, int] = {}

    def count() -> list[int]:
        table = census.processes()
        seen.update({one.pid: one.started for one in census.descendants(root, table) if one.pid not in before})
        return [pid for pid, at in seen.items() if pid in table and table[pid].started == at and not table[pid].zombie]

    return count


def gone(marker: str, patience: float = 20) -> bool:
    """Whether no process with ``marker`` is alive any more within ``patience`` seconds."""
    return none_left(lambda: alive_with(marker), patience)


def none_left(count: Callable[[], list[int]], patience: float = 20) -> bool:
    """Whether ``count`` counts nothing any more within ``patience`` seconds."""
    until = time.monotonic() + patience
    while count():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def python_inside() -> tuple[str, tuple[Bind, ...]]:
    """A Python that can be run inside, and the binds it needs: the system's, else the one these tests run on."""
    for candidate in ("/usr/bin/python3", "/usr/local/bin/python3"):
        if os.path.exists(candidate):
            return candidate, ()
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))
    return os.path.realpath(sys.executable), (Bind(source=prefix, target=prefix),)


def is_private(path: Path) -> bool:
    """Whether only the owner may enter a directory."""
    return stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
