"""A control group for one tree, where one can be had: version 2 delegated to us, a systemd scope, version 1 as root.

In this order, limit by limit: what one does not hold, the next is tried for. Nothing is assumed from a version: a group
is made, a limit is written, and what took effect is what is reported.
"""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Callable, Mapping
from typing import NamedTuple

from inspan.sandbox import maker, scope
from inspan.sandbox.contract import Limits

_PREFIX = "inspan-"
_PERIOD = 100_000  # microseconds over which the share of the processors is measured


class _Place(NamedTuple):
    mechanism: str
    path: str


class Group:
    """The control groups of one tree."""

    def __init__(self, name: str, limits: Limits) -> None:
        self.name = name
        self._limits = limits
        self._places: list[_Place] = []
        self._holders: dict[str, _Place] = {}

    @property
    def held(self) -> dict[str, str]:
        """What holds which limit: ``{"memory": "cgroup v1"}``."""
        return {limit: place.mechanism for limit, place in self._holders.items()}

    def join(self, pid: int) -> None:
        """Put a process, and so all its later descendants, into the groups. A group that refuses is given up."""
        for place in list(self._places):
            self._enter(place, pid)
        if self._wanted():
            self._ask_systemd(pid)
        for place in self._ask_version_one():
            self._enter(place, pid)

    def _enter(self, place: _Place, pid: int) -> None:
        if not _write(f"{place.path}/cgroup.procs", str(pid)):
            self._give_up(place)

    def _give_up(self, place: _Place) -> None:
        self._places.remove(place)
        self._holders = {limit: holder for limit, holder in self._holders.items() if holder is not place}
        _remove(place.path)

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

    def cpu_seconds(self) -> float | None:
        """Processor time all members used, the dead ones included; None where no group counts it."""
        for place in self._places:
            counters = _read(f"{place.path}/cpu.stat").split()
            if "usage_usec" in counters:
                return int(counters[counters.index("usage_usec") + 1]) / 1e6
            if usage := _read(f"{place.path}/cpuacct.usage").strip():
                return int(usage) / 1e9
        return None

    def use(self, place: _Place, settings: Mapping[str, Callable[[Limits], dict[str, str]]]) -> None:
        """Set whatever nothing holds yet; a limit is held when its first setting was taken, the others refine it."""
        self._places.append(place)
        for limit in self._wanted():
            if limit in settings:
                values = settings[limit](self._limits).items()
                taken = [_write(f"{place.path}/{name}", value) for name, value in values]
                if taken[0]:
                    self._holders[limit] = place

    def _wanted(self) -> list[str]:
        """Limits that nothing holds yet."""
        return [limit for limit in _VERSION_TWO if getattr(self._limits, limit) and limit not in self._holders]

    def _ask_systemd(self, pid: int) -> None:
        """Join a scope that systemd makes; it replaces our own group of version 2, out of which it took the process."""
        root, inside = _mount("cgroup2"), scope.adopt(pid, self.name, self._limits)
        if root is None or inside is None:
            return
        place = _Place("systemd scope", os.path.normpath(f"{root}/{inside}"))
        for earlier in [p for p in self._places if p.mechanism == "cgroup v2"]:
            self._give_up(earlier)
        self._places.append(place)
        for limit in self._wanted():
            values = list(_VERSION_TWO[limit](self._limits).items())
            if values and _read(f"{place.path}/{values[0][0]}").strip() == values[0][1]:
                self._holders[limit] = place

    def _ask_version_one(self) -> list[_Place]:
        made = []
        counted = ["cpuacct"] if self._limits.cpu_seconds else []
        for controller in [_CONTROLLERS[limit] for limit in self._wanted()] + counted:
            place = _version_one(self.name, controller)
            if place is not None:
                made.append(place)
                self.use(place, {limit: s for limit, s in _VERSION_ONE.items() if _CONTROLLERS[limit] == controller})
        return made


def _quota(limits: Limits) -> str:
    return str(int((limits.cpus or 0) * _PERIOD))


_VERSION_TWO: dict[str, Callable[[Limits], dict[str, str]]] = {
    "memory": lambda of: {"memory.max": str(of.memory), "memory.swap.max": "0", "memory.oom.group": "1"},
    "processes": lambda of: {"pids.max": str(of.processes)},
    "cpus": lambda of: {"cpu.max": f"{_quota(of)} {_PERIOD}"},
}
_CONTROLLERS = {"memory": "memory", "processes": "pids", "cpus": "cpu"}
_VERSION_ONE: dict[str, Callable[[Limits], dict[str, str]]] = {
    "memory": lambda of: {"memory.limit_in_bytes": str(of.memory), "memory.memsw.limit_in_bytes": str(of.memory)},
    "processes": lambda of: {"pids.max": str(of.processes)},
    "cpus": lambda of: {"cpu.cfs_quota_us": _quota(of)},
}


def group(limits: Limits) -> Group:
    """The group of one tree; it holds nothing before a process has joined it."""
    made = Group(f"{_PREFIX}{maker.identity()}-{uuid.uuid4().hex[:8]}", limits)
    own = _version_two(made.name)
    if own is not None:
        made.use(own, _VERSION_TWO)
    return made


def sweep() -> None:
    """End what is left in groups whose maker is dead, wherever it made them, and remove them.

    Groups of other pid namespaces stay: of their makers nothing can be said from here.
    """
    for root in {place for kind in ("cgroup2", "cgroup") for place in _mounts(kind)}:
        for folder, below, _ in os.walk(root):
            for entry in [name for name in below if name.startswith(_PREFIX)]:
                below.remove(entry)
                if maker.dead(entry.removeprefix(_PREFIX)):
                    _end(f"{folder}/{entry}")


def _end(path: str) -> None:
    _write(f"{path}/cgroup.kill", "1")
    for pid in _read(f"{path}/cgroup.procs").split():
        if pid == "0":  # of a namespace that is not seen from here; to kill it would mean our own process group
            continue
        try:
            os.kill(int(pid), signal.SIGKILL)
        except OSError:
            continue
    _remove(path, tries=20)


def _beside() -> list[str]:
    root, own = _mount("cgroup2"), _own(lambda fields: fields[1] == "")
    if root is None or own is None:
        return []
    here = os.path.normpath(f"{root}/{own}")
    return [here] if here == root else [here, os.path.dirname(here)]


def _above(controller: str) -> str | None:
    root, own = _mount("cgroup", controller), _controlled(controller)
    return None if root is None or own is None else os.path.normpath(f"{root}/{own}")


def _version_two(name: str) -> _Place | None:
    """A child of our own group, or beside it: a group with processes of its own cannot pass controllers down."""
    for parent in sorted(_beside(), key=lambda path: "memory" not in _read(f"{path}/cgroup.subtree_control")):
        if _make(f"{parent}/{name}"):
            return _Place("cgroup v2", f"{parent}/{name}")
    return None


def _version_one(name: str, controller: str) -> _Place | None:
    parent = _above(controller)
    made = parent is not None and _make(f"{parent}/{name}")
    return _Place("cgroup v1", f"{parent}/{name}") if made else None


def _mount(kind: str, option: str | None = None) -> str | None:
    for line in _read("/proc/self/mounts").splitlines():
        fields = line.split()
        if fields[2] == kind and (option is None or option in fields[3].split(",")):
            return fields[1]
    return None


def _mounts(kind: str) -> list[str]:
    return [fields[1] for fields in map(str.split, _read("/proc/self/mounts").splitlines()) if fields[2] == kind]


def _own(matches: Callable[[list[str]], bool]) -> str | None:
    for line in _read("/proc/self/cgroup").splitlines():
        fields = line.split(":", 2)
        if matches(fields):
            return fields[2]
    return None


def _controlled(controller: str) -> str | None:
    return _own(lambda fields: controller in fields[1].split(","))


def _make(path: str) -> bool:
    try:
        os.mkdir(path)
    except OSError:
        return False
    return True


def _remove(path: str, tries: int = 500) -> None:
    # On a busy machine the kernel may take seconds to be done with members that are already dead.
    for turn in range(tries):
        try:
            os.rmdir(path)
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(min(0.01, 0.0005 * 2**turn))
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
