"""From a scanned workspace to the work of the commit: what to write, what to delete, what is not allowed.

Two readers give the same answer: an overlay's upper layer, which holds only what was touched, and a complete private
copy, where every file is hashed and compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from inspan.errors import GateError
from inspan.outcome.records import Violation
from inspan.spec.paths import State
from inspan.workspace.compare import blob_id, git_mode, hides, holds, same_as, sha256_of
from inspan.workspace.git import TrustedGit
from inspan.workspace.ignore import ignored_among
from inspan.workspace.layout import Meta, Owner, gate_dir, pristine_dir, pristine_name
from inspan.workspace.names import link_escapes, name_rule
from inspan.workspace.objects import Objects, TreeEntry
from inspan.workspace.plan import MountPlan
from inspan.workspace.repository import Repository
from inspan.workspace.scan import Found, scan
from inspan.workspace.setup import SetupLayer, gone_from

MAX_FILE = 32 << 20
"""Bytes of one changed file."""
MAX_TOTAL = 256 << 20
"""Bytes of all changed files together."""
MAX_FILES = 20_000
"""Changed files."""


@dataclass
class Work:
    """What the commit does to the base's tree: first ``deletes``, then ``writes``, both relative to ``root``."""

    root: str
    deletes: list[bytes] = field(default_factory=list)
    writes: list[Found] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    ignored: list[bytes] = field(default_factory=list)

    def refuse(self, path: bytes, rule: str, detail: str = "") -> None:
        """Record a violation, once per path and rule."""
        violation = Violation(path=os.fsdecode(path), rule=rule, detail=detail)
        if violation not in self.violations:
            self.violations.append(violation)


@dataclass(frozen=True)
class _Context:
    state: State
    repo: Repository
    base: str
    meta: Meta
    objects: Objects
    layers: tuple[str, ...]
    setup: str | None
    gone: frozenset[bytes] = frozenset()

    def entry(self, path: bytes) -> TreeEntry | None:
        return self.objects.entry(self.base, path)

    def submodule_of(self, path: bytes) -> bytes | None:
        for name in self.meta.submodules:
            raw = os.fsencode(name)
            if path == raw or path.startswith(raw + b"/"):
                return raw
        return None


def changed_work(
    state: State, repo: Repository, base: str, plan: MountPlan, meta: Meta, objects: Objects, setup: SetupLayer | None
) -> Work:
    """Read the workspace of ``plan``.

    Raises:
        GateError: too large, or not readable as what it must be.
    """
    names = (pristine_name(meta.base, Owner(uid=plan.uid, gid=plan.gid)), *meta.lowers)
    layers = tuple(os.fspath(pristine_dir(state, repo, name) / "tree") for name in names)
    context = _Context(state, repo, base, meta, objects, layers, setup.lower if setup else None, _gone(setup))
    root = plan.upper or plan.directory
    work = Work(root)
    found = scan(root, layer=plan.upper is not None)
    if plan.upper is None:
        if not os.path.isdir(os.path.join(root, ".git")) and not any(f.path == b".git" for f in found):
            work.refuse(b".git", "gitdir_replaced", "the workspace's .git is gone")
        found = _only_changed(context, root, found, work)
    else:
        found = _without_setup(context, root, found)
    _judge(context, found, work)
    if len(work.writes) + len(work.deletes) > MAX_FILES:
        raise GateError(f"more than {MAX_FILES} files changed", where=root, reason="change_too_large")
    if sum(item.size for item in work.writes) > MAX_TOTAL:
        raise GateError(f"more than {MAX_TOTAL >> 20} MiB changed", where=root, reason="change_too_large")
    return work


def _gone(setup: SetupLayer | None) -> frozenset[bytes]:
    return frozenset(map(os.fsencode, gone_from(setup))) if setup is not None else frozenset()


def _without_setup(context: _Context, root: str, found: list[Found]) -> list[Found]:
    """Drop what was only copied up from the set-up layer."""
    setup = context.setup
    if setup is None:
        return found
    return [item for item in found if item.kind not in ("file", "link") or not same_as(root, item, setup)]


def _only_changed(context: _Context, root: str, found: list[Found], work: Work) -> list[Found]:
    """Reduce a complete copy to what differs from what was put there, deletions included."""
    git = TrustedGit(gate_dir(context.state, context.repo), context.repo.object_format)
    base: dict[bytes, tuple[bytes, str]] = {}
    for line in git.run("ls-tree", "-r", "-z", context.base).split(b"\0")[:-1]:
        head, path = line.split(b"\t", 1)
        mode, _kind, oid = head.split(b" ")
        base[path] = (mode, oid.decode())
    seen: set[bytes] = set()
    kept: list[Found] = []
    for item in found:
        seen.add(item.path)
        if item.kind not in ("file", "link"):
            if item.kind != "directory" or not context.setup or not holds(context.setup, item.path):
                kept.append(item)
            continue
        if context.setup is not None and holds(context.setup, item.path):
            if not same_as(root, item, context.setup):
                kept.append(item)
            continue
        known = base.get(item.path)
        odd = item.kind == "file" and item.mode & 0o6000  # git keeps no such bits; they are accused all the same
        if known is None or odd or known[0] != git_mode(item) or not _same_blob(context, root, item, known[1]):
            kept.append(item)
    kept += [Found(path, "whiteout") for path in base if _is_gone(context, path, base[path][0], seen)]
    kept += [Found(path, "whiteout") for path in _gone_in_submodules(context, seen)]
    return kept


def _is_gone(context: _Context, path: bytes, mode: bytes, seen: set[bytes]) -> bool:
    if path in seen and mode != b"160000":
        return False  # present as something; a directory in its place is found as such
    if mode == b"160000":
        return path not in seen
    if any(path == lost or path.startswith(lost + b"/") for lost in context.gone):
        return False
    return context.setup is None or not (hides(context.setup, path) and not holds(context.setup, path))


def _gone_in_submodules(context: _Context, seen: set[bytes]) -> Iterable[bytes]:
    for name in context.meta.submodules:
        for layer in context.layers:
            top = os.path.join(layer, name)
            if os.path.isdir(top):
                for path in _files_below(top):
                    full = os.fsencode(os.path.join(name, path))
                    if full not in seen:
                        yield full
                break


def _files_below(top: str) -> list[str]:
    return [os.path.relpath(os.path.join(here, name), top) for here, _dirs, names in os.walk(top) for name in names]


def _same_blob(context: _Context, root: str, item: Found, oid: str) -> bool:
    if item.kind == "file" and item.size > MAX_FILE and _base_size(context, oid) != item.size:
        return False
    return blob_id(root, item, context.repo.object_format) == oid


def _base_size(context: _Context, oid: str) -> int:
    return int(
        TrustedGit(gate_dir(context.state, context.repo), context.repo.object_format).line("cat-file", "-s", oid)
    )


def _judge(context: _Context, found: list[Found], work: Work) -> None:
    """Sort every changed entry into deletes, writes, ignored and violations."""
    questioned = [f.path for f in found if f.kind not in ("directory", "opaque", "whiteout") and f.path != b".git"]
    candidates = ignored_among(context.state, context.repo, context.base, questioned)
    ignored = {path for path in candidates if context.entry(path) is None}
    hidden_only = _directories_of_ignored_only(found, ignored)
    work.ignored = _collapsed(found, ignored, context)
    for item in found:
        if item.path in ignored or item.path in hidden_only:
            continue
        if item.kind == "dotgit":
            work.refuse(item.path, "gitdir_replaced" if item.path == b".git" else "dotgit_name")
            continue
        submodule = context.submodule_of(item.path)
        if submodule is not None:
            _judge_submodule(context, item, submodule, work)
        elif item.kind in ("whiteout", "opaque"):
            _delete(context, item.path, work)
        elif item.kind == "directory":
            entry = context.entry(item.path)
            if entry is not None and not entry.is_tree:
                _delete(context, item.path, work)
        elif os.fsdecode(item.path) in context.meta.lfs:
            _judge_lfs(context, item, work)
        else:
            _judge_leaf(context, item, work)
        if item.kind != "whiteout":
            _judge_name(context, item, work)


def _judge_name(context: _Context, item: Found, work: Work) -> None:
    rule = name_rule(item.path.rsplit(b"/", 1)[-1])
    if rule is not None and context.entry(item.path) is None and context.submodule_of(item.path) is None:
        work.refuse(item.path, rule)


def _judge_leaf(context: _Context, item: Found, work: Work) -> None:
    entry = context.entry(item.path)
    if item.kind == "special":
        work.refuse(item.path, "special_file", "a fifo, socket or device")
        if entry is not None:
            _delete(context, item.path, work)
        return
    if item.kind == "link":
        known = context.objects.blob(entry.oid) if entry is not None and entry.mode == b"120000" else None
        if known != item.target and link_escapes(item.path, item.target):
            work.refuse(item.path, "symlink_escapes", f"points to {os.fsdecode(item.target)}")
    if item.mode & 0o6000 and item.kind == "file":
        work.refuse(item.path, "setid", f"mode {item.mode & 0o7777:o}")
    if item.kind == "file" and item.size > MAX_FILE:
        if entry is None or not _same_blob(context, work.root, item, entry.oid):
            work.refuse(item.path, "too_big", f"{item.size} bytes; at most {MAX_FILE}")
        return
    if entry is not None and entry.is_tree:
        _delete(context, item.path, work)
    work.writes.append(item)


def _delete(context: _Context, path: bytes, work: Work) -> None:
    """Delete a path of the base with everything below; read-only content below it is accused."""
    if context.entry(path) is None:
        return
    if os.fsdecode(path) in context.meta.lfs:
        work.refuse(path, "lfs_changed", "the file was removed")
        return
    work.deletes.append(path)
    below = path + b"/"
    for name in context.meta.submodules:
        if os.fsencode(name).startswith(below):
            work.refuse(os.fsencode(name), "submodule_changed", "the submodule was removed")
    for name in context.meta.lfs:
        if os.fsencode(name).startswith(below):
            work.refuse(os.fsencode(name), "lfs_changed", "the file was removed")


def _judge_submodule(context: _Context, item: Found, submodule: bytes, work: Work) -> None:
    if item.kind == "directory":
        return
    if item.kind in ("file", "link") and any(same_as(work.root, item, layer) for layer in context.layers):
        return
    work.refuse(submodule, "submodule_changed", f"{os.fsdecode(item.path)} differs; submodules are read-only")


def _judge_lfs(context: _Context, item: Found, work: Work) -> None:
    filled = context.meta.lfs[os.fsdecode(item.path)]
    if item.kind == "file":
        if item.size == filled.size and sha256_of(work.root, item.path) == filled.oid:
            return
        entry = context.entry(item.path)
        pointer = entry.oid if entry is not None and item.size <= MAX_FILE else None
        if pointer is not None and blob_id(work.root, item, context.repo.object_format) == pointer:
            return
    work.refuse(item.path, "lfs_changed", "content kept by Git LFS is read-only")


def _directories_of_ignored_only(found: list[Found], ignored: set[bytes]) -> set[bytes]:
    """Directories below which everything found is ignored; their names are nobody's concern."""
    concerned: set[bytes] = set()
    for item in found:
        if item.kind != "directory" and item.path not in ignored:
            parts = item.path.split(b"/")
            concerned.update(b"/".join(parts[:depth]) for depth in range(1, len(parts)))
    holding: set[bytes] = set()
    for path in ignored:
        parts = path.split(b"/")
        holding.update(b"/".join(parts[:depth]) for depth in range(1, len(parts)))
    return holding - concerned


def _collapsed(found: list[Found], ignored: set[bytes], context: _Context) -> list[bytes]:
    """The ignored paths, whole new directories as one entry with a trailing slash."""
    whole = {path for path in _directories_of_ignored_only(found, ignored) if context.entry(path) is None}
    listed: set[bytes] = set()
    for path in ignored:
        parts = path.split(b"/")
        tops = (b"/".join(parts[:depth]) for depth in range(1, len(parts)))
        top = next((above for above in tops if above in whole), None)
        listed.add(path if top is None else top + b"/")
    return sorted(listed)
