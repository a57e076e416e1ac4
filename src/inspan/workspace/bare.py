"""Set-up with nothing of a base in view but the files it is known to read: sound for every base that has the same ones.

What cannot be seen cannot get into the layer: no base's code, and nothing a hostile branch holds beside its lock files.
Only what such a set-up *adds* is kept; it has nothing to remove.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from inspan.files import read_regular
from inspan.outcome.canonical import digest
from inspan.spec.levels import promises
from inspan.spec.paths import State
from inspan.spec.provision.tree import Inputs, Tree
from inspan.workspace.clone import copy_pristine
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.layers import OPAQUE, apply_layer, copy_home, own_tree, walk, write_entry
from inspan.workspace.layout import Owner, made, state_error
from inspan.workspace.objects import Objects
from inspan.workspace.passage import open_passage
from inspan.workspace.place import inside_root
from inspan.workspace.plan import MountPlan
from inspan.workspace.repository import Repository

_MOMENT = 946684800  # of every file in view, whenever and from whichever base it was written
_RECORDS, _RECORD = ("direct_url.json", ".egg-link", ".pth"), 1 << 16


class Base:
    """One base's files, looked at as objects. A context manager."""

    def __init__(self, state: State, repo: Repository, base: str) -> None:
        self.base, self.state, self._git = base, state, gate_git(state, repo)
        self._until_closed = ExitStack()
        self._paths: tuple[str, ...] | None = None

    def __enter__(self) -> Base:
        return self

    def __exit__(self, *raised: object) -> None:
        self._until_closed.close()

    @cached_property
    def _objects(self) -> Objects:
        return self._until_closed.enter_context(Objects(self._git))

    @property
    def tree(self) -> Tree:
        """It, for rules that look at it. A link is no file."""
        return Tree(self._read, self.paths)

    def paths(self) -> tuple[str, ...]:
        """Every path but submodules."""
        if self._paths is None:
            listed = self._git.run("ls-tree", "-r", "-z", self.base).split(b"\0")[:-1]
            self._paths = tuple(os.fsdecode(line.split(b"\t", 1)[1]) for line in listed if line[:6] != b"160000")
        return self._paths

    def digest(self, inputs: Inputs) -> str:
        """What of ``inputs`` this base has, as one word: equal for bases that give set-up the same view."""
        entries = self._entries(inputs)
        shown = [[path, mode.decode(), oid] for path, (mode, oid) in sorted(entries.items())]
        return digest([shown, sorted(inputs.names)])

    def write(self, inputs: Inputs, root: Path) -> None:
        """Write the files in view below ``root``, all of one age."""
        for path, (mode, oid) in sorted(self._entries(inputs).items()):
            write_entry(root, os.fsencode(path), mode, self._objects.blob(oid) or b"")
        for path in sorted(inputs.names - inputs.files):
            write_entry(root, os.fsencode(path), b"100644", b"")
        for _path, entry in walk(os.fspath(root)):
            os.utime(entry.path, (_MOMENT, _MOMENT), follow_symlinks=False)

    def tracked(self, layer: str) -> tuple[str, ...]:
        """Paths of this base that a layer holds or hides, sorted. Quick where nothing of what it holds is tracked."""
        found: set[bytes] = set()
        waiting = [(b"", layer)]
        while waiting:
            folder, here = waiting.pop()
            known = self._objects.names(self.base, folder)
            with os.scandir(here) as entries:
                for entry in entries:
                    own = known.get(os.fsencode(entry.name))
                    path = folder + b"/" * bool(folder) + os.fsencode(entry.name)
                    if own is not None and own.is_tree and entry.is_dir(follow_symlinks=False):
                        waiting.append((path, entry.path))
                    elif own is not None:
                        found.update(self._objects.leaves(self.base, path))
        return tuple(sorted(map(os.fsdecode, found)))

    def _read(self, path: str) -> bytes | None:
        entry = self._objects.entry(self.base, os.fsencode(path))
        return self._objects.blob(entry.oid) if entry is not None and entry.mode.startswith(b"100") else None

    def _entries(self, inputs: Inputs) -> dict[str, tuple[bytes, str]]:
        found = {}
        for path in inputs.files:
            entry = self._objects.entry(self.base, os.fsencode(path))
            if entry is not None and not entry.is_tree and not entry.is_gitlink:
                found[path] = (entry.mode, entry.oid)
        return found


def plan_bare(
    repo: Repository, view: Base, inputs: Inputs, scratch: Path, *, kind: Literal["overlay", "clone"], owner: Owner,
    level: str,
) -> MountPlan:  # fmt: skip
    """The workspace of a set-up that sees ``inputs`` of ``view`` and nothing else, no ``.git`` either.

    Raises:
        WorkspaceError, StateError: it cannot be made.
    """
    place, home = scratch / "ws", scratch / "home"
    seen = made(place / "base", 0o755)
    root = inside_root(repo.toplevel)
    try:
        view.write(inputs, seen)
        made(home)
        names = ("upper", "work", "m") if kind == "overlay" else ()
        for name in names:
            made(place / name, 0o755)
        if kind == "clone":
            copy_pristine([os.fspath(seen)], place / "tree")
        for directory in (seen, home, *(place / name for name in (names or ("tree",)))):
            own_tree(directory, owner.uid, owner.gid)
        if not promises(level).own_mounts:
            open_passage(view.state.root, place / "tree", owner)
    except OSError as refused:
        raise state_error(refused, place) from refused
    tree = os.fspath(place / ("m" if kind == "overlay" else "tree"))
    return MountPlan(
        kind=kind,
        root_inside=root if promises(level).own_mounts else tree,
        directory=tree,
        home=os.fspath(home),
        lowers=(os.fspath(seen),),
        upper=os.fspath(place / "upper") if kind == "overlay" else None,
        work=os.fspath(place / "work") if kind == "overlay" else None,
        uid=owner.uid,
        gid=owner.gid,
    )


def only_added(layer: Path, seen: Path) -> None:
    """Leave in a layer what was added to the files in view.

    overlayfs marks a directory that was removed and made anew (on some kernels any new one) as hiding what is below,
    and on another base something may be there; files that were in view as names alone are empty.
    """
    for path, entry in list(walk(os.fspath(layer))):
        if entry.is_dir(follow_symlinks=False):
            for name in OPAQUE:
                try:
                    os.removexattr(entry.path, name)
                except OSError:
                    continue
        elif os.path.lexists(seen / path):  # changed, or removed and so a whiteout
            os.unlink(entry.path)


def lacking(layer: Path, root: str) -> str | None:
    """Why a layer made without the repository in view is worth less than one made with it, None when it is not.

    Installing the repository itself from its manifest alone succeeds with some build tools and gives an empty package;
    links to directories of the repository lead nowhere.
    """
    top = os.fspath(layer)
    for path, entry in walk(top):
        if entry.is_symlink():
            target = os.readlink(entry.path)
            place = os.path.normpath(os.path.join(root, os.path.dirname(path), target))
            inside = place.startswith(root + "/") and place[len(root) + 1 :].split("/")[0] != path.split("/")[0]
            if inside and not os.path.lexists(top + place.removeprefix(root)):
                return f"{path} links to {place.removeprefix(root + '/')} of the repository"
        elif entry.name.endswith(_RECORDS) and _names(entry.path, root, path):
            return f"{path} installs the repository itself"
    return None


def _names(file: str, root: str, path: str) -> bool:
    """Whether an install record or path file of an environment names a place of the repository outside it."""
    try:
        text = read_regular(file, _RECORD).decode("utf-8", "surrogateescape")
    except OSError:
        return False
    environment = root + "/" + path.split("/lib", 1)[0] + "/"
    named = [unquote(urlsplit(url).path) for url in re.findall(r'"url"\s*:\s*"(file:[^"]*)"', text)]
    if not file.endswith(".json"):
        named = [line.strip() for line in text.splitlines() if line.startswith("/")]
    return any((place + "/").startswith(root + "/") and not place.startswith(environment) for place in named)


def begin_with(layer: Path, home: Path, plan: MountPlan) -> None:
    """Copy a frozen layer and its home into the workspace of a set-up that goes on from there."""
    into = Path(plan.upper or plan.directory)
    try:
        apply_layer(layer, into)
        copy_home(home, Path(plan.home))
        for directory in (into, Path(plan.home)):
            own_tree(directory, plan.uid, plan.gid)
    except OSError as refused:
        raise state_error(refused, into) from refused
