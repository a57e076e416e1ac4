"""Whether set-up built or installed the repository itself: copies of its sources where the checks would find them.

Checks on a result must not test the base's code from such a copy. An editable install refers to the workspace and is
none; a library that was compiled without a copy of any source is not seen.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from inspan.spec.paths import State
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.layers import walk
from inspan.workspace.repository import Repository

_SOURCE = re.compile(
    r".*\.(py[ix]?|[cm]?[jt]sx?|vue|svelte|rb|php|pl|lua|go|rs|cc?|h|[ch]pp|java|kt|scala|cs|exs?|erl|clj|jl|sh|sql|s?css)"
)
_SMALLEST, _LARGEST = 64, 4 << 20  # bytes: two small files are often equal by chance


def copies_of_tracked(state: State, repo: Repository, base: str, layer: Path) -> tuple[str, ...]:
    """Tracked sources of ``base`` of which ``layer`` holds a copy of the same name at another place, sorted."""
    git = gate_git(state, repo)
    tracked: dict[str, list[tuple[str, str]]] = {}
    for line in git.run("ls-tree", "-r", "-z", base).split(b"\0")[:-1]:
        head, raw = line.split(b"\t", 1)
        path = os.fsdecode(raw)
        name = os.path.basename(path)
        if head.startswith(b"100") and _SOURCE.fullmatch(name):
            tracked.setdefault(name, []).append((head.split(b" ")[2].decode(), path))
    found: set[str] = set()
    for path, entry in walk(os.fspath(layer)):
        known = {oid: source for oid, source in tracked.get(entry.name, ()) if source != path}
        if known and entry.is_file(follow_symlinks=False) and _SMALLEST <= _size(entry) <= _LARGEST:
            found.update(filter(None, [known.get(_blob(entry.path, repo.object_format))]))
    return tuple(sorted(found))


def _size(entry: os.DirEntry[str]) -> int:
    return entry.stat(follow_symlinks=False).st_size


def _blob(path: str, object_format: str) -> str:
    with open(path, "rb") as file:
        content = file.read()
    return hashlib.new(object_format, b"blob %d\0" % len(content) + content).hexdigest()
