"""Walking a tree an agent wrote: by directory descriptors, never through a link, nothing opened but regular files.

Only called after every process of the tree is dead.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from typing import Literal, NamedTuple

from inspan.errors import GateError
from inspan.files import DIRECTORY, beneath, open_regular
from inspan.workspace.layers import is_opaque, is_whiteout
from inspan.workspace.names import is_dotgit

MAX_DEPTH = 128
MAX_ENTRIES = 1_000_000
"""Entries looked at, ignored ones included; a larger tree is refused before anything is read."""

Kind = Literal["file", "link", "directory", "opaque", "whiteout", "special", "dotgit"]


class Found(NamedTuple):
    """One entry: path relative to the root, kind, ``st_mode`` and size, target of a link."""

    path: bytes
    kind: Kind
    mode: int = 0
    size: int = 0
    target: bytes = b""


def scan(root: str, *, layer: bool) -> list[Found]:
    """Everything below ``root``, a directory before its content, sorted by name in each directory.

    The root's own ``.git`` is left out, unless it is no directory: then it comes as ``dotgit``. With ``layer`` the
    tree is an overlay's upper and may hold whiteouts and opaque directories.

    Raises:
        GateError: (``change_too_large``) too deep or too many entries; any doubt about the layer's format.
    """
    found: list[Found] = []
    top = os.open(root, DIRECTORY)
    try:
        _scan(top, b"", found, layer, 0)
    finally:
        os.close(top)
    return found


def _scan(directory: int, prefix: bytes, found: list[Found], layer: bool, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise GateError("the change nests too deep", where=os.fsdecode(prefix[:200]), reason="change_too_large")
    for name in sorted(os.listdir(directory)):
        raw = os.fsencode(name)
        path = prefix + raw
        st = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if not prefix and raw == b".git":
            if not stat.S_ISDIR(st.st_mode):
                found.append(Found(path, "dotgit"))
            continue
        if len(found) >= MAX_ENTRIES:
            raise GateError("the change has too many files", where=os.fsdecode(prefix), reason="change_too_large")
        if not stat.S_ISDIR(st.st_mode):
            found.append(_leaf(directory, name, path, st, layer))
            continue
        if is_dotgit(raw):  # a nested repository, or something that wants to be one
            found.append(Found(path, "dotgit"))
            continue
        inner = os.open(name, DIRECTORY, dir_fd=directory)
        try:
            opaque = False
            if layer:
                _refuse_redirects(inner, path)
                opaque = is_opaque(inner)
            found.append(Found(path, "opaque" if opaque else "directory", st.st_mode))
            _scan(inner, path + b"/", found, layer, depth + 1)
        finally:
            os.close(inner)


def _leaf(directory: int, name: str, path: bytes, st: os.stat_result, layer: bool) -> Found:
    if layer and is_whiteout(st):
        return Found(path, "whiteout")
    if is_dotgit(os.fsencode(name)):
        return Found(path, "dotgit")
    if stat.S_ISLNK(st.st_mode):
        return Found(path, "link", st.st_mode, st.st_size, os.fsencode(os.readlink(name, dir_fd=directory)))
    if stat.S_ISREG(st.st_mode):
        return Found(path, "file", st.st_mode, st.st_size)
    return Found(path, "special", st.st_mode)


def _refuse_redirects(directory: int, path: bytes) -> None:
    """A redirected directory shows another lower one; our mounts never make any, so one here is a forgery."""
    for name in os.listxattr(directory):
        if name.endswith(".overlay.redirect") and name.count("overlay") == 1:
            raise GateError("a layer directory is redirected", where=os.fsdecode(path))


@contextmanager
def opened(root: str, path: bytes) -> Iterator[BufferedReader]:
    """Open a regular file below ``root`` component by component, following nothing.

    Raises:
        OSError: it is no regular file any more.
    """
    *above, name = path.split(b"/")
    with beneath(root, above) as at, open_regular(name, at=at) as file:
        yield file
