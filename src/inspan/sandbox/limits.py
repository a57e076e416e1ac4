"""The watch over one tree: what the kernel does not hold is measured, and a limit that was hit ends the tree."""

from __future__ import annotations

import os
import select
import stat
import threading
import time
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, Protocol

from inspan.sandbox import census
from inspan.sandbox.cgroups import Group
from inspan.sandbox.contract import Limits
from inspan.workspace.plan import MountPlan

TICK = 0.25
"""Seconds between two looks at the process table."""


def mechanisms(limits: Limits, group: dict[str, str], *, processes: str) -> dict[str, str]:
    """What holds each limit that is set: a control group where one took it, else what is left.

    Args:
        group: what the tree's control groups hold.
        processes: what holds their number without a group.
    """
    plain = dict.fromkeys(("memory", "cpu_seconds", "workspace_bytes", "workspace_files"), "watch")
    plain |= {"file_size": "rlimit", "open_files": "rlimit", "processes": processes, "cpus": "nothing"}
    plain["output_bytes"] = "reader"
    return {name: group.get(name, how) for name, how in plain.items() if getattr(limits, name) is not None}


def written_places(plan: MountPlan) -> list[str]:
    """Directories of the host's disk that a job with this plan can fill: what is shown writable is among them."""
    workspace = plan.upper if plan.kind == "overlay" else plan.directory
    places = [plan.home, *(bind.source for bind in plan.binds if bind.writable)]
    return places if workspace is None or plan.read_only else [*places, workspace]


class Size(NamedTuple):
    """What a directory tree takes: ``bytes`` allocated on disk, ``files`` entries.

    ``closed``: directories in it that could not be looked into.
    """

    bytes: int
    files: int
    closed: int = 0


def measure(roots: Sequence[str]) -> Size:
    """Add up directory trees without following links. A path too long to be walked counts as endless."""
    total, entries, closed = 0, 0, 0
    waiting = list(roots)
    while waiting:
        path = waiting.pop()
        try:
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        except OSError as error:
            if error.errno == 36:  # ENAMETOOLONG: nesting to hide from the count
                return Size(total, 1 << 62, closed)
            closed += isinstance(error, PermissionError)
            continue
        try:
            with os.scandir(fd) as listing:
                for entry in listing:
                    entries += 1
                    try:
                        found = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
                    total += found.st_blocks * 512
                    if stat.S_ISDIR(found.st_mode):
                        waiting.append(f"{path}/{entry.name}")
        finally:
            os.close(fd)
    return Size(total, entries, closed)


def nameless(members: Sequence[census.Process]) -> Size:
    """What files take that were removed while one of these processes holds them open, each file once.

    What stands in memory is left to that limit. ``closed``: processes that could not be looked at.
    """
    found: dict[tuple[int, int], int] = {}
    closed = 0
    for process in members:
        try:
            descriptors = os.listdir(f"/proc/{process.pid}/fd")
        except OSError as error:
            closed += isinstance(error, PermissionError)
            continue
        for number in descriptors:
            try:
                st = os.stat(f"/proc/{process.pid}/fd/{number}")
            except OSError:
                continue
            if stat.S_ISREG(st.st_mode) and st.st_nlink == 0 and st.st_dev != _memory_device():
                found[st.st_dev, st.st_ino] = st.st_blocks * 512
    return Size(sum(found.values()), len(found), closed)


@cache
def _memory_device() -> int:
    """The device of files that ``memfd_create`` makes, which never had a name."""
    descriptor = os.memfd_create("device", os.MFD_CLOEXEC)
    try:
        return os.fstat(descriptor).st_dev
    finally:
        os.close(descriptor)


def _left(roots: Sequence[str]) -> Size:
    """What the file system of the first of ``roots`` that is there has left, for whomever."""
    for root in roots:
        try:
            found = os.statvfs(root)
        except OSError:
            continue
        return Size(found.f_bfree * found.f_frsize, found.f_ffree)
    return Size(0, 0)


class Watched(Protocol):
    """What a watch needs to know of a tree."""

    def members(self) -> list[census.Process]:
        """The processes of the tree now."""

    def main_ended(self, seconds: float) -> bool:
        """Wait at most that long for the program itself to end; True once it has."""

    def on_main_end(self) -> None:
        """The program has ended: take the census of those it leaves behind, then let them be ended."""

    def kill(self) -> None:
        """End the tree."""


class Watch:
    """A thread that looks at a tree until its program has ended.

    Attributes:
        exceeded: which limit ended the tree: ``memory``, ``processes``, ``cpu_seconds``, ``workspace_bytes`` or
            ``workspace_files``.
    """

    def __init__(self, tree: Watched, limits: Limits, group: Group, roots: Sequence[str]) -> None:
        self.exceeded: str | None = None
        self._tree, self._limits, self._group, self._roots = tree, limits, group, tuple(roots)
        self._before, self._left = measure(self._roots), _left(self._roots)
        self._next_measure = self._used = 0.0
        self._thread = threading.Thread(target=self._run, name="inspan-limits", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def finish(self) -> None:
        """Wait for the thread, which ends with the program."""
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._tree.main_ended(TICK):
                if self.exceeded is None:
                    self.exceeded = self._look()
                if self.exceeded:
                    self._tree.kill()
        finally:
            # The kernel may have killed the program itself for a limit between two looks.
            if self.exceeded is None and self._group.out_of_memory():
                self.exceeded = "memory"
            self._tree.on_main_end()

    def _look(self) -> str | None:
        if self._group.out_of_memory():
            return "memory"
        if self._group.out_of_processes():
            return "processes"
        members = [process for process in self._tree.members() if not process.zombie]
        limits = self._limits
        if limits.processes and sum(process.threads for process in members) >= limits.processes:
            return "processes"
        if limits.memory and "memory" not in self._group.held and _memory(members, limits.memory):
            return "memory"
        if limits.cpu_seconds and self._cpu_seconds(members) >= limits.cpu_seconds:
            return "cpu_seconds"
        return self._workspace(members)

    def _cpu_seconds(self, members: Sequence[census.Process]) -> float:
        """Processor time so far. Without a group that counts it: of living processes and their collected children.

        What a process took with it that nobody collected is missing then, so the highest sum ever seen counts.
        """
        counted = self._group.cpu_seconds()
        self._used = max(self._used, sum(one.cpu for one in members) if counted is None else counted)
        return self._used

    def _workspace(self, members: Sequence[census.Process]) -> str | None:
        now = time.monotonic()
        if now < self._next_measure:
            return None
        size = self._grown(members)
        # A large workspace must not keep a processor busy: the pause is ten times what the look took.
        self._next_measure = time.monotonic() + max(2 * TICK, 10 * (time.monotonic() - now))
        limits = self._limits
        if limits.workspace_bytes is not None and size.bytes > limits.workspace_bytes:
            return "workspace_bytes"
        if limits.workspace_files is not None and size.files > limits.workspace_files:
            return "workspace_files"
        return None

    def _grown(self, members: Sequence[census.Process]) -> Size:
        """What the tree has taken since the start.

        A directory or process that is closed to us may hold anything: then whatever the file system has lost counts,
        even if it was another who took it. A job that closes nothing is never ended for that.
        """
        size, more = measure(self._roots), nameless(members)
        taken = size.bytes - self._before.bytes + more.bytes
        entries = size.files - self._before.files + more.files
        if size.closed or more.closed:
            left = _left(self._roots)
            taken = max(taken, self._left.bytes - left.bytes)
            entries = max(entries, self._left.files - left.files)
        return Size(taken, entries, size.closed)


def _memory(members: Sequence[census.Process], limit: int) -> bool:
    """Resident pages first, which count shared ones twice; only when those are too many, the exact sum."""
    if sum(process.rss for process in members) <= limit:
        return False
    exact = [census.proportional(process.pid) for process in members]
    # Of a process of another identity nothing more exact can be read without privileges.
    return sum(p.rss if value is None else value for p, value in zip(members, exact, strict=True)) > limit


def ended(pidfd: int, seconds: float | None) -> bool:
    """Wait for the process behind ``pidfd``; True once it is dead. None waits without end."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(None if seconds is None else max(0, int(seconds * 1000 + 0.999))))
