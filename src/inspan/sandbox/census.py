"""Which processes belong to a tree, read from /proc, and their end.

Standard library only: the keeper of level ``none`` uses it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGESIZE")


class Process(NamedTuple):
    """One line of the process table.

    ``started`` (clock ticks since boot) tells two users of one number apart; ``rss`` in bytes; ``zombie`` processes
    hold nothing but their number.
    """

    pid: int
    parent: int
    started: int
    name: str
    threads: int
    rss: int
    zombie: bool


def processes() -> dict[int, Process]:
    """Every process visible in this /proc, by number."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            process = _read(int(entry))
            if process:
                found[process.pid] = process
    return found


def _read(pid: int) -> Process | None:
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
        pid, int(fields[1]), int(fields[19]), name, int(fields[17]), int(fields[21]) * _PAGE, fields[0] in (b"Z", b"X")
    )


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
    found = []
    for process in table.values():
        try:
            with open(f"/proc/{process.pid}/environ", "rb") as reading:
                held = marker in reading.read().split(b"\0")
        except OSError:
            continue
        if held and not process.zombie:
            found.append(process)
    return found


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
