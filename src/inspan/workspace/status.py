"""What the user's checkout holds beyond its HEAD, asked through a throw-away repository of ours.

The user's git directory lends its index and its objects; its configuration, filters and hooks are never in force.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inspan.errors import RepositoryError
from inspan.workspace.git import TrustedGit
from inspan.workspace.repository import Repository
from inspan.workspace.stores import object_stores
from inspan.workspace.template import write_skeleton


@contextmanager
def reading(repo: Repository) -> Iterator[TrustedGit]:
    """git over the user's work tree and a copy of its index.

    Raises:
        RepositoryError: the index cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="inspan-") as scratch:
        git_dir = Path(scratch) / "git"
        write_skeleton(git_dir, repo, bare=False, head=repo.head, alternates=object_stores(repo))
        (git_dir / "info/attributes").unlink()
        (git_dir / "info/exclude").write_bytes(_excludes(repo))
        try:
            for entry in os.scandir(repo.git_dir):
                if entry.name == "index" or entry.name.startswith("sharedindex."):
                    _copy_index(entry.path, git_dir / entry.name)
        except OSError as refused:
            raise RepositoryError(
                "the checkout's index cannot be read", where=repo.git_dir, do="run as a user who may read it"
            ) from refused
        yield TrustedGit(git_dir, repo.object_format, work_tree=repo.toplevel)


def _copy_index(source: str, target: Path) -> None:
    """Copy with the time of the original: a file that changed in the same moment is one whose content git compares."""
    before = os.stat(source)
    shutil.copyfile(source, target)
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))


def _excludes(repo: Repository) -> bytes:
    """The user's own ignore rules: the repository's ``info/exclude`` and the personal file at its usual place."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    found = b""
    for path in (os.path.join(home, "git/ignore"), os.path.join(repo.common_dir, "info/exclude")):
        try:
            found += Path(path).read_bytes() + b"\n"
        except OSError:
            continue
    return found


def changed_paths(repo: Repository) -> tuple[list[bytes], list[bytes]]:
    """(changed tracked paths, untracked paths that nothing ignores), sorted. A nested repository ends in ``/``."""
    options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
    with reading(repo) as git:
        out = git.run("status", *options)
    tracked: list[bytes] = []
    untracked: list[bytes] = []
    for line in out.split(b"\0")[:-1]:
        (untracked if line.startswith(b"??") else tracked).append(line[3:])
    return sorted(tracked), sorted(untracked)


def ignored_paths(repo: Repository) -> list[bytes]:
    """Paths that are there and ignored, sorted; a directory that is ignored as a whole ends in ``/``."""
    options = ("--porcelain=v1", "-z", "--untracked-files=normal", "--ignored=matching", "--ignore-submodules=all")
    with reading(repo) as git:
        out = git.run("status", "--no-renames", *options)
    return sorted(line[3:] for line in out.split(b"\0")[:-1] if line.startswith(b"!!"))
