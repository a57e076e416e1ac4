"""What must not change in the user's checkout while a job runs, as digests.

Compared are: every tracked file (content, executable bit, kind), the index by its entries, HEAD, every ref but Inspan's
own ``refs/heads/inspan/``, the repository's configuration and its hooks. Times, untracked and ignored files are not.
"""

from __future__ import annotations

import hashlib
import os
import stat
from functools import lru_cache

from inspan.files import open_regular
from inspan.workspace.git import TrustedGit
from inspan.workspace.repository import Repository
from inspan.workspace.status import reading

_OWN_REFS = b"refs/heads/inspan/"


def fingerprint(repo: Repository) -> dict[str, str]:
    """Name -> digest. Names are ``file:PATH``, ``ref:NAME``, ``HEAD``, ``index``, ``config`` and ``hook:NAME``.

    Content is read once per state of a file: a second call hashes only files whose size, times or inode differ.
    """
    found: dict[str, str] = {}
    with reading(repo) as git:
        stages = git.run("ls-files", "-s", "-z")
    found["index"] = hashlib.sha256(stages).hexdigest()
    for line in stages.split(b"\0")[:-1]:
        path = os.fsdecode(line.split(b"\t", 1)[1])
        found[f"file:{path}"] = _file(os.path.join(repo.toplevel, path))
    user = TrustedGit(repo.git_dir, repo.object_format)
    for line in user.run("for-each-ref", "--format=%(refname) %(objectname) %(symref)").splitlines():
        if not line.startswith(_OWN_REFS):
            name, rest = line.split(b" ", 1)
            found[f"ref:{os.fsdecode(name)}"] = os.fsdecode(rest.strip())
    found["HEAD"] = _file(os.path.join(repo.git_dir, "HEAD"))
    found["config"] = _file(os.path.join(repo.common_dir, "config"))
    hooks = os.path.join(repo.common_dir, "hooks")
    for hook in sorted(os.listdir(hooks)) if os.path.isdir(hooks) else ():
        found[f"hook:{hook}"] = _file(os.path.join(hooks, hook))
    return found


def differences(before: dict[str, str], after: dict[str, str]) -> tuple[str, ...]:
    """Names whose digest differs, appeared or vanished, sorted."""
    return tuple(sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)))


def _file(path: str) -> str:
    try:
        st = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return "absent"
    if stat.S_ISLNK(st.st_mode):
        return f"link {os.readlink(path)}"
    if not stat.S_ISREG(st.st_mode):
        return f"kind {stat.S_IFMT(st.st_mode):o}"
    executable = "x" if st.st_mode & 0o100 else "-"
    return f"{executable} {_content(path, st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns)}"


@lru_cache(maxsize=1 << 18)
def _content(path: str, _device: int, _inode: int, _size: int, _mtime: int, _ctime: int) -> str:
    with open_regular(path) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
