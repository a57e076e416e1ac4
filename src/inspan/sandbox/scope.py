"""A transient systemd scope for one tree, where no control group of our own can be made but systemd will make one.

The manager is asked over its bus to take a running process into a new scope (``StartTransientUnit`` with ``PIDs``, see
org.freedesktop.systemd1(5)). What took effect is read back from the control group; nothing is assumed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time

from inspan.sandbox.contract import Limits

_PATIENCE = 5.0  # seconds systemd may take
_SIGNATURE = "ssa(sv)a(sa(sv))"
_MANAGER = ("org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")


def manager() -> tuple[str, ...] | None:
    """How to reach the systemd that answers to this user: ``busctl`` with its option; None when there is none."""
    program = shutil.which("busctl")
    if program is None or not os.path.isdir("/run/systemd/system"):
        return None
    runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.geteuid()}")
    if os.path.exists(f"{runtime}/systemd/private"):
        return (program, "--user")
    return (program, "--system") if os.geteuid() == 0 and os.path.exists("/run/dbus/system_bus_socket") else None


def adopt(pid: int, name: str, limits: Limits) -> str | None:
    """Have systemd put a process, and so its later descendants, into a scope with these limits.

    Returns:
        the path of the scope's control group within its hierarchy, None when there is no systemd or it refused.
    """
    reached = manager()
    if reached is None:
        return None
    call = [*reached, "call", *_MANAGER, "StartTransientUnit", _SIGNATURE, f"{name}.scope", "fail"]
    values = properties(pid, limits)
    call += [str(len(values)), *(word for words in values for word in words), "0"]
    try:
        done = subprocess.run(call, capture_output=True, timeout=_PATIENCE, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _arrived(pid, f"{name}.scope") if done.returncode == 0 else None


def properties(pid: int, limits: Limits) -> list[tuple[str, ...]]:
    """The scope's properties as ``busctl`` takes them: name, type, value."""
    out: list[tuple[str, ...]] = [("PIDs", "au", "1", str(pid)), ("CollectMode", "s", "inactive-or-failed")]
    if limits.memory:
        out += [("MemoryMax", "t", str(limits.memory)), ("MemorySwapMax", "t", "0")]
    if limits.processes:
        out.append(("TasksMax", "t", str(limits.processes)))
    if limits.cpus:
        out.append(("CPUQuotaPerSecUSec", "t", str(int(limits.cpus * 1_000_000))))
    return out


def _arrived(pid: int, unit: str) -> str | None:
    """Wait until the process stands in the scope: the call returns when the work is queued."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        try:
            with open(f"/proc/{pid}/cgroup", encoding="utf-8") as reading:
                lines = [line.rstrip("\n").split(":", 2) for line in reading]
        except OSError:
            return None
        found = next((fields[2] for fields in lines if fields[0] == "0" and fields[2].endswith(f"/{unit}")), None)
        if found is not None:
            return found
        time.sleep(0.005)
    return None
