"""What was shown to work here, remembered so that not every command has to show it again.

Only a success is remembered, in the state directory, together with everything it depends on that can be read cheaply:
machine and boot, namespaces and privileges of the caller, kernel settings, the file system of the state, the programs
that took part. Any difference, or a memory that cannot be read, means that it is shown anew. What is remembered only
decides what is *tried*: every start is proved on its own, so that a wrong memory ends in a refusal and never in less.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from inspan import __version__
from inspan.files import write_whole
from inspan.spec.paths import State

_SETTINGS = (
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/user/max_user_namespaces",
    "/proc/self/attr/current",
    "/proc/self/uid_map",
)
_PRIVILEGES = ("Uid", "Gid", "CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp")
_NAMESPACES = ("user", "mnt", "pid", "net", "cgroup")


def remembered(root: Path, name: str, prove: Callable[[], bool], *, programs: tuple[str, ...] = ()) -> bool:
    """Whether ``name`` was shown to work below the state directory ``root``, by ``prove`` when nobody remembers.

    Args:
        root: the state directory; one that is not there, or that others may write to, remembers nothing.
        name: what is shown.
        prove: shows it by doing.
        programs: files that take part; another size, time or inode of one makes a memory worthless.
    """
    if not _private(root):
        return prove()
    facts = _facts(root, programs)
    if _memory(root, name) == facts:
        return True
    works = prove()
    if works:
        _remember(root, name, facts)
    else:
        forget(root, name)
    return works


def forget(root: Path, *names: str) -> None:
    """Show ``names`` again next time; all when none is named."""
    with contextlib.suppress(OSError):
        for path in [_place(root, name) for name in names] or list(_place(root, "x").parent.iterdir()):
            path.unlink(missing_ok=True)


def _private(root: Path) -> bool:
    try:
        found = os.lstat(root)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _place(root: Path, name: str) -> Path:
    return State(root).shown / f"{name}.json"


def _memory(root: Path, name: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(_place(root, name).read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _remember(root: Path, name: str, facts: Mapping[str, Any]) -> None:
    """Best effort: what is not remembered is shown again."""
    path = _place(root, name)
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_whole(path, json.dumps(facts, indent=1, sort_keys=True).encode())


def _facts(root: Path, programs: tuple[str, ...]) -> dict[str, Any]:
    own = Path(__file__).resolve().parents[1]
    files = (sys.executable, *programs, *(str(own / part) for part in ("workspace/probe.py", "sandbox/launcher.py")))
    status = dict(line.split(":\t", 1) for line in _read("/proc/self/status").splitlines() if ":\t" in line)
    return {
        "inspan": __version__,
        "settings": {path: _read(path) for path in _SETTINGS},
        "privileges": {name: status.get(name) for name in _PRIVILEGES},
        "namespaces": {name: _inode(f"/proc/self/ns/{name}") for name in _NAMESPACES},
        "state": _inode(os.fspath(root)),
        "programs": {path: _inode(path) for path in files},
    }


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def _inode(path: str) -> list[int] | None:
    """What tells one file from another that took its place."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    lasting = [found.st_dev, found.st_ino]  # times of directories and namespaces say nothing
    of_file = stat.S_ISREG(found.st_mode) and not path.startswith("/proc/")
    return [*lasting, found.st_mtime_ns, found.st_size] if of_file else lasting
