"""The checkout's uncommitted state as a commit of the gate's own (``--dirty``): raw bytes, hashed here.

No filter of the user's configuration runs: a file that a filter would rewrite at commit goes in as it stands on disk.
"""

from __future__ import annotations

import fnmatch
import os
import stat
import uuid

import msgspec

from inspan.spec.paths import State
from inspan.workspace.changes import MAX_FILE, Work
from inspan.workspace.commit import commit_work
from inspan.workspace.gate_repository import ensure_gate, keep_base
from inspan.workspace.git import TrustedGit
from inspan.workspace.repository import Repository
from inspan.workspace.scan import Found
from inspan.workspace.status import changed_paths, ignored_paths

_SECRET_NAMES = (
    ".env", ".env.*", "*.env", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "credentials*", "*credentials.json", "secrets.*", "*.secret",
    "service-account*.json", "service_account*.json", ".npmrc", ".pypirc", ".netrc", "_netrc", ".git-credentials",
    ".htpasswd", ".pgpass", ".my.cnf", "*.tfstate", "*.tfvars", "kubeconfig", "*.kubeconfig", "auth.json",
    "*.token",
)  # fmt: skip
_SECRET_DIRECTORIES = (".ssh", ".aws", ".gnupg", ".kube", ".docker", "secrets", ".secrets")


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A commit on top of HEAD.

    Attributes:
        commit: its id, that of HEAD when nothing differs.
        left_out: (path, why) of every changed or untracked path that is not in it.
        taken: changed and untracked paths that are in it.
        ignored: what ignore rules name and is therefore not in it; a whole directory ends in ``/``.
    """

    commit: str
    left_out: tuple[tuple[str, str], ...]
    taken: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def looks_secret(path: str) -> bool:
    """Whether an untracked file's name says that it may hold a secret."""
    *above, name = path.casefold().split("/")
    return any(fnmatch.fnmatchcase(name, shape) for shape in _SECRET_NAMES) or any(
        part in _SECRET_DIRECTORIES for part in above
    )


def take(state: State, repo: Repository) -> Snapshot:
    """Commit the checkout's uncommitted state, tracked and untracked, into the gate's repository only.

    Ignored files are never in it, nor untracked ones that look secret, are no regular files, or exceed 32 MiB. The
    commit is HEAD itself when nothing differs.

    Raises:
        RepositoryError, WorkspaceError, StateError: the checkout cannot be read or the state not written.
    """
    git = TrustedGit(ensure_gate(state, repo), repo.object_format)
    tracked, untracked = changed_paths(repo)
    work = Work(repo.toplevel)
    left_out = []
    for path in tracked:
        item = _looked_at(repo.toplevel, path)
        if item is None:
            work.deletes.append(path)
        elif item.kind in ("file", "link"):
            work.writes.append(item)
        else:
            left_out.append(
                (os.fsdecode(path), "is no file: a submodule at another commit, or replaced by something else")
            )
    for path in untracked:
        why = _unfit(repo.toplevel, path)
        if why is not None:
            left_out.append((os.fsdecode(path), why))
            continue
        item = _looked_at(repo.toplevel, path)
        if item is not None:
            work.writes.append(item)
    scratch = f"refs/inspan/snapshot/{uuid.uuid4().hex}"
    commit = commit_work(state, repo, git, repo.head, scratch, work)
    keep_base(state, repo, commit)
    git.run("update-ref", "-d", scratch)
    return Snapshot(
        commit=commit,
        left_out=tuple(left_out),
        taken=tuple(sorted(os.fsdecode(path) for path in (*work.deletes, *(item.path for item in work.writes)))),
        ignored=tuple(os.fsdecode(path) for path in ignored_paths(repo)),
    )


def _looked_at(root: str, path: bytes) -> Found | None:
    """What stands at a path of the checkout, None for nothing."""
    full = os.path.join(os.fsencode(root), path)
    try:
        st = os.lstat(full)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(st.st_mode):
        return Found(path, "link", st.st_mode, st.st_size, os.readlink(full))
    if stat.S_ISREG(st.st_mode):
        return Found(path, "file", st.st_mode, st.st_size)
    return Found(path, "directory" if stat.S_ISDIR(st.st_mode) else "special", st.st_mode)


def _unfit(root: str, path: bytes) -> str | None:
    """Why an untracked path is left out, None when it is not."""
    if path.endswith(b"/"):
        return "is a repository of its own"
    if looks_secret(os.fsdecode(path)):
        return "looks like a secret"
    item = _looked_at(root, path)
    if item is not None and item.kind not in ("file", "link"):
        return "is no regular file"
    return "is larger than 32 MiB" if item is not None and item.size > MAX_FILE else None
