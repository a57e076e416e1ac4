"""What the kernel says about a held sandbox, read from outside, where nothing inside can reach.

A process's line in /proc is written by the kernel: what stands there before the first instruction of the job cannot be
forged by the job.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Mapping
from typing import Any

from inspan.errors import SandboxError
from inspan.sandbox.contract import Confinement
from inspan.spec.levels import PROMISES, promises

NAMESPACES = ("user", "mnt", "pid", "net", "ipc", "uts")
_SYS_OPENAT2, _O_PATH, _RESOLVE_IN_ROOT = 437, os.O_PATH, 0x10

_libc = ctypes.CDLL(None, use_errno=True)


def seen(pid: int) -> dict[str, Any] | None:
    """Namespaces, identity and privileges of a process; None when it is gone or cannot be looked at.

    Keys: ``namespaces`` and ``own`` (name to inode, of the process and of this one), ``uid``, ``CapEff``, ``CapBnd``
    (hexadecimal), ``NoNewPrivs``.
    """
    try:
        fields = _status(pid)
        inside = {name: os.stat(f"/proc/{pid}/ns/{name}").st_ino for name in NAMESPACES}
    except OSError:
        return None
    return {
        "namespaces": inside,
        "own": {name: os.stat(f"/proc/self/ns/{name}").st_ino for name in NAMESPACES},
        "uid": int(fields["Uid"].split()[0]),
        "CapEff": fields["CapEff"].strip(),
        "CapBnd": fields["CapBnd"].strip(),
        "NoNewPrivs": int(fields["NoNewPrivs"]),
    }


def identity(pid: int) -> dict[str, Any]:
    """Identity, privileges and filter of a process without namespaces of its own.

    Keys: ``uid``, ``CapEff``, ``CapPrm``, ``NoNewPrivs``, ``Seccomp``; numbers.

    Raises:
        SandboxError: it is gone.
    """
    try:
        fields = _status(pid)
    except OSError as gone:
        raise SandboxError("the confined process ended before it was looked at") from gone
    return {
        "uid": int(fields["Uid"].split()[0]),
        "CapEff": int(fields["CapEff"], 16),
        "CapPrm": int(fields["CapPrm"], 16),
        "NoNewPrivs": int(fields["NoNewPrivs"]),
        "Seccomp": int(fields["Seccomp"]),
    }


FILTERED = 2
"""The mode of a process under a system call filter."""


def seccomp_mode(pid: int) -> int | None:
    """The mode of a process, a dead one that was not reaped included; None when it is gone."""
    try:
        return int(_status(pid)["Seccomp"])
    except (OSError, KeyError):
        return None


def other_program(pid: int, than: int) -> bool:
    """Whether two processes are known to run different program files."""
    try:
        return os.readlink(f"/proc/{pid}/exe") != os.readlink(f"/proc/{than}/exe")
    except OSError:
        return False


def _status(pid: int) -> dict[str, str]:
    with open(f"/proc/{pid}/status") as reading:
        return dict(line.split(":\t", 1) for line in reading.read().splitlines() if ":\t" in line)


def require(found: dict[str, Any], confinement: Confinement) -> None:
    """Refuse a sandbox that is not one.

    Raises:
        SandboxError: names the first thing that does not hold.
    """
    shared = [name for name in NAMESPACES if found["namespaces"][name] == found["own"][name]]
    problems = [f"the {name} namespace is the host's" for name in shared]
    if found["uid"] != confinement.plan.uid:
        problems.append(f"the uid is {found['uid']}, not {confinement.plan.uid}")
    if int(found["CapEff"], 16) or int(found["CapBnd"], 16):
        problems.append("capabilities are left")
    if found["NoNewPrivs"] != 1:
        problems.append("new privileges can be gained")
    if problems:
        raise SandboxError(f"the sandbox does not hold: {'; '.join(problems)}")


_NAMESPACE_OF = {"own_network": "net", "own_processes": "pid", "own_mounts": "mnt"}
"""The namespace by which a promise is kept."""


def require_level(level: str, minimum: str | None, found: Mapping[str, Any]) -> None:
    """Refuse a started tree whose proof is not that of its level, or whose level is below the minimum. Asked once more
    here, of whatever driver, before a prompt is handed over.

    Args:
        minimum: the weakest level that is demanded, None without a demand.
        found: the proof of the held tree.

    Raises:
        SandboxError: names what is missing.
        UnknownName: for a level this release does not have.
    """
    promised, ranks = promises(level), list(PROMISES)
    if minimum is not None and (minimum not in ranks or ranks.index(level) < ranks.index(minimum)):
        raise SandboxError(f"level {level} is below the demanded minimum {minimum}", where="min_sandbox")
    inside, outside = found.get("namespaces", {}), found.get("own", {})
    missing = [f"a {name} namespace of its own" for promise, name in _NAMESPACE_OF.items() if getattr(promised, promise)
               and (not inside.get(name) or inside[name] == outside.get(name))]  # fmt: skip
    if (
        promised.hides_host
        and not promised.own_mounts
        and not {"reading the host", "tcp"} <= {*found.get("refused", ())}
    ):
        missing.append("that files and addresses are refused")
    if promised.own_kernel and found.get("guest_kernel") in (None, found.get("host_kernel")):
        missing.append("a kernel of its own")
    if missing:
        raise SandboxError(f"level {level} was started and not proved: {', '.join(missing)}")


def number_inside(pid: int) -> int:
    """The number a process of a sandbox has in the sandbox's pid namespace; 0 when it is gone."""
    try:
        numbers = _status(pid)["NSpid"].split()
    except (OSError, KeyError):
        return 0
    return int(numbers[1] if len(numbers) > 1 else numbers[0])


def executable_inside(pid: int, program: str, path: str, cwd: str, below: str = "") -> bool:
    """Whether ``program`` is an executable file in the file system that process ``pid`` sees, at ``below`` in it."""
    try:
        root = os.open(f"/proc/{pid}/root{below}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if "/" in program:
            candidates = [os.path.join(cwd, program)]
        else:
            candidates = [os.path.join(cwd, directory, program) for directory in path.split(":")]
        return any(_executable(root, candidate) for candidate in candidates)
    finally:
        os.close(root)


def _executable(root: int, path: str) -> bool:
    # Links are resolved as the process would: absolute ones start at its root, not at ours.
    how = struct.pack("QQQ", _O_PATH | os.O_CLOEXEC, 0, _RESOLVE_IN_ROOT)
    fd = _libc.syscall(_SYS_OPENAT2, root, os.fsencode(path.lstrip("/")), how, len(how))
    if fd < 0:
        return False
    try:
        mode = os.fstat(fd).st_mode
        return stat.S_ISREG(mode) and bool(mode & 0o111)
    finally:
        os.close(fd)
