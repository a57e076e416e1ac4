"""Who is alive: the tree of an attempt by recorded ids, never by name.

A pid alone is reused by the kernel, so a process is known by its pid *and* its start time, and a tree in a pid
namespace by the inode of that namespace and the start time of its oldest process: the inode is reused as well, by the
next namespace anybody makes, and the first process of a namespace lives as long as it does.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterator

import msgspec

from inspan.spec.paths import AttemptPaths

_PR_SET_CHILD_SUBREAPER = 36


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """``tree.json``: how to recognise the tree of an attempt after its runner is gone.

    Attributes:
        pid, start: the outermost process and its start time in clock ticks since boot.
        boot: the boot it belongs to; after another one nothing of it can live.
        pid_namespace: inode of the namespace the tree lives in, None where it shares the runner's.
        namespace_start: start time of the oldest process in that namespace.
    """

    pid: int
    start: int
    boot: str
    pid_namespace: int | None = None
    namespace_start: int | None = None


def become_subreaper() -> None:
    """Processes that lose their parent below us become our children, so that they can be counted and reaped."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def boot_id() -> str:
    """An id of this boot of the machine."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        return f.read().strip()


def _stat(pid: int) -> list[str] | None:
    """The fields after the name: state, parent, ...; None when the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return f.read().rpartition(")")[2].split()
    except OSError:
        return None


def start_time(pid: int) -> int | None:
    """Start time in ticks since boot, None when the process is gone or a zombie."""
    fields = _stat(pid)
    return None if fields is None or fields[0] in "ZX" else int(fields[19])


def namespace(pid: int) -> int | None:
    """Inode of the process's pid namespace, None when it cannot be read."""
    try:
        return os.stat(f"/proc/{pid}/ns/pid").st_ino
    except OSError:
        return None


def _pids() -> Iterator[int]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            yield int(name)


def descendants(root: int) -> list[int]:
    """Live processes below ``root`` at this moment."""
    below: dict[int, list[int]] = {}
    for pid in _pids():
        fields = _stat(pid)
        if fields is not None and fields[0] not in "ZX":
            below.setdefault(int(fields[1]), []).append(pid)
    found, queue = [], [root]
    while queue:
        children = below.get(queue.pop(), [])
        found += children
        queue += children
    return found


def reap() -> None:
    """Collect every ended child; only after the driver of the sandbox has taken the status it waits for."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def describe(pid: int) -> Tree:
    """What to remember of a tree whose outermost process is ``pid``, once something runs in it."""
    inner = {ns for p in [pid, *descendants(pid)] if (ns := namespace(p)) is not None} - {namespace(os.getpid())}
    only = inner.pop() if len(inner) == 1 else None
    members = _members(only) if only is not None else {}
    return Tree(
        pid=pid,
        start=start_time(pid) or 0,
        boot=boot_id(),
        pid_namespace=only if members else None,
        namespace_start=min(members.values(), default=None),
    )


def _members(inode: int) -> dict[int, int]:
    """Live processes of a pid namespace with their start times."""
    started = {p: start_time(p) for p in _pids() if namespace(p) == inode}
    return {p: start for p, start in started.items() if start is not None}


def alive(tree: Tree) -> list[int]:
    """Live processes of a recorded tree."""
    if tree.boot != boot_id():
        return []
    found = [tree.pid, *descendants(tree.pid)] if start_time(tree.pid) == tree.start else []
    if tree.pid_namespace is not None:
        members = _members(tree.pid_namespace)
        if min(members.values(), default=None) == tree.namespace_start:
            found += members
    return sorted(set(found))


def end(tree: Tree, patience: float = 10.0) -> list[int]:
    """Wait until a tree whose runner is gone has ended, which it does by itself; the pids that live on, normally none.

    Killed only in the second half of ``patience``: its keeper knows better whom to end, as long as it lives.
    """
    began = time.monotonic()
    while left := alive(tree):
        waited = time.monotonic() - began
        if waited > patience:
            return left
        for pid in left if waited > patience / 2 else ():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return []


def write(paths: AttemptPaths, tree: Tree) -> None:
    """Remember the tree in the attempt's directory."""
    (paths.root / "tree.json").write_bytes(msgspec.json.encode(tree))


def read(paths: AttemptPaths) -> Tree | None:
    """The remembered tree, None when nothing was started."""
    try:
        return msgspec.json.decode((paths.root / "tree.json").read_bytes(), type=Tree)
    except (OSError, msgspec.MsgspecError):
        return None
