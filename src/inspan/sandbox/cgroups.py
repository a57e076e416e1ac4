"""A control group for one tree, where one can be had: version 2 delegated to us, version 1 as root.

Nothing is assumed from a version: a group is made, a limit is written, and what took effect is what is reported.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from typing import NamedTuple

from inspan.sandbox.contract import Limits


class _Place(NamedTuple):
    version: int
    path: str


class Group:
    """The control groups of one tree; ``held`` names what they hold (``{"memory": "cgroup v1"}``)."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}
        self._places: list[_Place] = []

    def join(self, pid: int) -> None:
        """Put a process, and so all its later descendants, into the groups. A group that refuses is given up."""
        for place in list(self._places):
            if not _write(f"{place.path}/cgroup.procs", str(pid)):
                self._places.remove(place)
                _remove(place.path)
        kept = {f"cgroup v{place.version}" for place in self._places}
        self.held = {limit: mechanism for limit, mechanism in self.held.items() if mechanism in kept}

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed a process of the tree for lack of memory."""
        for place in self._places:
            for name in ("memory.events", "memory.oom_control"):
                counters = _read(f"{place.path}/{name}").split()
                if "oom_kill" in counters and counters[counters.index("oom_kill") + 1] != "0":
                    return True
        return False

    def out_of_processes(self) -> bool:
        """Whether a fork of the tree was refused."""
        for place in self._places:
            counters = _read(f"{place.path}/pids.events").split()
            if "max" in counters and counters[counters.index("max") + 1] != "0":
                return True
        return False

    def members(self) -> list[int]:
        """Processes still in the groups."""
        found = {int(pid) for place in self._places for pid in _read(f"{place.path}/cgroup.procs").split()}
        return sorted(found)

    def kill(self) -> None:
        """End every member at once where the kernel can."""
        for place in self._places:
            _write(f"{place.path}/cgroup.kill", "1")

    def remove(self) -> None:
        """Remove the groups; a dying member can hold one busy for a moment."""
        for place in self._places:
            _remove(place.path)
        self._places = []

    def _add(self, place: _Place) -> None:
        self._places.append(place)

    def _hold(self, place: _Place, limit: str, settings: dict[str, str]) -> None:
        """Note ``limit`` as held when its first setting was taken; the others are refinements."""
        taken = [_write(f"{place.path}/{name}", value) for name, value in settings.items()]
        if taken[0]:
            self.held.setdefault(limit, f"cgroup v{place.version}")


def group(limits: Limits) -> Group:
    """Whatever control groups this process may make; one that holds nothing where it may make none."""
    made = Group()
    name = f"inspan-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    for place in _version_two(name):
        made._add(place)
        if limits.memory:
            swap = {"memory.swap.max": "0", "memory.oom.group": "1"}
            made._hold(place, "memory", {"memory.max": str(limits.memory), **swap})
        if limits.processes:
            made._hold(place, "processes", {"pids.max": str(limits.processes)})
    for controller, path in _version_one(name, made.held, limits):
        place = _Place(1, path)
        made._add(place)
        if controller == "memory":
            swap = {"memory.memsw.limit_in_bytes": str(limits.memory)}
            made._hold(place, "memory", {"memory.limit_in_bytes": str(limits.memory), **swap})
        else:
            made._hold(place, "processes", {"pids.max": str(limits.processes)})
    return made


def _version_two(name: str) -> list[_Place]:
    """A child of our own group, or beside it: a group with processes of its own cannot pass controllers down."""
    root, own = _mount("cgroup2"), _own(lambda fields: fields[1] == "")
    if root is None or own is None:
        return []
    here = os.path.normpath(f"{root}/{own}")
    beside = os.path.dirname(here) if here != root else here
    candidates = sorted({here, beside}, key=lambda path: "memory" not in _read(f"{path}/cgroup.subtree_control"))
    for parent in candidates:
        path = f"{parent}/{name}"
        if _make(path):
            return [_Place(2, path)]
    return []


def _version_one(name: str, held: dict[str, str], limits: Limits) -> list[tuple[str, str]]:
    made = []
    for controller, limit, wanted in (("memory", "memory", limits.memory), ("pids", "processes", limits.processes)):
        root, own = _mount("cgroup", controller), _controlled(controller)
        if wanted and limit not in held and root is not None and own is not None:
            path = os.path.normpath(f"{root}/{own}/{name}")
            if _make(path):
                made.append((controller, path))
    return made


def _mount(kind: str, option: str | None = None) -> str | None:
    for line in _read("/proc/self/mounts").splitlines():
        fields = line.split()
        if fields[2] == kind and (option is None or option in fields[3].split(",")):
            return fields[1]
    return None


def _own(matches: Callable[[list[str]], bool]) -> str | None:
    for line in _read("/proc/self/cgroup").splitlines():
        fields = line.split(":", 2)
        if matches(fields):
            return fields[2]
    return None


def _controlled(controller: str) -> str | None:
    return _own(lambda fields: controller in fields[1].split(","))


def _sweep(parent: str) -> None:
    """Remove groups whose maker was killed before it could; the kernel refuses those that still hold a process."""
    try:
        listing = os.listdir(parent)
    except OSError:
        return
    for entry in listing:
        if entry.startswith("inspan-") and not os.path.isdir(f"/proc/{entry.split('-')[1]}"):
            try:
                os.rmdir(f"{parent}/{entry}")
            except OSError:
                continue


def _make(path: str) -> bool:
    _sweep(os.path.dirname(path))
    try:
        os.mkdir(path)
    except OSError:
        return False
    return True


def _remove(path: str) -> None:
    # On a busy machine the kernel may take seconds to be done with members that are already dead.
    for _ in range(500):
        try:
            os.rmdir(path)
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
        else:
            return


def _write(path: str, value: str) -> bool:
    try:
        with open(path, "w") as out:
            out.write(value)
    except OSError:
        return False
    return True


def _read(path: str) -> str:
    try:
        with open(path) as reading:
            return reading.read()
    except OSError:
        return ""
