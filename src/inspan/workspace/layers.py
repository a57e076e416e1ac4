"""Layers as directories: what differs between two commits written as files and whiteouts, and layers put onto a copy.

Only trees the trusted side made itself are written here, so paths are plain; names come from git trees, which hold
neither ``..`` nor ``.git``.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from inspan.errors import WorkspaceError
from inspan.workspace.git import TrustedGit
from inspan.workspace.objects import Objects, TreeEntry
from inspan.workspace.remove import remove_tree

OPAQUE = ("user.overlay.opaque", "trusted.overlay.opaque")
_FICLONE = 0x40049409


class Difference(NamedTuple):
    """One line of ``git diff-tree -r --raw``: letter, modes and ids before and after, path."""

    status: str
    mode_before: bytes
    mode: bytes
    oid_before: str
    oid: str
    path: bytes


def differences_between(git: TrustedGit, before: str, after: str) -> list[Difference]:
    """What differs between the trees of two commits, by path."""
    return parse_raw(git.run("diff-tree", "-r", "-z", "--raw", "--full-index", "--no-renames", before, after))


def parse_raw(raw: bytes) -> list[Difference]:
    """Parse ``diff-tree -r -z --raw --full-index`` output."""
    fields = raw.split(b"\0")[:-1]
    found = []
    for head, path in zip(fields[::2], fields[1::2], strict=True):
        mode_before, mode, oid_before, oid, status = head[1:].split(b" ")
        found.append(Difference(status.decode(), mode_before, mode, oid_before.decode(), oid.decode(), path))
    return found


def is_whiteout(st: os.stat_result) -> bool:
    """Whether an entry of a layer says that the name is gone."""
    return stat.S_ISCHR(st.st_mode) and st.st_rdev == 0


def is_opaque(directory: int | str) -> bool:
    """Whether a layer's directory hides what lies below it."""
    for name in OPAQUE:
        try:
            if os.getxattr(directory, name) == b"y":
                return True
        except OSError:
            continue
    return False


def make_whiteout(path: str | bytes) -> None:
    """A whiteout at ``path``; needs no privilege since Linux 5.8.

    Raises:
        WorkspaceError: the kernel or the file system refuses.
    """
    try:
        os.mknod(path, stat.S_IFCHR, 0)
    except OSError as refused:
        raise WorkspaceError(
            f"no whiteout can be made: {refused.strerror}",
            where=os.fsdecode(path),
            do="put the state directory (INSPAN_HOME) on another file system",
        ) from refused


def whiteouts_possible(directory: Path) -> bool:
    """Whether whiteouts can be made in ``directory``; an overlay file system refuses them."""
    trial = directory / f".whiteout-{os.getpid()}"
    try:
        make_whiteout(os.fspath(trial))
        trial.unlink()
    except (WorkspaceError, OSError):
        return False
    return True


def write_entry(root: Path, path: bytes, entry_mode: bytes, content: bytes) -> None:
    """Write one blob as a file or symbolic link; whatever non-directory stood there is replaced."""
    target = os.path.join(os.fsencode(root), path)
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    if os.path.lexists(target):
        os.unlink(target)
    if entry_mode == b"120000":
        os.symlink(content, target)
        return
    mode = 0o755 if entry_mode == b"100755" else 0o644
    file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(file, "wb") as out:
        out.write(content)
    os.chmod(target, mode)


def gone_paths(changes: Iterable[Difference], objects: Objects, after: str, *, whole: bool = True) -> list[bytes]:
    """Paths to white out so that the files deleted by ``changes`` vanish.

    With ``whole`` a directory that no longer exists in ``after`` vanishes as one, as git has no empty directories.
    """
    gone: dict[bytes, None] = {}
    for change in changes:
        if change.status != "D":
            continue
        path, parts = change.path, change.path.split(b"/")
        hidden = objects.entry(after, path) is not None  # a directory took its place, and hides it
        for depth in range(1, len(parts)):
            above = b"/".join(parts[:depth])
            entry: TreeEntry | None = objects.entry(after, above)
            if entry is None and whole:
                path = above
                break
            if entry is not None and not entry.is_tree:
                hidden = True  # a file or link stands where the directory was, and hides all of it
                break
        if not hidden:
            gone[path] = None
    return list(gone)


def write_difference(
    root: Path, changes: Iterable[Difference], objects: Objects, after: str, *, whole: bool = True
) -> None:
    """Write ``changes`` as a layer below ``root``. New submodules (gitlinks) become directories."""
    changes = list(changes)
    for path in gone_paths(changes, objects, after, whole=whole):
        target = os.path.join(os.fsencode(root), path)
        os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
        make_whiteout(target)
    for change in changes:
        _write_change(root, change, objects)


def change_copy(root: Path, changes: Iterable[Difference], objects: Objects) -> None:
    """Carry ``changes`` out on a plain copy of what they start from; directories that become empty go."""
    changes = list(changes)
    for change in changes:
        target = root / os.fsdecode(change.path)
        if change.status == "D":
            remove_tree(target)
            parent = target.parent
            while parent != root and parent.is_dir() and not parent.is_symlink() and not os.listdir(parent):
                parent.rmdir()
                parent = parent.parent
    for change in changes:
        target = root / os.fsdecode(change.path)
        if target.is_dir() and not target.is_symlink() and change.mode != b"160000":
            remove_tree(target)  # what is left of a directory that became a file
        _write_change(root, change, objects)


def _write_change(root: Path, change: Difference, objects: Objects) -> None:
    if change.status == "D":
        return
    if change.mode == b"160000":
        os.makedirs(os.path.join(os.fsencode(root), change.path), mode=0o755, exist_ok=True)
        return
    content = objects.blob(change.oid)
    if content is None:
        raise WorkspaceError(f"object {change.oid} is missing", where=os.fsdecode(change.path))
    write_entry(root, change.path, change.mode, content)


def walk(root: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Every entry below ``root`` as (relative path, entry), a directory before its content; links are not followed."""
    waiting = [""]
    while waiting:
        here = waiting.pop()
        with os.scandir(os.path.join(root, here)) as entries:
            for entry in entries:
                path = os.path.join(here, entry.name)
                yield path, entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)


def copy_file(source: str, target: str, mode: int) -> None:
    """Copy one regular file, sharing blocks where the file system can; modification time is kept."""
    reader = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        st = os.fstat(reader)
        writer = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.ioctl(writer, _FICLONE, reader)
            except OSError:
                left = st.st_size
                while left > 0:
                    moved = os.sendfile(writer, reader, None, left)
                    if moved == 0:
                        break
                    left -= moved
            os.fchmod(writer, mode)
            os.utime(writer, ns=(st.st_mtime_ns, st.st_mtime_ns))
        finally:
            os.close(writer)
    finally:
        os.close(reader)


def apply_layer(layer: Path, target: Path) -> None:
    """Put a layer onto a plain copy: whiteouts delete, opaque directories replace, everything else is copied."""
    source, onto = os.fspath(layer), os.fspath(target)
    for path, entry in walk(source):
        there = Path(onto, path)
        st = entry.stat(follow_symlinks=False)
        if is_whiteout(st):
            remove_tree(there)
        elif stat.S_ISDIR(st.st_mode):
            if there.is_symlink() or (there.exists() and not there.is_dir()) or is_opaque(entry.path):
                remove_tree(there)
            there.mkdir(exist_ok=True)
            os.chmod(there, stat.S_IMODE(st.st_mode) | 0o700)
        elif stat.S_ISLNK(st.st_mode):
            remove_tree(there)
            os.symlink(os.readlink(entry.path), there)
        elif stat.S_ISREG(st.st_mode):
            remove_tree(there)
            copy_file(entry.path, os.fspath(there), stat.S_IMODE(st.st_mode) & 0o777)


def own_tree(root: Path, uid: int, gid: int) -> None:
    """Give a tree the trusted side made to ``uid``; a no-op for the caller's own."""
    if uid == os.geteuid() and gid == os.getegid():
        return
    os.lchown(root, uid, gid)
    if root.is_dir() and not root.is_symlink():
        for _path, entry in walk(os.fspath(root)):
            os.chown(entry.path, uid, gid, follow_symlinks=False)


def copy_home(source: Path, target: Path) -> None:
    """Copy a scratch home, links as links; special files are left out."""
    target.mkdir(mode=0o700, exist_ok=True)
    if source.is_dir() and os.listdir(source):
        apply_layer(source, target)
