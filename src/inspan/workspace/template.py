"""The private ``.git`` of a workspace: enough for an agent's own commits, nothing of the user's configuration.

Its objects are borrowed read-only. Its attributes switch every conversion off, so that what the agent's git shows is
what the gate hashes: raw bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from inspan.workspace.repository import Repository
from inspan.workspace.stores import quoted

RAW = b"* -text -eol -crlf -ident -filter -working-tree-encoding\n"
"""Attributes of every trusted checkout; ``info/attributes`` wins over the repository's own files."""

_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tfilemode = true
\tbare = {bare}
\tsymlinks = true
\tlogallrefupdates = {log}
[gc]
\tauto = 0
"""
_IDENTITY = "[user]\n\tname = agent\n\temail = agent@inspan.invalid\n"
_SHA256 = "[extensions]\n\tobjectformat = sha256\n"


def config(repo: Repository, *, bare: bool) -> str:
    """The configuration file of a repository of ours."""
    sha256 = repo.object_format == "sha256"
    text = _CONFIG.format(version=int(sha256), bare=str(bare).lower(), log=str(not bare).lower())
    return text + (_SHA256 if sha256 else "") + ("" if bare else _IDENTITY)


def write_skeleton(git_dir: Path, repo: Repository, *, bare: bool, head: str, alternates: Iterable[str]) -> None:
    """Make the directories and files every repository needs; ``git_dir`` must not exist."""
    for name in ("objects/info", "objects/pack", "refs/heads", "info"):
        (git_dir / name).mkdir(parents=True)
    (git_dir / "config").write_text(config(repo, bare=bare))
    (git_dir / "HEAD").write_text(head + "\n")
    (git_dir / "objects/info/alternates").write_bytes(alternates_file(alternates))
    (git_dir / "info/attributes").write_bytes(RAW)
    (git_dir / "info/exclude").write_bytes(b"")
    shallow = shallow_file(repo)
    if shallow is not None:
        (git_dir / "shallow").write_bytes(shallow)


def alternates_file(stores: Iterable[str]) -> bytes:
    """Content of ``objects/info/alternates``."""
    return b"".join(quoted(store) + b"\n" for store in stores)


def shallow_file(repo: Repository) -> bytes | None:
    """The user's ``shallow`` file, None for a complete repository."""
    try:
        return Path(repo.common_dir, "shallow").read_bytes()
    except FileNotFoundError:
        return None


def write_branch(git_dir: Path, repo: Repository, base: str, attempt: str) -> None:
    """Put the workspace on its own branch; constant cost whatever the repository's size."""
    own = f"agent/{attempt}"
    (git_dir / "refs/heads/agent").mkdir(parents=True, exist_ok=True)
    (git_dir / "refs/heads" / own).write_text(base + "\n")
    (git_dir / "HEAD").write_text(f"ref: refs/heads/{own}\n")
    branch = repo.branch
    if branch is not None and ".." not in branch and branch.split("/", 1)[0] != "agent":
        ref = git_dir / "refs/heads" / branch
        ref.parent.mkdir(parents=True, exist_ok=True)
        ref.write_text(base + "\n")


def exclude_lines(shares: Sequence[str]) -> bytes:
    """``info/exclude`` that keeps shared directories out of the agent's own status."""
    return b"".join(b"/" + os.fsencode(_escaped(share)) + b"\n" for share in shares)


def _escaped(path: str) -> str:
    return "".join("\\" + c if c in "\\*?[ " else c for c in path.strip("/"))
