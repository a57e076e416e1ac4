"""A confined job that does nothing, from the plan to the last file gone, beside a plain spawn and other ways."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.common import ENVIRONMENT, desk, git, milliseconds, synthetic
from benchmarks.provisioning import provisioned
from benchmarks.timing import interleaved, machine, median
from inspan.sandbox import spawning
from inspan.sandbox.contract import Confinement
from inspan.sandbox.levels import driver, owner, probe
from inspan.spec.paths import State
from inspan.workspace.build import discard, ensure_gate, ensure_pristine, overlay_possible, plan_attempt
from inspan.workspace.repository import Repository, open_repository, resolve_base

SIZES = {"1k": 1_000, "100k": 100_000}
ROUNDS = 25
_NULL = os.open(os.devnull, os.O_RDWR)


class Place:
    """A repository with its base made, and jobs on it."""

    def __init__(self, state: State, path: Path, level: str) -> None:
        self.path, self.level = path, level
        self._state, self._owner, self._count = state, owner(level), 0
        self._repo: Repository = open_repository(str(path))
        self.base = resolve_base(self._repo, "HEAD~1")
        ensure_gate(state, self._repo)
        ensure_pristine(state, self._repo, self.base, self._owner)

    def job(self, *argv: str, ahead: bool = True) -> tuple[float, float]:
        """Milliseconds of a whole job, and of its program alone: from its release to its end.

        With ``ahead`` the launcher waits, as a runner has it waiting while the driver prepares.
        """
        self._count += 1
        if ahead:
            spawning.ahead("launcher")
            time.sleep(0.15)  # until it has loaded
        start = time.perf_counter()
        plan = plan_attempt(
            self._state, self._repo, self.base, f"bench.a{self._count}",
            kind="overlay", owner=self._owner, level=self.level,
        )  # fmt: skip
        env = {**ENVIRONMENT, "PATH": "/usr/local/bin:/usr/bin:/bin"}
        tree = driver(self.level).start(
            Confinement(plan=plan, argv=argv, env=env), stdin=_NULL, stdout=_NULL, stderr=_NULL
        )
        try:
            released = time.perf_counter()
            tree.release()
            status = tree.wait(600)
            ended = time.perf_counter()
        finally:
            tree.close()
        discard(self._state, plan)
        if status != 0:
            raise RuntimeError(f"{argv} ended with {status} inside")
        return (time.perf_counter() - start) * 1000, (ended - released) * 1000


def spawn_ms() -> float:
    """A plain process that does nothing."""
    return milliseconds(lambda: subprocess.run(["/bin/true"], check=True, stdin=_NULL, stdout=_NULL, stderr=_NULL))


def measure(sizes: Sequence[str] = tuple(SIZES)) -> dict[str, Any]:
    """The document; figures that cannot be had are null with a reason."""
    level = "sandbox"
    with desk() as root:
        state = State(root / "state")
        found = probe(level, str(root))
        if not found.available or not overlay_possible(state):
            return _document({}, {}, {"start_ms_over_spawn": f"no {level} on an overlay here: {found.detail}"})
        places = {name: Place(state, synthetic(root / f"repo-{name}", SIZES[name]), level) for name in sizes}
        sides: dict[str, Callable[[], float]] = {"spawn": spawn_ms, **_peers(root, places)}
        for name, place in places.items():
            sides[f"job-{name}"] = lambda place=place: place.job("/bin/true")[0]  # type: ignore[misc]
        first = next(iter(places.values()))
        sides["job-cold"] = lambda: first.job("/bin/true", ahead=False)[0]
        times = {name: median(values) for name, values in interleaved(sides, ROUNDS).items()}
        status = {name: _first_status(root, place) for name, place in places.items()}
    second, bare, reasons = provisioned()
    return _document(times, status, reasons, second, bare)


def _peers(root: Path, places: dict[str, Place]) -> dict[str, Callable[[], float]]:
    """Other ways to an isolated place for a program, where this machine has them."""
    small = next(iter(places.values()))
    worktree = root / "worktree"

    def by_worktree() -> float:
        def once() -> None:
            git(small.path, "worktree", "add", "-q", "--detach", os.fspath(worktree), small.base)
            git(small.path, "worktree", "remove", "--force", os.fspath(worktree))

        return milliseconds(once)

    sides: dict[str, Callable[[], float]] = {"worktree-1k": by_worktree}
    bwrap = shutil.which("bwrap")
    if bwrap:
        bare = [bwrap, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
        sides["bubblewrap"] = lambda: _command(bare)
    runsc = shutil.which("runsc")
    if runsc:
        gvisor = [runsc, "--rootless", "--ignore-cgroups", "--network=none", "--platform=ptrace", "do"]
        with suppress(RuntimeError):
            _command(gvisor)
            sides["container-gvisor"] = lambda: _command(gvisor)
    return sides


def _command(prefix: list[str]) -> float:
    def once() -> None:
        done = subprocess.run([*prefix, "/bin/true"], stdin=_NULL, stdout=_NULL, stderr=_NULL, check=False)
        if done.returncode:
            raise RuntimeError(f"{prefix[0]} ended with {done.returncode}")

    return milliseconds(once)


def _first_status(root: Path, place: Place, rounds: int = 3) -> tuple[float, float]:
    """The first ``git status`` in a new workspace, and in a new worktree."""
    inside, outside = [], []
    for number in range(rounds):
        inside.append(place.job("git", "status", "--porcelain")[1] - place.job("/bin/true")[1])
        tree = root / f"status{number}"
        git(place.path, "worktree", "add", "-q", "--detach", os.fspath(tree), place.base)
        outside.append(milliseconds(lambda tree=tree: git(tree, "status", "--porcelain")))  # type: ignore[misc]
        git(place.path, "worktree", "remove", "--force", os.fspath(tree))
    return median(inside), median(outside)


def _document(
    times: dict[str, float],
    status: dict[str, tuple[float, float]],
    reasons: dict[str, str],
    second: dict[str, float] | None = None,
    bare: dict[str, float] | None = None,
) -> dict[str, Any]:
    small, large = times.get("job-1k"), times.get("job-100k")
    cold = times.get("job-cold")
    figures: dict[str, float | None] = {
        "start_cold_ms_over_spawn": round(cold - times["spawn"], 2) if cold is not None else None,
        "start_ms_over_spawn": round(large - times["spawn"], 2) if large is not None else None,
        "start_ms_over_spawn_1k": round(small - times["spawn"], 2) if small is not None else None,
        "ratio_100k_1k": round(large / small, 2) if large and small else None,
        "provisioned_second_ms": None,
    }
    figures |= second or {}
    for name, (inside, outside) in status.items():
        figures[f"first_status_ratio_{name}"] = round(inside / outside, 2)
        figures[f"first_status_ms_{name}"] = inside
    peers = {f"{name.replace('-', '_')}_ms": value for name, value in times.items() if not name.startswith("job-")}
    peers |= {f"worktree_first_status_ms_{name}": outside for name, (_, outside) in status.items()}
    peers |= bare or {}
    return {
        "figures": figures,
        "reasons": reasons,
        "peers": peers,
        "machine": machine(),
        "method": "one process: plan of an overlay workspace, start at level sandbox with a launcher that waits (cold:"
        f" none waits), `true`, teardown, removal; medians of {ROUNDS} interleaved rounds less a plain spawn of `true`;"
        " first status: medians of 3 less `true` inside; provisioned_second: from the question for a frozen set-up"
        " layer, whose seal is looked at, to a program inside that found one of the real packages pip and npm had"
        " installed; medians of 15",
    }
