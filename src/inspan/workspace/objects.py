"""Reading git objects one after another through one process, by id, so that no path is ever spelled to git."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from types import TracebackType
from typing import NamedTuple

from inspan.errors import WorkspaceError
from inspan.workspace.git import TrustedGit


class TreeEntry(NamedTuple):
    """One entry of a tree: octal mode without leading zeros (``40000``, ``100644``, ``120000``, ``160000``) and id."""

    mode: bytes
    oid: str

    @property
    def is_tree(self) -> bool:
        return self.mode == b"40000"

    @property
    def is_gitlink(self) -> bool:
        return self.mode == b"160000"


class Objects:
    """A context manager over ``git cat-file --batch``. Trees are remembered, contents are not."""

    def __init__(self, git: TrustedGit) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None
        self._trees: dict[str, dict[bytes, TreeEntry]] = {}
        self._roots: dict[str, str] = {}

    def __enter__(self) -> Objects:
        self._process = subprocess.Popen(
            self._git.command("cat-file", "--batch"),
            env=self._git.env,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.stdin:
                process.stdin.close()
            if process.stdout:
                process.stdout.close()
            process.wait()

    def _ask(self, name: str) -> tuple[str, str, bytes] | None:
        """(id, type, content) of an object; None when the store does not have it."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise WorkspaceError("object reader used outside its context", where=self._git.git_dir)
        process.stdin.write(name.encode() + b"\n")
        process.stdin.flush()
        head = process.stdout.readline().split()
        if len(head) != 3:
            if head and head[-1] == b"missing":
                return None
            raise WorkspaceError("git cat-file ended early", where=self._git.git_dir)
        size = int(head[2])
        content = process.stdout.read(size)
        if len(content) != size or process.stdout.read(1) != b"\n":
            raise WorkspaceError("git cat-file ended early", where=self._git.git_dir)
        return head[0].decode(), head[1].decode(), content

    def blob(self, oid: str) -> bytes | None:
        """Content of a blob, None when it is missing."""
        found = self._ask(oid)
        return found[2] if found is not None and found[1] == "blob" else None

    def root(self, commit: str) -> str:
        """Tree id of a commit.

        Raises:
            WorkspaceError: the store does not have it.
        """
        if commit not in self._roots:
            found = self._ask(commit + "^{tree}")
            if found is None:
                raise WorkspaceError(
                    f"commit {commit} is no longer in the object store",
                    where=self._git.git_dir,
                    do="was it pruned from the repository? start the job again from a commit that exists",
                )
            self._roots[commit] = found[0]
            self._trees[found[0]] = parse_tree(found[2], len(found[0]) // 2)
        return self._roots[commit]

    def tree(self, oid: str) -> dict[bytes, TreeEntry]:
        """Entries of a tree by name."""
        if oid not in self._trees:
            found = self._ask(oid)
            if found is None or found[1] != "tree":
                raise WorkspaceError(f"tree {oid} is missing", where=self._git.git_dir)
            self._trees[oid] = parse_tree(found[2], len(found[0]) // 2)
        return self._trees[oid]

    def entry(self, commit: str, path: bytes) -> TreeEntry | None:
        """The entry at ``path`` of a commit's tree, None when there is none. A path below a gitlink has none."""
        here = TreeEntry(b"40000", self.root(commit))
        for part in path.split(b"/"):
            if not here.is_tree:
                return None
            found = self.tree(here.oid).get(part)
            if found is None:
                return None
            here = found
        return here

    def leaves(self, commit: str, path: bytes) -> Iterator[bytes]:
        """Paths of everything but directories at and below ``path``; none when nothing is there."""
        found = self.entry(commit, path)
        if found is None:
            return
        if not found.is_tree:
            yield path
            return
        for name in self.tree(found.oid):
            yield from self.leaves(commit, path + b"/" + name)

    def names(self, commit: str, directory: bytes) -> dict[bytes, TreeEntry]:
        """Entries of a directory (``b""`` is the root) of a commit; empty when it is no directory there."""
        if not directory:
            return self.tree(self.root(commit))
        found = self.entry(commit, directory)
        return self.tree(found.oid) if found is not None and found.is_tree else {}


def parse_tree(content: bytes, width: int) -> dict[bytes, TreeEntry]:
    """Entries of a raw tree object whose ids are ``width`` bytes."""
    entries: dict[bytes, TreeEntry] = {}
    at = 0
    while at < len(content):
        space = content.index(b" ", at)
        end = content.index(b"\0", space)
        entries[content[space + 1 : end]] = TreeEntry(content[at:space], content[end + 1 : end + 1 + width].hex())
        at = end + 1 + width
    return entries
