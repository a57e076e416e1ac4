"""Who made a tree: an identity that no later process can be mistaken for, and ending what a dead maker left.

A tree dies with its maker. Where neither a pid namespace nor a parent-death signal saw to that (both its keeper and its
maker were killed at once, say), the next start of anything finds it by this identity and ends it.
"""

from __future__ import annotations

import os
import re
from functools import cache

from inspan.sandbox import census

MARKER = "INSPAN_TREE"
"""Environment variable that marks the processes of one tree: the maker's identity and a word of the tree's own."""

_IDENTITY = re.compile(r"(\d+)-(\d+)-(\d+)")


def identity() -> str:
    """``<namespaces>-<pid>-<start in clock ticks>`` of this process."""
    return f"{_namespaces()}-{os.getpid()}-{_started(os.getpid())}"


def dead(name: str) -> bool:
    """Whether ``name`` begins with the identity of a process of these namespaces that is no more.

    Of a process of another namespace nothing can be said from here: False.
    """
    found = _IDENTITY.match(name)
    if found is None or int(found[1]) != _namespaces():
        return False
    return _started(int(found[2])) != int(found[3])


def end_left() -> tuple[str, ...]:
    """End every process whose maker is dead; gives their command names. Only what this user may end is found."""
    prefix = f"{MARKER}=".encode()
    left = []
    for process in census.processes().values():
        mark = next((v for v in census.environment(process.pid) if v.startswith(prefix)), b"")
        if not process.zombie and dead(mark[len(prefix) :].decode("ascii", "replace")):
            left.append(process)
    census.kill(left)
    return census.names(left)


@cache
def _namespaces() -> int:
    """Pid and time namespace as one number: the same process started at another time in another one."""
    try:
        moment = os.stat("/proc/self/ns/time").st_ino
    except OSError:  # before Linux 5.6
        moment = 0
    return int(f"{os.stat('/proc/self/ns/pid').st_ino}{moment}")


def _started(pid: int) -> int:
    """When a process started; 0 for one that is not there or is only waiting to be collected."""
    found = census.process(pid)
    return found.started if found is not None and not found.zombie else 0
