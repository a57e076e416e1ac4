"""The user's repository: found, opened for reading, and asked what is not committed."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat

import msgspec

from inspan.errors import RepositoryError, WorkspaceError
from inspan.workspace.git import ObjectFormat, TrustedGit


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """One checkout of a repository. All paths are absolute and free of symbolic links.

    Attributes:
        toplevel: the checkout's top directory.
        git_dir: its git directory; a linked worktree has one of its own.
        common_dir: where objects and refs are.
        object_format: hash function of the object store.
        key: name of the repository in the state directory; the same for all worktrees of one repository.
        head: the commit checked out.
        branch: short name of the branch checked out, None when detached.
    """

    toplevel: str
    git_dir: str
    common_dir: str
    object_format: ObjectFormat
    key: str
    head: str
    branch: str | None


class Uncommitted(msgspec.Struct, frozen=True, kw_only=True):
    """What a checkout holds beyond its HEAD: changed tracked paths, and untracked ones that nothing ignores; sorted."""

    tracked: tuple[str, ...]
    untracked: tuple[str, ...]


def _looks_bare(directory: str) -> bool:
    return (
        os.path.isfile(os.path.join(directory, "HEAD"))
        and os.path.isdir(os.path.join(directory, "objects"))
        and os.path.isdir(os.path.join(directory, "refs"))
    )


def _git_dir(marker: str) -> str:
    """The git directory a ``.git`` entry stands for; a file names it in its first line."""
    if os.path.isdir(marker):
        return os.path.realpath(marker)
    if not os.path.isfile(marker):
        raise RepositoryError("the .git entry is no file", where=marker, do="repair the checkout")
    with open(marker, "rb") as file:
        first = file.read(65536).split(b"\n", 1)[0].rstrip(b"\r")
    if not first.startswith(b"gitdir: "):
        raise RepositoryError("the .git file does not name a git directory", where=marker, do="repair the checkout")
    return os.path.realpath(os.path.join(os.path.dirname(marker), os.fsdecode(first[8:])))


def _discover(path: str) -> tuple[str, str]:
    """(toplevel, git directory) of the checkout ``path`` is in."""
    place = path
    while True:
        if not os.access(place, os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), place)
        marker = os.path.join(place, ".git")
        if os.path.lexists(marker) and (not os.path.isdir(marker) or _looks_bare(marker)):
            return place, _git_dir(marker)
        if _looks_bare(place) and os.path.basename(place) != ".git":
            raise RepositoryError(
                "this is a bare repository", where=place, do="name a checkout of it (git worktree add makes one)"
            )
        parent = os.path.dirname(place)
        if parent == place:
            raise RepositoryError(
                "not inside a git repository", where=path, do="name a directory of a checkout with --repo"
            )
        place = parent


def _common_dir(git_dir: str) -> str:
    pointer = os.path.join(git_dir, "commondir")
    if not os.path.isfile(pointer):
        return git_dir
    with open(pointer, "rb") as file:
        named = os.fsdecode(file.read(65536).strip())
    return os.path.realpath(os.path.join(git_dir, named))


def _key(toplevel: str, common_dir: str, object_format: str) -> str:
    home = os.path.dirname(common_dir) if os.path.basename(common_dir) == ".git" else toplevel
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", os.path.basename(home)).strip("-")[:32] or "repository"
    return f"{slug}-{hashlib.sha256(os.fsencode(common_dir) + object_format.encode()).hexdigest()[:16]}"


def _mode(path: str) -> int:
    """``st_mode``, 0 when nothing is there."""
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def open_repository(path: str) -> Repository:
    """Open the checkout that ``path`` (any directory inside it) belongs to. Nothing is written.

    A repository that another user owns is opened too: it is only read, and nothing it configures is run.

    Raises:
        RepositoryError: no such directory, no permission, not a git repository, a bare one, or one without commits.
    """
    start = os.path.realpath(path)
    try:
        if not stat.S_ISDIR(_mode(start)):
            raise RepositoryError("no such directory", where=path, do="name a directory of a git checkout with --repo")
        toplevel, git_dir = _discover(start)
        common_dir = _common_dir(git_dir)
        os.listdir(common_dir)
        os.listdir(toplevel)
        return _opened(toplevel, git_dir, common_dir)
    except PermissionError as refused:
        raise RepositoryError(
            "no permission to read the repository", where=refused.filename or start, do="run as a user who may read it"
        ) from refused
    except FileNotFoundError as gone:
        raise RepositoryError(
            "the checkout's git directory does not exist", where=str(gone.filename), do="git worktree repair"
        ) from gone


_READ = [
    "HEAD",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "index",
    "packed-refs",
    "shallow",
    "info/exclude",
    "info/sparse-checkout",
    "info/grafts",
    "objects/info/alternates",
]
"""What git and we read of a git directory before anything else; a pipe among them would be waited for without end."""


def _refuse_special(*directories: str) -> None:
    for directory in directories:
        for name in _READ:
            mode = _mode(os.path.join(directory, name))
            if mode and not stat.S_ISREG(mode):
                raise RepositoryError(
                    "the git directory holds something that is no file", where=f"{directory}/{name}", do="remove it"
                )


def _opened(toplevel: str, git_dir: str, common_dir: str) -> Repository:
    _refuse_special(git_dir, common_dir)
    git = TrustedGit(git_dir)
    asked = ("rev-parse", "--is-bare-repository", "--show-object-format")
    done = git.call(*asked, "HEAD^{commit}")  # in one go: every command asks it
    try:
        said = (done.stdout if done.returncode == 0 else git.run(*asked)).split(b"\n")
    except WorkspaceError as broken:
        raise RepositoryError(
            f"git cannot read the repository: {broken.what}", where=git_dir, do="check it with git fsck"
        ) from broken
    if git_dir == common_dir and said[0] == b"true":
        raise RepositoryError("this is a bare repository", where=git_dir, do="name one of its worktrees")
    if done.returncode:
        raise RepositoryError("the repository has no commits yet", where=toplevel, do="make a first commit")
    branch = git.call("symbolic-ref", "--quiet", "--short", "HEAD")
    object_format: ObjectFormat = "sha256" if said[1] == b"sha256" else "sha1"
    return Repository(
        toplevel=toplevel,
        git_dir=git_dir,
        common_dir=common_dir,
        object_format=object_format,
        key=_key(toplevel, common_dir, object_format),
        head=said[2].decode(),
        branch=os.fsdecode(branch.stdout.strip()) if branch.returncode == 0 else None,
    )


def resolve_base(repo: Repository, rev: str | None) -> str:
    """Full id of the commit ``rev`` names in the user's repository; its HEAD for None.

    Raises:
        RepositoryError: no such commit.
    """
    if rev is None:
        return repo.head
    done = TrustedGit(repo.git_dir, repo.object_format).call(
        "rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}"
    )
    if done.returncode or not rev or "\0" in rev:
        raise RepositoryError(
            f"no commit is called {rev!r}", where=repo.toplevel, do="name a branch, tag or commit id with --base"
        )
    return done.stdout.decode().strip()


def uncommitted(repo: Repository) -> Uncommitted:
    """What the checkout holds beyond its HEAD. Nothing is written, no filter or hook of the repository runs.

    Raises:
        RepositoryError, WorkspaceError: the index or the work tree cannot be read.
    """
    from inspan.workspace.status import changed_paths  # it reads repositories, this module describes them

    tracked, untracked = changed_paths(repo)
    return Uncommitted(tracked=tuple(map(os.fsdecode, tracked)), untracked=tuple(map(os.fsdecode, untracked)))
