"""What an attempt changed, as the trusted side reads it: bytes hashed here, committed onto the base, compared as trees.

Nothing the agent's git says is believed, and no git is run on anything it wrote.

Only called after every process of the attempt is dead. Any doubt is a ``GateError``.
"""

from __future__ import annotations

import hashlib
import os

import msgspec

from inspan.errors import GateError, InspanError, StateError
from inspan.outcome.records import Change, FileChange, Violation
from inspan.spec.paths import State
from inspan.workspace.changes import Work, changed_work
from inspan.workspace.commit import commit_work
from inspan.workspace.gate_repository import ensure_gate
from inspan.workspace.git import TrustedGit
from inspan.workspace.layers import Difference, parse_raw
from inspan.workspace.layout import Owner
from inspan.workspace.names import collision_key
from inspan.workspace.objects import Objects
from inspan.workspace.plan import MountPlan
from inspan.workspace.pristine import meta_of
from inspan.workspace.repository import Repository
from inspan.workspace.setup import SetupLayer

_DIFF = (
    "-r",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--full-index",
    "--ignore-submodules=none",
)


class Changeset(msgspec.Struct, frozen=True, kw_only=True):
    """What differs from base.

    Attributes:
        base: the commit the workspace started from.
        result: the gate's commit; ``base`` itself when nothing differs. Same tree, same id.
        tree: the result's tree id.
        digest: ``sha256:`` over the raw ``diff-tree -r -z --full-index``.
        change: the outcome's record of it.
        violations: what the change may not bring in, by path.
        ignored: paths the base's ignore rules hide, whole directories with a trailing slash; not part of the result.
    """

    base: str
    result: str | None
    tree: str | None
    digest: str | None
    change: Change
    violations: tuple[Violation, ...] = ()
    ignored: tuple[str, ...] = ()


def collect(
    state: State, repo: Repository, base: str, plan: MountPlan, attempt: str, *, setup: SetupLayer | None = None
) -> Changeset:
    """Read the workspace of ``plan`` and commit what it holds onto ``base`` in the gate's repository.

    Raises:
        GateError: the tree cannot be read as evidence; ``change_too_large`` when it exceeds the caps.
        StateError: (``disk_full``) the disk is full.
    """
    try:
        git = TrustedGit(ensure_gate(state, repo), repo.object_format)
        meta = meta_of(state, repo, base, Owner(uid=plan.uid, gid=plan.gid))
        with Objects(git) as objects:
            work = changed_work(state, repo, base, plan, meta, objects, setup)
            result = commit_work(state, repo, git, base, f"refs/inspan/attempt/{attempt}", work)
            return _described(git, objects, base, result, work)
    except (GateError, StateError):
        raise
    except (OSError, InspanError, ValueError, RecursionError) as doubt:
        raise GateError(f"the workspace cannot be read: {doubt}", where=plan.upper or plan.directory) from doubt


def _described(git: TrustedGit, objects: Objects, base: str, result: str, work: Work) -> Changeset:
    raw = git.run("diff-tree", "-z", "--raw", *_DIFF, base, result)
    differences = parse_raw(raw)
    counts = _line_counts(git, base, result)
    files = tuple(_file_change(difference, counts) for difference in differences)
    collisions = _collisions(objects, base, result, differences)
    digest = f"sha256:{hashlib.sha256(raw).hexdigest()}"
    ignored = tuple(os.fsdecode(path) for path in work.ignored)
    change = Change(
        base=base,
        result=result,
        digest=digest,
        added=sum(file.added or 0 for file in files),
        removed=sum(file.removed or 0 for file in files),
        files=files,
        ignored=ignored,
    )
    return Changeset(
        base=base,
        result=result,
        tree=objects.root(result),
        digest=digest,
        change=change,
        violations=tuple(sorted((*work.violations, *collisions), key=lambda v: (v.path, v.rule))),
        ignored=ignored,
    )


def _line_counts(git: TrustedGit, base: str, result: str) -> dict[bytes, tuple[int | None, int | None]]:
    counts: dict[bytes, tuple[int | None, int | None]] = {}
    for line in git.run("diff-tree", "-z", "--numstat", *_DIFF, base, result).split(b"\0")[:-1]:
        added, removed, path = line.split(b"\t", 2)
        counts[path] = (None, None) if added == b"-" else (int(added), int(removed))
    return counts


def _file_change(difference: Difference, counts: dict[bytes, tuple[int | None, int | None]]) -> FileChange:
    added, removed = counts.get(difference.path, (None, None))
    path = os.fsdecode(difference.path)
    match difference.status:
        case "A":
            return FileChange(path=path, status="added", added=added, removed=removed)
        case "D":
            return FileChange(path=path, status="deleted", added=added, removed=removed)
        case "T":
            return FileChange(path=path, status="type_changed", added=added, removed=removed)
        case "M" if difference.oid == difference.oid_before:
            return FileChange(path=path, status="mode_changed", added=added, removed=removed)
        case "M":
            return FileChange(path=path, status="modified", added=added, removed=removed)
    raise GateError(f"git names an unknown kind of change: {difference.status}", where=path)


def _collisions(objects: Objects, base: str, result: str, differences: list[Difference]) -> list[Violation]:
    """Added names that a case-insensitive or normalising file system would take for another one beside them."""
    found: dict[bytes, Violation] = {}
    seen: dict[bytes, dict[str, list[bytes]]] = {}
    for difference in differences:
        if difference.status != "A":
            continue
        parts = difference.path.split(b"/")
        for depth, name in enumerate(parts):
            above, path = b"/".join(parts[:depth]), b"/".join(parts[: depth + 1])
            if path in found or objects.entry(base, path) is not None:
                continue
            if above not in seen:
                keyed: dict[str, list[bytes]] = {}
                for other in objects.names(result, above):
                    keyed.setdefault(collision_key(other), []).append(other)
                seen[above] = keyed
            twins = [other for other in seen[above].get(collision_key(name), []) if other != name]
            if twins:
                detail = "collides with " + ", ".join(os.fsdecode(twin) for twin in twins)
                found[path] = Violation(path=os.fsdecode(path), rule="name_collision", detail=detail)
    return list(found.values())


def patch(state: State, repo: Repository, base: str, result: str) -> bytes:
    """The change as a patch, every byte shown: no attribute, filter or text conversion has a say."""
    git = TrustedGit(ensure_gate(state, repo), repo.object_format)
    return git.run("diff-tree", "-p", "--text", *_DIFF, base, result)
