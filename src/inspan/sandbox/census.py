"""Which processes belong to a tree, read from /proc, and their end.

Standard library only: the keeper uses it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGESIZE")
_LISTS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # CONFIG_PROC_CHILDREN
_TICKS = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """One line of the process table.

    ``started`` (clock ticks since boot) tells two users of one number apart; ``rss`` in bytes; ``zombie`` processes
    hold nothing but their number; ``cpu``: seconds of processor time, that of its collected children included.
    """

    pid: int
    parent: int
    started: int
    name: str
    threads: int
    rss: int
    zombie: bool
    cpu: float = 0.0


def processes() -> dict[int, Process]:
    """Every process visible in this /proc, by number."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            read = process(int(entry))
            if read:
                found[read.pid] = read
    return found


def process(pid: int) -> Process | None:
    """One process; None when there is none of this number."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as reading:
            line = reading.read()
    except OSError:
        return None
    # The name may hold blanks and parentheses; the last one closes it.
    before, _, after = line.rpartition(b")")
    name = before.partition(b"(")[2].decode(errors="replace")
    fields = after.split()
    return Process(
        pid=pid,
        parent=int(fields[1]),
        started=int(fields[19]),
        name=name,
        threads=int(fields[17]),
        rss=int(fields[21]) * _PAGE,
        zombie=fields[0] in (b"Z", b"X"),
        cpu=sum(map(int, fields[11:15])) / _TICKS,
    )


def children(pid: int) -> list[int] | None:
    """Numbers of a process's children, without a look at the whole table; None where the kernel does not list them.

    Good for finding one that is there. Who must find all takes ``descendants``: this can miss some while others end.
    """
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as reading:
            return [int(number) for number in reading.read().split()]
    except FileNotFoundError:
        return [] if _LISTS_CHILDREN else None
    except OSError:
        return []


def descendants(root: int, table: dict[int, Process] | None = None) -> list[Process]:
    """All processes below ``root``, zombies included, without ``root`` itself."""
    table = processes() if table is None else table
    children: dict[int, list[Process]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += [process.pid for process in below]
    return found


def marked(marker: bytes, table: dict[int, Process] | None = None) -> list[Process]:
    """Live processes whose initial environment holds the line ``marker`` (``NAME=value``)."""
    table = processes() if table is None else table
    return [one for one in table.values() if not one.zombie and marker in environment(one.pid)]


def environment(pid: int) -> list[bytes]:
    """The environment a process was started with, ``NAME=value`` each; empty when it cannot be read."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as reading:
            return reading.read().split(b"\0")
    except OSError:
        return []


def names(found: Iterable[Process]) -> tuple[str, ...]:
    """Command names of the live ones, each once, sorted, for people."""
    return tuple(sorted({process.name for process in found if not process.zombie}))


def proportional(pid: int) -> int | None:
    """Memory of one process with shared pages divided among their users, in bytes; None when it cannot be read."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as reading:
            for line in reading:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return None


def kill(members: list[Process]) -> None:
    """SIGKILL to all, stopped first, so that what forks cannot outrun us; who is gone or another user's is passed."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in members:
            try:
                os.kill(process.pid, number)
            except (ProcessLookupError, PermissionError):
                pass
