"""Set-up layers: what set-up commands wrote on a base, frozen before any agent exists, stacked below every attempt."""

from __future__ import annotations

import fcntl
import glob
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from inspan.errors import WorkspaceError
from inspan.spec.paths import State
from inspan.workspace.bare import Base, only_added
from inspan.workspace.copies import copies_of_tracked
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.layers import (
    apply_layer,
    is_opaque,
    is_whiteout,
    make_whiteout,
    own_tree,
    walk,
    whiteouts_possible,
)
from inspan.workspace.layout import locked, made, state_error
from inspan.workspace.objects import Objects
from inspan.workspace.plan import MountPlan
from inspan.workspace.remove import remove_tree, set_aside
from inspan.workspace.repository import Repository
from inspan.workspace.seal import seal
from inspan.workspace.use import note_use

SCRATCH = ".new-"
"""Prefix of a set-up that is not frozen yet."""
_LOCK = ".lock-"
_LOOK = 0.1  # seconds between two looks at a lock somebody else holds


class SetupLayer(msgspec.Struct, frozen=True, kw_only=True):
    """A frozen layer.

    Attributes:
        key: what it depends on, as the caller computed it.
        lower: the layer: files, whiteouts and opaque directories; usable as an overlay's lower or put onto a copy.
        home: the home directory the set-up left.
        changed_tracked: paths of the base that the set-up changed or removed, sorted.
        shared: it was made with nothing but its inputs in view, and serves every base that has the same ones.
        copied: tracked paths of which the layer holds copies elsewhere: the repository itself was built or installed.
    """

    key: str
    lower: str
    home: str
    changed_tracked: tuple[str, ...]
    shared: bool = False
    copied: tuple[str, ...] = ()


class _Frozen(msgspec.Struct, frozen=True, kw_only=True):
    """``meta.json``.

    Attributes:
        gone: what the layer removes where its file system cannot hold whiteouts.
        seals: of ``layer`` and ``home`` as they were frozen.
    """

    changed_tracked: tuple[str, ...]
    gone: tuple[str, ...] = ()
    seals: tuple[str, ...] = ()
    shared: bool = False
    copied: tuple[str, ...] = ()


def _place(state: State, repo: Repository, key: str) -> Path:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", key):
        raise WorkspaceError(f"{key!r} cannot name a set-up layer", do="use letters, digits, '.', '_' and '-'")
    return state.repo(repo.key) / "setup" / key


def setup_scratch(state: State, repo: Repository, key: str) -> Path:
    """A fresh directory for running the set-up commands of ``key``."""
    final = _place(state, repo, key)
    made(final.parent)
    try:
        return Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{key}-", dir=final.parent))
    except OSError as refused:
        raise state_error(refused, final.parent) from refused


def find_setup(state: State, repo: Repository, key: str, view: Base | None = None) -> SetupLayer | None:
    """The frozen layer of that key, None when there is none yet, or none any more.

    A layer of which anything has changed since it was frozen is taken away and never used.

    Args:
        view: the base it is to stand on, for a shared layer's ``changed_tracked``.
    """
    place = _place(state, repo, key)
    note_use(place)
    frozen = _frozen(place)
    if frozen is None:
        return None
    if not _intact(place, frozen):
        with locked(state, repo):
            again = _frozen(place)
            if again is not None and not _intact(place, again):
                remove_tree(set_aside(place))
        return None
    changed = frozen.changed_tracked
    if frozen.shared and view is not None:
        changed = view.tracked(f"{place}/layer")
    return SetupLayer(
        key=key,
        lower=f"{place}/layer",
        home=f"{place}/home",
        changed_tracked=changed,
        shared=frozen.shared,
        copied=frozen.copied,
    )


def intact(layer: SetupLayer) -> bool:
    """Whether the layer is still as it was frozen."""
    place = Path(layer.lower).parent
    frozen = _frozen(place)
    return frozen is not None and _intact(place, frozen)


def _frozen(place: Path) -> _Frozen | None:
    try:
        return msgspec.json.decode((place / "meta.json").read_bytes(), type=_Frozen)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError:
        return _Frozen(changed_tracked=())  # unreadable, and so without the seals of anything


def _intact(place: Path, frozen: _Frozen) -> bool:
    try:
        return frozen.seals == _seals(place)
    except OSError:
        return False


def _seals(place: Path) -> tuple[str, ...]:
    return seal(place / "layer"), seal(place / "home")


def drop_setups(state: State, repo: Repository, prefix: str) -> None:
    """Remove the layers whose key begins so; nothing may stand on them any more."""
    home = _place(state, repo, prefix).parent
    try:
        for place in home.glob(f"{glob.escape(prefix)}*"):
            with locked(state, repo):
                if place.exists():
                    remove_tree(set_aside(place))
    except OSError as refused:
        raise state_error(refused, home) from refused


@contextmanager
def building(state: State, repo: Repository, key: str, *, cancelled: Callable[[], bool]) -> Iterator[None]:
    """Hold the right to make the layer ``key``, waiting for whoever makes it now; it falls with the process.

    What an earlier maker left unfinished is removed: only the holder has anything unfinished under this key.

    Raises:
        WorkspaceError: (``setup_failed``) the job was cancelled while it waited.
    """
    final = _place(state, repo, key)
    made(final.parent)
    lock = final.with_name(f"{_LOCK}{key}")
    while (descriptor := _held(lock)) is None:
        if cancelled():
            raise WorkspaceError(
                "cancelled while another job made the set-up layer", where=os.fspath(final), reason="setup_failed"
            )
        time.sleep(_LOOK)
    try:
        for left in final.parent.glob(f"{SCRATCH}{glob.escape(key)}-*"):
            remove_tree(left)
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _held(lock: Path) -> int | None:
    """A descriptor that holds ``lock``, the one that stands there now; None while somebody else does."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_ino == os.lstat(lock).st_ino:
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None


def note_unfit(state: State, repo: Repository, key: str) -> None:
    """Remember that the commands of ``key`` want more than the files they were shown."""
    _unfit(state, repo, key).touch()


def is_unfit(state: State, repo: Repository, key: str) -> bool:
    """Whether that is known."""
    return _unfit(state, repo, key).exists()


def _unfit(state: State, repo: Repository, key: str) -> Path:
    return _place(state, repo, key).with_name(f".unfit-{key}")


def gone_from(layer: SetupLayer) -> tuple[str, ...]:
    """What the layer removes beyond its whiteouts."""
    return msgspec.json.decode((Path(layer.lower).parent / "meta.json").read_bytes(), type=_Frozen).gone


def apply_setup(layer: SetupLayer, tree: Path) -> None:
    """Put the layer onto a plain copy of its base."""
    for path in gone_from(layer):
        remove_tree(tree / path)
    apply_layer(Path(layer.lower), tree)


def freeze(
    state: State, repo: Repository, base: str, key: str, plan: MountPlan, lowers: Sequence[str], *, shared: bool = False
) -> SetupLayer:
    """Move what ``plan``'s workspace holds beyond ``lowers`` into its final place; the first to come stays."""
    scratch = Path(plan.home).parent
    tree = Path(plan.upper or plan.directory)
    if not scratch.name.startswith(SCRATCH):
        raise WorkspaceError("this is no set-up workspace", where=os.fspath(scratch))
    gone: tuple[str, ...] = ()
    if plan.upper is None:
        gone = tuple(_reduce(tree, lowers, whiteouts_possible(scratch)))
        own_tree(tree, plan.uid, plan.gid)
    remove_tree(tree / ".git")
    changed: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    if shared:
        only_added(tree, Path(lowers[0]))
        gone = ()
    else:
        changed = _changed_tracked(state, repo, base, tree, gone)
        copied = copies_of_tracked(state, repo, base, tree)
    frozen = _Frozen(changed_tracked=changed, gone=gone, shared=shared, copied=copied)
    final = _place(state, repo, key)
    try:
        with locked(state, repo):
            if not final.exists():
                _arrive(scratch, tree, final, frozen)
    except OSError as refused:
        raise state_error(refused, final) from refused
    with Base(state, repo, base) as view:
        found = find_setup(state, repo, key, view)
    if found is None:
        raise WorkspaceError("the set-up layer did not arrive", where=os.fspath(final))
    return found


def _arrive(scratch: Path, tree: Path, final: Path, frozen: _Frozen) -> None:
    """Put a layer into its place by one rename.

    It is sealed where it stands: a rename changes a directory's times, and overlayfs keeps another link to a layer's
    whiteouts in its work directory, whose removal changes theirs.
    """
    arrived = scratch.with_name(f"{SCRATCH}frozen-{final.name}")
    remove_tree(arrived)
    arrived.mkdir(mode=0o755)
    tree.rename(arrived / "layer")
    (scratch / "home").rename(arrived / "home")
    remove_tree(scratch / "ws")
    sealed = msgspec.structs.replace(frozen, seals=_seals(arrived))
    (arrived / "meta.json").write_bytes(msgspec.json.encode(sealed))
    arrived.rename(final)


def _reduce(tree: Path, lowers: Sequence[str], whiteouts: bool) -> list[str]:
    """Turn a complete copy into a layer: what it shares with ``lowers`` goes, what it lacks becomes a whiteout.

    Without ``whiteouts`` the paths it lacks are given back instead.
    """
    gone: list[str] = []
    below: dict[str, str] = {}
    for lower in reversed(lowers):
        for path, entry in walk(lower):
            if path == ".git" or path.startswith(".git/"):
                continue
            st = entry.stat(follow_symlinks=False)
            if is_whiteout(st):
                below = {p: full for p, full in below.items() if p != path and not p.startswith(path + "/")}
            elif not stat.S_ISDIR(st.st_mode):
                below[path] = entry.path
    kept_directories = {os.path.dirname(path) for path in below}
    for path, full in below.items():
        here = tree / path
        if _same(here, full):
            here.unlink()
            continue
        lost = _lost(tree, path)
        if lost is None or lost in gone:
            continue
        if whiteouts:
            make_whiteout(os.fspath(tree / lost))
        else:
            gone.append(lost)
    for path, entry in sorted(walk(os.fspath(tree)), reverse=True):
        if path in kept_directories and entry.is_dir(follow_symlinks=False) and not os.listdir(entry.path):
            os.rmdir(entry.path)
    return gone


def _lost(tree: Path, path: str) -> str | None:
    """The topmost part of ``path`` that is not in ``tree`` any more; None when nothing is or something hides it."""
    place, parts = tree, path.split("/")
    for depth, part in enumerate(parts):
        place = place / part
        try:
            st = os.lstat(place)
        except FileNotFoundError:
            return "/".join(parts[: depth + 1])
        if not stat.S_ISDIR(st.st_mode):
            return None
    return None


def _same(one: Path, other: str) -> bool:
    """Whether two paths are the same file or link, by content and by the executable bit."""
    try:
        a, b = os.lstat(one), os.lstat(other)
    except (FileNotFoundError, NotADirectoryError):
        return False
    if stat.S_IFMT(a.st_mode) != stat.S_IFMT(b.st_mode) or a.st_size != b.st_size:
        return False
    if stat.S_ISLNK(a.st_mode):
        return os.readlink(one) == os.readlink(other)
    if not stat.S_ISREG(a.st_mode) or (a.st_mode ^ b.st_mode) & 0o100:
        return False
    with open(one, "rb") as left, open(other, "rb") as right:
        while True:
            mine = left.read(1 << 20)
            if mine != right.read(1 << 20):
                return False
            if not mine:
                return True


def _changed_tracked(state: State, repo: Repository, base: str, layer: Path, gone: Sequence[str]) -> tuple[str, ...]:
    """Tracked paths that the layer holds or hides."""
    changed: set[bytes] = set()
    with Objects(gate_git(state, repo)) as objects:
        for path in gone:
            changed.update(objects.leaves(base, os.fsencode(path)))
        for path, entry in walk(os.fspath(layer)):
            if not entry.is_dir(follow_symlinks=False) or is_opaque(entry.path):
                changed.update(objects.leaves(base, os.fsencode(path)))
    return tuple(sorted(map(os.fsdecode, changed)))
