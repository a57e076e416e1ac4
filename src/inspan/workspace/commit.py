"""Committing what was read onto the base in the gate's own repository: one stream, no index, no filter."""

from __future__ import annotations

import tempfile
from typing import IO

from inspan.errors import GateError
from inspan.files import read_capped
from inspan.spec.paths import State
from inspan.workspace.changes import MAX_FILE, Work
from inspan.workspace.compare import git_mode
from inspan.workspace.git import TrustedGit
from inspan.workspace.repository import Repository
from inspan.workspace.scan import Found, opened

_IDENTITY = b"Inspan <inspan@localhost> 0 +0000"
_MESSAGE = b"Result of an attempt\n"


def commit_work(state: State, repo: Repository, git: TrustedGit, base: str, ref: str, work: Work) -> str:
    """The commit of ``work`` on ``base``, held by ``ref``; ``base`` itself when its tree is the same.

    Author, time and message are fixed: the same tree has the same id.
    """
    with tempfile.TemporaryFile(dir=state.repo(repo.key)) as stream:
        _write_stream(stream, ref, base, work)
        stream.seek(0)
        git.run("fast-import", "--quiet", "--force", "--done", input=stream)
    names = git.line("rev-parse", ref, f"{base}^{{tree}}", f"{ref}^{{tree}}")
    result, before, after = names.split()
    if before != after:
        return result
    git.run("update-ref", ref, base)
    return base


def _write_stream(stream: IO[bytes], ref: str, base: str, work: Work) -> None:
    stream.write(
        b"commit %s\nauthor %s\ncommitter %s\ndata %d\n%sfrom %s\n"
        % (ref.encode(), _IDENTITY, _IDENTITY, len(_MESSAGE), _MESSAGE, base.encode())
    )
    for path in work.deletes:
        stream.write(b"D %s\n" % quoted_path(path))
    for item in work.writes:
        data = _content(work.root, item)
        stream.write(b"M %s inline %s\ndata %d\n%s\n" % (git_mode(item), quoted_path(item.path), len(data), data))
    stream.write(b"done\n")


def _content(root: str, item: Found) -> bytes:
    if item.kind == "link":
        return item.target
    try:
        with opened(root, item.path) as file:
            return read_capped(file, MAX_FILE)
    except OSError as error:
        where = item.path.decode("utf-8", "replace")
        raise GateError(f"a file cannot be read: {error.strerror}", where=where) from error


def quoted_path(path: bytes) -> bytes:
    """A path as fast-import reads it, every unusual byte escaped."""
    return b'"' + b"".join(b"\\%03o" % c if c < 32 or c in b'"\\' or c > 126 else bytes([c]) for c in path) + b'"'
