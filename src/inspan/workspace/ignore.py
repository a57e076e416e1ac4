"""The base's ignore rules, and only those. What an agent wrote into a ``.gitignore`` hides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from inspan.errors import GateError
from inspan.spec.paths import State
from inspan.workspace.gate_repository import ensure_gate
from inspan.workspace.git import TrustedGit
from inspan.workspace.layers import write_entry
from inspan.workspace.layout import arriving, locked
from inspan.workspace.objects import Objects
from inspan.workspace.repository import Repository

_NAME = b".gitignore\0"


def ensure_rules(state: State, repo: Repository, base: str) -> Path:
    """A directory that holds the base's ``.gitignore`` files and nothing else; made when missing.

    git is asked there and never in the workspace, where a link turned into a directory makes it give up.
    """
    home = state.repo(repo.key) / "ignore" / base
    if home.exists():
        return home
    git = TrustedGit(ensure_gate(state, repo), repo.object_format)
    listed = git.run("ls-tree", "-r", "-z", base)
    with locked(state, repo):
        if home.exists():
            return home
        with arriving(home) as scratch, Objects(git) as objects:
            for mode, oid, path in _rules(listed):
                write_entry(scratch, path, mode, objects.blob(oid.decode()) or b"")
    return home


def _rules(listed: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Mode, id and path of every ``.gitignore`` in a listing, which is not taken apart for the few."""
    at = listed.find(_NAME)
    while at >= 0:
        head, path = listed[listed.rfind(b"\0", 0, at) + 1 : at + len(_NAME) - 1].split(b"\t", 1)
        mode, _kind, oid = head.split(b" ")
        if path.rsplit(b"/", 1)[-1] == _NAME[:-1] and mode.startswith(b"100"):
            yield mode, oid, path
        at = listed.find(_NAME, at + 1)


def ignored_among(state: State, repo: Repository, base: str, paths: Sequence[bytes]) -> set[bytes]:
    """Those of ``paths`` that the base's rules ignore; whether they are tracked is not asked.

    Caches of compiled Python are ignored whatever the rules say: an interpreter would run them in place of the source
    that a person reads.

    Raises:
        GateError: git gave no answer.
    """
    if not paths:
        return set()
    rules = ensure_rules(state, repo, base)
    git = TrustedGit(ensure_gate(state, repo), repo.object_format, work_tree=rules)
    del git.env[
        "GIT_LITERAL_PATHSPECS"
    ]  # check-ignore takes no literal ones; "./" keeps a leading ":" from meaning more
    done = git.call(
        "check-ignore", "-z", "--stdin", "--no-index", input=b"".join(b"./" + path + b"\0" for path in paths)
    )
    if done.returncode > 1:
        raise GateError(f"git check-ignore failed: {done.stderr.decode('utf-8', 'replace')[-300:]}", where=str(rules))
    compiled = {path for path in paths if b"__pycache__" in path.split(b"/")}
    return compiled | {path[2:] for path in done.stdout.split(b"\0")[:-1]}
