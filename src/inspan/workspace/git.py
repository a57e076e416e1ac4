"""git as only the trusted side runs it: explicit repository, closed environment, nothing configured by others.

Ownership checks do not apply because the repository is always named explicitly; hooks, filters, external diffs,
replacement objects, grafts, pagers and every transport are off. Nothing here is ever pointed at a directory an agent
could write.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO, Literal

from inspan.errors import StateError, UsageError, WorkspaceError

ObjectFormat = Literal["sha1", "sha256"]

EMPTY_TREE: dict[ObjectFormat, str] = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}

OVERRIDES: tuple[tuple[str, str], ...] = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.protectHFS", "true"),
    ("core.protectNTFS", "true"),
    ("core.useReplaceRefs", "false"),
    ("core.commitGraph", "false"),
    ("core.pager", "cat"),
    ("core.untrackedCache", "keep"),
    ("core.quotePath", "true"),
    ("core.bigFileThreshold", "64m"),
    ("core.autocrlf", "false"),
    ("core.fileMode", "true"),
    ("core.symlinks", "true"),
    ("protocol.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("diff.external", ""),
    ("diff.ignoreSubmodules", "none"),
    ("diff.renames", "false"),
    ("submodule.recurse", "false"),
    ("safe.bareRepository", "explicit"),
    ("transfer.fsckObjects", "true"),
    ("log.showSignature", "false"),
    ("advice.graftFileDeprecated", "false"),
)


def program() -> str:
    """Absolute path of git.

    Raises:
        UsageError: git is not installed.
    """
    found = shutil.which("git")
    if found is None:
        raise UsageError("git is not installed", where="PATH", do="install git 2.31 or newer")
    return found


def environment(git_dir: str, object_format: ObjectFormat) -> dict[str, str]:
    """The whole environment of a trusted git; nothing of the caller's is passed on."""
    return {
        "PATH": f"{os.path.dirname(program())}:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "XDG_CONFIG_HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GIT_DIR": git_dir,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ATTR_SOURCE": EMPTY_TREE[object_format],
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": "/dev/null",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "false",
        "GIT_ASKPASS": "false",
    }


class TrustedGit:
    """git on one repository, hardened.

    Args:
        git_dir: the repository, absolute; one of ours, or the user's for reading only.
        object_format: its hash function.
        work_tree: work tree for the few commands that need one.
        index: index file to use instead of the repository's own.
        objects: object directory to use instead of the repository's own (its alternates are followed).
        user: (uid, gid) to run as instead of one's own; only root can.
    """

    def __init__(
        self,
        git_dir: str | os.PathLike[str],
        object_format: ObjectFormat = "sha1",
        *,
        work_tree: str | os.PathLike[str] | None = None,
        index: str | os.PathLike[str] | None = None,
        objects: str | os.PathLike[str] | None = None,
        user: tuple[int, int] | None = None,
    ) -> None:
        self.git_dir, self.object_format = os.fspath(git_dir), object_format
        self.env = environment(self.git_dir, object_format)
        self.cwd = "/"
        self.user = user
        if work_tree is not None:
            self.env["GIT_WORK_TREE"] = self.cwd = os.fspath(work_tree)
        if index is not None:
            self.env["GIT_INDEX_FILE"] = os.fspath(index)
        if objects is not None:
            self.env["GIT_OBJECT_DIRECTORY"] = os.fspath(objects)

    def command(self, *args: str, config: Mapping[str, str] | None = None) -> list[str]:
        """The full argument vector of ``git ARGS`` with every override in place; ``config`` comes last and wins."""
        line = [program()]
        for key, value in (*OVERRIDES, *(config or {}).items()):
            line += ["-c", f"{key}={value}"]
        return [*line, *args]

    def call(
        self, *args: str, input: bytes | IO[bytes] | None = None, config: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run to the end and hand back status, output and error output; never raises for a status."""
        feed: dict[str, object]
        if input is None:
            feed = {"stdin": subprocess.DEVNULL}
        elif isinstance(input, bytes):
            feed = {"input": input}
        else:
            feed = {"stdin": input}
        if self.user is not None:
            feed |= {"user": self.user[0], "group": self.user[1], "extra_groups": []}
        try:
            return subprocess.run(  # type: ignore[call-overload,no-any-return]
                self.command(*args, config=config),
                env=self.env,
                cwd=self.cwd,
                capture_output=True,
                umask=0o022,
                timeout=1800,
                check=False,
                **feed,
            )
        except subprocess.TimeoutExpired as late:
            raise WorkspaceError(f"git {args[0]} did not end within half an hour", where=self.git_dir) from late

    def run(self, *args: str, input: bytes | IO[bytes] | None = None, config: Mapping[str, str] | None = None) -> bytes:
        """Standard output of ``git ARGS``.

        Raises:
            StateError: (``disk_full``) the disk is full.
            WorkspaceError: any other status than 0, with git's own words.
        """
        done = self.call(*args, input=input, config=config)
        if done.returncode:
            raise failure(self.git_dir, args, done.returncode, done.stderr)
        return done.stdout

    def line(self, *args: str) -> str:
        """Standard output of ``git ARGS`` as text without surrounding white space."""
        return os.fsdecode(self.run(*args).strip())


def failure(git_dir: str, args: Sequence[str], status: int, stderr: bytes) -> StateError | WorkspaceError:
    """The error for a git command that ended with ``status``."""
    words = stderr.decode("utf-8", "replace").strip()[-600:] or f"exit status {status}"
    if "No space left on device" in words or "Disk quota exceeded" in words:
        return StateError("the disk is full", where=git_dir, do="free some space and retry", reason="disk_full")
    return WorkspaceError(f"git {args[0]} failed: {words}", where=git_dir)
