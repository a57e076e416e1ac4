"""Whether a file of a workspace is what stood below it: the base, a set-up layer, a submodule or an LFS object."""

from __future__ import annotations

import hashlib
import os
import stat

from inspan.workspace.git import ObjectFormat
from inspan.workspace.layers import is_opaque, is_whiteout
from inspan.workspace.scan import Found, opened


def git_mode(found: Found) -> bytes:
    """The mode git gives a file or link."""
    if found.kind == "link":
        return b"120000"
    return b"100755" if found.mode & 0o100 else b"100644"


def blob_id(root: str, found: Found, object_format: ObjectFormat) -> str:
    """git's id of a file's or link's content, computed here."""
    hasher = hashlib.new(object_format, usedforsecurity=False)
    if found.kind == "link":
        hasher.update(b"blob %d\0" % len(found.target) + found.target)
        return hasher.hexdigest()
    with opened(root, found.path) as file:
        hasher.update(b"blob %d\0" % os.fstat(file.fileno()).st_size)
        while data := file.read(1 << 20):
            hasher.update(data)
    return hasher.hexdigest()


def sha256_of(root: str, path: bytes) -> str:
    """sha256 of a regular file's content."""
    with opened(root, path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def same_as(root: str, found: Found, layer: str) -> bool:
    """Whether a trusted layer holds the same file or link at the same path."""
    other = os.path.join(os.fsencode(layer), found.path)
    try:
        st = os.lstat(other)
    except (FileNotFoundError, NotADirectoryError):
        return False
    if found.kind == "link":
        return stat.S_ISLNK(st.st_mode) and os.readlink(other) == found.target
    if found.kind != "file" or not stat.S_ISREG(st.st_mode) or st.st_size != found.size:
        return False
    if (st.st_mode ^ found.mode) & 0o100:
        return False
    return sha256_of(root, found.path) == sha256_of(layer, found.path)


def hides(layer: str, path: bytes) -> bool:
    """Whether a trusted layer removes what lies below it at ``path``."""
    place = os.fsencode(layer)
    for part in path.split(b"/"):
        if is_opaque(os.fsdecode(place)) and not os.path.lexists(os.path.join(place, part)):
            return True
        place = os.path.join(place, part)
        try:
            st = os.lstat(place)
        except (FileNotFoundError, NotADirectoryError):
            return False
        if is_whiteout(st):
            return True
        if not stat.S_ISDIR(st.st_mode):
            return True
    return False


def holds(layer: str, path: bytes) -> bool:
    """Whether a trusted layer has anything but a whiteout at ``path``."""
    try:
        return not is_whiteout(os.lstat(os.path.join(os.fsencode(layer), path)))
    except (FileNotFoundError, NotADirectoryError):
        return False
