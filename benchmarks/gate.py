"""Reading a change set and making its tree, beside ``git add -A`` and ``git write-tree`` in a work tree of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import desk, git, milliseconds, synthetic
from benchmarks.timing import machine, median
from benchmarks.workspace import SIZES
from inspan.sandbox.levels import owner
from inspan.spec.paths import State
from inspan.workspace.build import overlay_possible, plan_attempt
from inspan.workspace.changeset import collect
from inspan.workspace.repository import open_repository, resolve_base


def measure(sizes: Sequence[str] = tuple(SIZES)) -> dict[str, Any]:
    """The document; figures of sizes left out are null."""
    measured: dict[str, tuple[float, float]] = {}
    with desk() as place:
        state = State(place / "state")
        possible = overlay_possible(state)
        for name in sizes if possible else ():
            measured[name] = _one(place, state, name, SIZES[name], 9)
    large, small = measured.get("100k"), measured.get("1k")
    why = "overlay workspaces cannot be had here" if not possible else "size left out"
    figures: dict[str, float | None] = {
        "gate_ms_100k": large[0] if large else None,
        "ratio_100k_1k": round(large[0] / small[0], 2) if large and small else None,
    }
    return {
        "figures": figures | {f"gate_ms_{name}": found[0] for name, found in measured.items()},
        "reasons": {} if large else {"100k": why},
        "peers": {f"git_add_write_tree_ms_{name}": found[1] for name, found in measured.items()},
        "machine": machine(),
        "method": "10 files edited, 1 removed, 2 added in an overlay's upper layer; gate: collect(), from the dead"
        " workspace to commit, tree, digest and file list; peer: git add -A and git write-tree on the same edits in"
        " a worktree with a warm index; medians of 9 (3 for the peer at 100k)",
    }


def _edits(repo: Path, base: str) -> list[str]:
    return git(repo, "ls-tree", "-r", "--name-only", base).splitlines()[:11]


def _one(place: Path, state: State, name: str, count: int, rounds: int) -> tuple[float, float]:
    path = synthetic(place / f"repo-{name}", count)
    repo = open_repository(str(path))
    base = resolve_base(repo, "HEAD~1")
    who = owner("sandbox")
    plan = plan_attempt(state, repo, base, "bench.a1", kind="overlay", owner=who, level="sandbox")
    assert plan.upper is not None
    files = _edits(path, base)
    _write(Path(plan.upper), Path(plan.lowers[0]), files, whiteout=True)
    ours = [milliseconds(lambda: collect(state, repo, base, plan, "bench.a1")) for _ in range(rounds)]
    worktree = place / f"worktree-{name}"
    peers = []
    git(path, "worktree", "add", "-q", "--detach", os.fspath(worktree), base)
    git(worktree, "status", "--porcelain")
    for _ in range(rounds if count < 100_000 else 3):
        _write(worktree, Path(plan.lowers[0]), files, whiteout=False)
        peers.append(milliseconds(lambda: (git(worktree, "add", "-A"), git(worktree, "write-tree"))))
        git(worktree, "reset", "-q", "--hard")
        git(worktree, "clean", "-fdq")
    return median(ours), median(peers)


def _write(target: Path, source: Path, files: list[str], *, whiteout: bool) -> None:
    """The edits, as files of an upper layer or in a complete tree."""
    for name in files[:10]:
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes((source / name).read_bytes() + b"x = 1\n")
    if whiteout:
        os.mknod(target / files[10], 0o020000, 0)
    else:
        (target / files[10]).unlink()
    (target / "new").mkdir(exist_ok=True)
    (target / "new/a.py").write_text("a\n")
    (target / "b.py").write_text("b\n")
