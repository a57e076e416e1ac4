"""Making a workspace, beside ``git worktree add`` of the same commit in the same run."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import desk, git, megabytes, milliseconds, synthetic
from benchmarks.timing import machine, median
from inspan.sandbox.levels import owner
from inspan.spec.paths import State
from inspan.workspace.build import discard, ensure_gate, ensure_pristine, overlay_possible, plan_attempt
from inspan.workspace.repository import open_repository, resolve_base

SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000}


def measure(sizes: Sequence[str] = tuple(SIZES)) -> dict[str, Any]:
    """The document; figures of sizes left out are null."""
    measured: dict[str, dict[str, float]] = {}
    with desk() as place:
        state = State(place / "state")
        if not overlay_possible(state):
            return _document({}, "overlay workspaces cannot be had here")
        for name in sizes:
            measured[name] = _one(place, state, name, SIZES[name], 5)
    return _document(measured, None if "100k" in sizes else "size left out")


def _one(place: Path, state: State, name: str, count: int, rounds: int) -> dict[str, float]:
    path = synthetic(place / f"repo-{name}", count)
    repo = open_repository(str(path))
    base, following = resolve_base(repo, "HEAD~1"), repo.head
    who = owner("sandbox")
    ensure_gate(state, repo)
    found = {"first_base": milliseconds(lambda: ensure_pristine(state, repo, base, who))}
    found["next_base"] = milliseconds(lambda: ensure_pristine(state, repo, following, who))
    created: list[float] = []
    removed: list[float] = []
    peers: list[float] = []
    peer_removed: list[float] = []
    worktree = place / "worktree"
    for number in range(rounds * 3):
        attempt = f"bench.a{number}"
        start = time.perf_counter()
        plan = plan_attempt(state, repo, base, attempt, kind="overlay", owner=who, level="sandbox")
        created.append((time.perf_counter() - start) * 1000)
        found["disk"] = megabytes(state.attempt(attempt).root)
        start = time.perf_counter()
        discard(state, plan)
        removed.append((time.perf_counter() - start) * 1000)
    for _ in range(rounds if count < 100_000 else 3):
        peers.append(milliseconds(lambda: git(path, "worktree", "add", "-q", "--detach", os.fspath(worktree), base)))
        found["peer_disk"] = megabytes(worktree)
        peer_removed.append(milliseconds(lambda: git(path, "worktree", "remove", "--force", os.fspath(worktree))))
    return found | {
        "create": median(created),
        "remove": median(removed),
        "peer_create": median(peers),
        "peer_remove": median(peer_removed),
    }


def _document(measured: dict[str, dict[str, float]], why: str | None) -> dict[str, Any]:
    large, small = measured.get("100k"), measured.get("1k")
    reasons = {} if why is None else {"100k": why}
    figures: dict[str, float | None] = {
        "create_ms_100k": large["create"] if large else None,
        "create_ratio_100k_1k": round(large["create"] / small["create"], 2) if large and small else None,
        "speedup_vs_worktree_100k": round(large["peer_create"] / large["create"], 1) if large else None,
        "disk_mb_100k": large["disk"] if large else None,
        "first_base_ms_100k": round(large["first_base"], 1) if large else None,
        "next_base_ms_100k": round(large["next_base"], 1) if large else None,
    }
    peers: dict[str, float] = {}
    for name, found in measured.items():
        figures[f"create_ms_{name}"] = found["create"]
        figures[f"remove_ms_{name}"] = found["remove"]
        figures[f"first_base_ms_{name}"] = round(found["first_base"], 1)
        figures[f"next_base_ms_{name}"] = round(found["next_base"], 1)
        peers[f"worktree_add_ms_{name}"] = found["peer_create"]
        peers[f"worktree_remove_ms_{name}"] = found["peer_remove"]
        peers[f"worktree_disk_mb_{name}"] = found["peer_disk"]
    return {
        "figures": figures,
        "reasons": reasons,
        "peers": peers,
        "machine": machine(),
        "method": "synthetic packed repositories, 12 files a directory, about 6 KB each; create: plan_attempt of an"
        " overlay on a base that is there (the sandbox mounts it; not included); first_base: one full layer;"
        " next_base: a commit that changes 10 files; medians of 15 (3 or 5 for the peer), the two bases once",
    }
