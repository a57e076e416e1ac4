"""Where the objects of a repository are: its own store and everything it borrows from."""

from __future__ import annotations

import os
import re

from inspan.errors import RepositoryError
from inspan.workspace.repository import Repository

STORES_INSIDE = "/run/inspan/objects"
"""Object stores stand inside at ``STORES_INSIDE/<n>``, never at their own path: the workspace covers that one."""

_DEPTH = 5  # git itself follows alternates no deeper

_OF_A_STORE = re.compile(r"[0-9a-f]{2}|pack|info|tmp_.*|incoming-.*|bulk-fsync.*|.*\.lock")
"""What git keeps in a store. A store is shown inside as a whole, so anything else there would be shown with it."""


def _unquoted(line: bytes) -> bytes:
    if not (len(line) > 1 and line[:1] == line[-1:] == b'"'):
        return line
    letters = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}

    def one(match: re.Match[bytes]) -> bytes:
        escape = match.group(1)
        return bytes([int(escape, 8)]) if escape.isdigit() else letters.get(escape, escape)

    return re.sub(rb"\\([0-7]{3}|.)", one, line[1:-1])


def quoted(path: str) -> bytes:
    """``path`` as one line of an alternates file."""
    raw = os.fsencode(path)
    if raw[:1] not in (b'"', b"#") and b"\n" not in raw:
        return raw
    return b'"' + b"".join(b"\\%03o" % c if c < 32 or c in b'"\\' else bytes([c]) for c in raw) + b'"'


def object_stores(repo: Repository) -> tuple[str, ...]:
    """Absolute paths of the repository's object directory and of those it borrows from, nearest first.

    Raises:
        RepositoryError: what the repository names as a store is a directory of something else.
    """
    found: list[str] = []

    def visit(store: str, depth: int) -> None:
        store = os.path.realpath(store)
        if store in found or depth > _DEPTH or not os.path.isdir(store):
            return
        _verify(store, repo)
        found.append(store)
        borrowed = os.path.join(store, "info", "alternates")
        if not os.path.isfile(borrowed):  # a pipe there would be waited for without end
            return
        try:
            with open(borrowed, "rb") as file:
                lines = file.read().split(b"\n")
        except OSError:
            return
        for line in lines:
            if line and not line.startswith(b"#"):
                visit(os.path.join(store, os.fsdecode(_unquoted(line))), depth + 1)

    visit(os.path.join(repo.common_dir, "objects"), 0)
    return tuple(found)


def _verify(store: str, repo: Repository) -> None:
    """A repository can name any directory of the machine as its store, and may have been made by somebody else."""
    try:
        strange = sorted(name for name in os.listdir(store) if not _OF_A_STORE.fullmatch(name))
    except PermissionError as refused:
        raise RepositoryError(
            "no permission to read an object store", where=store, do="run as a user who may read it"
        ) from refused
    if strange:
        raise RepositoryError(
            f"the repository borrows objects from a directory that is no object store (it holds {strange[0]!r})",
            where=store,
            do=f"look into {repo.common_dir}/objects/info/alternates, and remove what git did not put there",
        )
