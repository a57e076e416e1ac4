"""Mixed trees, written by the gate from its own objects: one tree with some paths of another."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from inspan.workspace.git import TrustedGit


class Blob(NamedTuple):
    """One file of a tree: octal mode and object id."""

    mode: str
    oid: str


def files(git: TrustedGit, commit: str) -> dict[str, Blob]:
    """Every path of a commit's tree."""
    out: dict[str, Blob] = {}
    for entry in git.run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
        if entry:
            head, _, path = entry.partition(b"\t")
            mode, _, oid = head.split(b" ")
            out[os.fsdecode(path)] = Blob(mode.decode(), oid.decode())
    return out


def content(git: TrustedGit, blob: Blob) -> bytes | None:
    """Bytes of a regular file; None for a link or a submodule."""
    if not blob.mode.startswith("100"):
        return None
    return git.run("cat-file", "blob", blob.oid)


def stored(git: TrustedGit, data: bytes, mode: str = "100644") -> Blob:
    """Store bytes as an object."""
    return Blob(mode, git.run("hash-object", "-w", "--stdin", input=data).decode().strip())


def _quoted(path: str) -> bytes:
    return b'"' + b"".join(b"\\%03o" % byte for byte in os.fsencode(path)) + b'"'


def variant(git: TrustedGit, start: str, changes: Mapping[str, Blob | None]) -> str:
    """A commit whose tree is that of ``start`` with some paths replaced, or removed where the value is None."""
    ref = f"refs/inspan/variant/{secrets.token_hex(8)}"
    script = [
        f"commit {ref}\n".encode(),
        b"committer inspan <inspan@localhost> 1000000000 +0000\ndata 7\nvariant\n",
        f"from {start}\n".encode(),
    ]
    # Removals first: a directory may give way to a file of its name.
    script += [b"D " + _quoted(path) + b"\n" for path, blob in sorted(changes.items()) if blob is None]
    script += [
        b"M %s %s %s\n" % (blob.mode.encode(), blob.oid.encode(), _quoted(path))
        for path, blob in sorted(changes.items())
        if blob is not None
    ]
    git.run("fast-import", "--quiet", "--force", input=b"".join([*script, b"\ndone\n"]))
    commit = git.line("rev-parse", ref)
    git.run("update-ref", "-d", ref)
    return commit


def swapped(ours: Mapping[str, Blob], theirs: Mapping[str, Blob], paths: Iterable[str]) -> dict[str, Blob | None]:
    """The replacements that give ``ours`` the version of ``paths`` that ``theirs`` has."""
    return {p: theirs.get(p) for p in paths if ours.get(p) != theirs.get(p)}
