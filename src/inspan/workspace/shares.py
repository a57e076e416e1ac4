"""Which directories of the user's checkout may be shown in a workspace.

A shared directory lies over the workspace, under agent and checks alike. It must therefore hold nothing that is part of
any commit: checks would otherwise test the checkout's files and vouch for a result that does not contain them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from inspan.errors import InvalidSpec
from inspan.spec.paths import State
from inspan.workspace.git import TrustedGit
from inspan.workspace.layout import gate_dir
from inspan.workspace.repository import Repository
from inspan.workspace.status import reading


def refuse_unfit_shares(state: State, repo: Repository, base: str, shares: Sequence[str]) -> None:
    """Refuse a share that is no git-ignored directory of the checkout. Makes nothing.

    Args:
        state: the state directory; a base that the gate made is only there.
        base: the commit the job starts from.
        shares: paths relative to the checkout's root.

    Raises:
        InvalidSpec: a share is not there, leaves the checkout, holds files that are tracked (in the base or in the
            checkout's index), or holds files that nothing ignores.
    """
    for share in shares:
        share_directory(repo, share)
    if not shares:
        return
    with reading(repo) as git:
        for share in shares:
            if git.run("ls-files", "-z", "--", share) or _in_base(state, repo, git, base, share):
                raise _unfit(repo, share, "holds tracked files: checks would test them instead of the result's")
            if git.run("ls-files", "-z", "--others", "--exclude-standard", "--", share):
                raise _unfit(repo, share, "holds files that git does not ignore")


def share_directory(repo: Repository, path: str) -> str:
    """A share's clean path: a directory of the checkout that no link leads out of.

    Raises:
        InvalidSpec: it is something else.
    """
    clean = path.strip("/")
    real = os.path.realpath(os.path.join(repo.toplevel, clean))
    parts = clean.split("/")
    if os.path.isabs(path) or not clean or any(part in ("", ".", "..", ".git") for part in parts):
        raise InvalidSpec(f"{path!r} cannot be shared", where="share", do="name a directory relative to the checkout")
    if not os.path.isdir(real) or not real.startswith(repo.toplevel.rstrip("/") + "/"):
        raise InvalidSpec(
            f"{path!r} is no directory of the checkout", where=repo.toplevel, do="create it or leave it out"
        )
    return clean


def _in_base(state: State, repo: Repository, git: TrustedGit, base: str, share: str) -> bool:
    if git.call("cat-file", "-e", f"{base}^{{tree}}").returncode:
        git = TrustedGit(gate_dir(state, repo), repo.object_format)  # a snapshot or an earlier result
    return bool(git.run("ls-tree", "-z", base, "--", share))


def _unfit(repo: Repository, share: str, why: str) -> InvalidSpec:
    return InvalidSpec(
        f"the shared directory {share!r} {why}",
        where=repo.toplevel,
        do="share git-ignored dependency directories only, like node_modules or .venv",
    )
