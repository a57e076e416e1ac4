"""Removing a tree somebody else wrote: any depth, any permission, never through a symbolic link."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from inspan.files import DIRECTORY

ASIDE = ".going-"
"""Prefix of what is being removed: whoever finds it may go on removing it."""


def set_aside(path: Path) -> Path:
    """Give ``path`` a name beside it that says it is being removed; gives the new path.

    A removal that is cut off then leaves nothing that could be taken for a whole workspace or layer.
    """
    moved = path.with_name(f"{ASIDE}{secrets.token_hex(8)}")
    path.rename(moved)
    return moved


def remove_tree(path: Path) -> None:
    """Remove ``path`` and everything below; no error when it does not exist.

    Nested directories are first moved up to the top, so neither the depth of the tree nor the length of a path matters.
    """
    try:
        st = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(st.st_mode):
        os.unlink(path)
        return
    top = _opened(os.fspath(path), None)
    try:
        _empty(top)
    finally:
        os.close(top)
    os.rmdir(path)


def _opened(name: str, at: int | None) -> int:
    try:
        return os.open(name, DIRECTORY, dir_fd=at)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=at)
        return os.open(name, DIRECTORY, dir_fd=at)


def _empty(top: int) -> None:
    """Empty the directory behind ``top``: files go, subdirectories queue up directly below it."""
    counter = 0
    waiting = _sweep(top)
    while waiting:
        name = waiting.pop()
        inner = _opened(name, top)
        try:
            if os.fstat(inner).st_mode & 0o700 != 0o700:
                os.fchmod(inner, 0o700)
            for child in _sweep(inner):
                while True:
                    counter += 1
                    moved = f".inspan-removing-{counter}"
                    try:
                        os.stat(moved, dir_fd=top, follow_symlinks=False)
                    except FileNotFoundError:
                        break
                _move(child, inner, moved, top)
                waiting.append(moved)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=top)


def _move(name: str, at: int, target: str, top: int) -> None:
    try:
        os.rename(name, target, src_dir_fd=at, dst_dir_fd=top)
    except PermissionError:  # moving a directory rewrites its "..", which needs write permission on it
        os.chmod(name, 0o700, dir_fd=at)
        os.rename(name, target, src_dir_fd=at, dst_dir_fd=top)


def _sweep(directory: int) -> list[str]:
    """Unlink everything in a directory that is no directory; the names of what remains."""
    remaining = []
    with os.scandir(directory) as entries:
        listed = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_directory in listed:
        if not is_directory:
            os.unlink(name, dir_fd=directory)
            continue
        try:
            os.rmdir(name, dir_fd=directory)
        except OSError:
            remaining.append(name)
    return remaining
