"""The levels of confinement there are, and which one a job gets."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from inspan.errors import SandboxError
from inspan.sandbox import bubblewrap
from inspan.sandbox.contract import Driver, Proof
from inspan.sandbox.mounts import HOME_INSIDE
from inspan.spec.levels import DEFAULT, PROMISES, promises
from inspan.workspace.layout import Owner
from inspan.workspace.plan import MountPlan
from inspan.workspace.shown import remembered

SANDBOX_UID = 61001
"""The one identity jobs have when Inspan is started as root."""

LEVELS = tuple(PROMISES)
"""What this release has, weakest first."""

AUTO = "auto"
"""Asks for the default level, or the strongest below it that works here."""

_DRIVERS = {
    "none": "unconfined.NoneDriver",
    "landlock": "landlocked.LandlockDriver",
    "sandbox": "namespaced.SandboxDriver",
    "gvisor": "guest.GuestDriver",
}
"""Where each level's driver is, below this package; loaded when it is used."""


def driver(level: str) -> Driver:
    """The driver of a level.

    Raises:
        UnknownName: for a level this release does not have.
    """
    promises(level)
    module, _, name = _DRIVERS[level].partition(".")
    made: Driver = getattr(import_module(f"inspan.sandbox.{module}"), name)()
    return made


@lru_cache(maxsize=16)
def probe(level: str, state_dir: str) -> Proof:
    """What a level gives on this machine, shown by doing it once per process."""
    return driver(level).probe(state_dir)


def shown(level: str, state_dir: str) -> Proof:
    """Whether a level works here, from an earlier command's probe where nothing has changed since, else by ``probe``.

    Good for choosing what to try, and for nothing else: that a started sandbox holds is proved at every start.
    """
    if not promises(level).confined:
        return probe(level, state_dir)
    found: list[Proof] = []

    def by_doing() -> bool:
        found.append(probe(level, state_dir))
        return found[0].available

    programs = bubblewrap.candidates()
    if promises(level).own_kernel:
        from inspan.sandbox import runsc

        programs += runsc.candidates()
    remembered(Path(state_dir), f"level-{level}", by_doing, programs=programs)
    return found[0] if found else Proof(level=level, available=True, detail="shown before, and nothing has changed")


def choose(asked: str, *, state_dir: str, rehearsal: bool, allow_none: bool, minimum: str | None = None) -> str:
    """The level a job runs at. Never weaker than asked for, and ``none`` only by somebody's own word.

    Args:
        asked: a level, or ``auto``: the default level, else the strongest below it that works; one above the default
            costs more and is taken only where it is asked for or demanded as the minimum.
        state_dir: where the workspaces will be.
        rehearsal: a scripted provider stands in; only then may ``auto`` fall to ``none`` by itself.
        allow_none: the user's own configuration allows ``none`` where nothing better works.
        minimum: the least level a backend or the user demands.

    Raises:
        UnknownName: for a level nobody knows.
        SandboxError: (``sandbox_unavailable``) when the level does not work here or is below the minimum.
    """
    least = _rank(minimum) if minimum is not None else 0
    if asked != AUTO:
        if _rank(asked) < least:
            raise SandboxError(
                f"level {asked} is below the demanded minimum {minimum}", where="min_sandbox", do=f"--sandbox {minimum}"
            )
        _require(shown(asked, state_dir))
        return asked
    missing: list[Proof] = []
    for level in reversed(LEVELS[least : max(least, _rank(DEFAULT)) + 1]):
        if promises(level).confined or rehearsal or allow_none:
            found = shown(level, state_dir)
            if found.available:
                return level
            missing.append(found)
    raise _unavailable(*missing)


def owner(level: str) -> Owner:
    """Who owns the writable files of a job at ``level``."""
    own = Owner(uid=os.geteuid(), gid=os.getegid())
    return Owner(uid=SANDBOX_UID, gid=SANDBOX_UID) if own.uid == 0 and promises(level).own_identity else own


def sandbox_owner() -> Owner:
    """The owner at the default level: as root the one sandbox identity, else the caller."""
    return owner("sandbox")


def home_inside(level: str, plan: MountPlan) -> str:
    """Where the program finds its scratch HOME."""
    return HOME_INSIDE if promises(level).own_mounts else plan.home


def workspace_inside(level: str, plan: MountPlan) -> str:
    """Where the program finds its workspace."""
    return plan.root_inside if promises(level).own_mounts else plan.directory


def _rank(level: str) -> int:
    promises(level)
    return LEVELS.index(level)


def _require(found: Proof) -> None:
    if not found.available:
        raise _unavailable(found)


def _unavailable(*missing: Proof) -> SandboxError:
    """The refusal for levels that do not work here, the most wanted first."""
    said = [f"level {found.level} does not work on this machine: {found.detail}" for found in missing]
    ways = [found.enable for found in missing if found.enable]
    return SandboxError(
        "; ".join(said),
        where="probed by doing",
        do="; or ".join([*dict.fromkeys(ways), "--sandbox none runs without isolation"]),
    )
