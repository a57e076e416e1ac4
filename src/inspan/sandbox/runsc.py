"""Where ``runsc`` is, what it is asked for, and the script that leads one guest. Pure but for looking for the program.

``runsc`` (gVisor) runs a guest kernel as an ordinary process: what the job calls is answered there, and the host's
kernel is called by that process only. It runs inside a finished sandbox of level ``sandbox``, as the job's identity.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from functools import lru_cache
from typing import Any, Final

from inspan.errors import SandboxError
from inspan.sandbox import bubblewrap, launching
from inspan.sandbox.contract import Confinement
from inspan.sandbox.mounts import HOME_INSIDE

ROOT: Final = "/guest"
"""Where bubblewrap puts the guest's file system together, apart from everything ``runsc`` needs itself."""

UID: Final = 0
"""What the job's identity is called in the guest: ``runsc`` without root knows one identity and calls it so."""

PLATFORMS: Final = ("systrap", "ptrace")
"""How a guest's calls are caught, the better one first. Not ``kvm``: that would show the host's /dev/kvm inside."""

_PLACE, _STATE, _STAGED = "/run/inspan", "/run/runsc", "guest"
_STATE_BYTES = 16 << 20
_TABLE_BYTES = 32 << 10
"""What is read of the guest's process table. A pipe holds as much; more would wait for a reader who waits for us."""
_SYSTEM = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin")

_IN_MEMORY = {"/dev/shm": bubblewrap.SHM_BYTES, "/tmp": bubblewrap.TMP_BYTES, "/var/tmp": 64 << 20}
"""Places that stand in the guest's memory, and their sizes in bytes."""

UP, RAN, LEFT = b"--up\n", b"--ran\n", b"--left\n"
"""Marks in the leader's report: the guest is up and said what it is; the program was executed; who outlived it."""

LEADER = rf"""
set -u
exec 3>"/proc/self/fd/$1" 4<"/proc/self/fd/$2" 5<&0
platform=$3
guest() {{
    {_PLACE}/runsc --root={_STATE} --rootless --ignore-cgroups --network=host --overlay2=none \
        --platform="$platform" "$@"
}}
if ! guest run --detach --bundle {_PLACE} guest <&- >{_STATE}/log 2>&1; then
    cat {_STATE}/log >&3
    exit 70
fi
guest exec guest /bin/sh -c 'cat /proc/version; ls -d / >/dev/null 2>&1 || echo ls' <&- >&3 2>{_STATE}/log || exit 70
echo {UP.decode().strip()} >&3
read -r go <&4 || exit 70
trap 'guest kill --pid "$(cat {_STATE}/pid)" guest TERM >{_STATE}/log 2>&1' TERM
guest exec --process {_PLACE}/process.json --internal-pid-file {_STATE}/pid guest <&5 3>&- 4<&- 5<&- &
program=$!
while :; do
    wait "$program"
    status=$?
    kill -0 "$program" 2>{_STATE}/log || break
done
if [ -s {_STATE}/pid ]; then
    echo {RAN.decode().strip()} >&3
fi
echo {LEFT.decode().strip()} >&3
guest ps guest 2>{_STATE}/log | head -c {_TABLE_BYTES} >&3
exit "$status"
"""
"""Boots the guest, has it say what it is, waits for the word, and has it run the program; itself outside the guest.

Arguments: descriptors of the report and of the word, and the platform. Its own standard streams are the program's.
"""

_FIRST = "trap '' CHLD TERM HUP INT; exec sleep 2147483647"
"""The guest's first process: the guest lives as long as it does. The dead are not kept for it."""


def candidates() -> tuple[str, ...]:
    """Where ``runsc`` may be: the caller's PATH, then the system's directories."""
    named = [place for place in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(place)]
    return tuple(dict.fromkeys(f"{place}/runsc" for place in (*named, *_SYSTEM)))


def find() -> str:
    """The ``runsc`` to use.

    Raises:
        SandboxError: there is none.
    """
    for path in candidates():
        if shutil.which(path):
            return os.path.realpath(path)
    raise SandboxError(
        "no runsc (gVisor) on PATH",
        where=", ".join(candidates()),
        do="apt install runsc, or a release from gvisor.dev",
    )


@lru_cache(maxsize=4)
def about(path: str) -> tuple[str, tuple[str, ...]]:
    """The version of a ``runsc`` and the platforms it says it has, the better one first.

    Raises:
        SandboxError: it does not say.
    """
    version = re.search(r"runsc version (\S+)", _asked(path, "--version"))
    listed = _asked(path, "flags")
    said = re.search(r"-platform string\s+([^\n]*)", listed)
    if version is None or said is None:
        raise SandboxError(f"{path} does not say what it is", where="runsc --version; runsc flags")
    found = tuple(name for name in PLATFORMS if re.search(rf"\b{name}\b", said.group(1)))
    return version.group(1), found or PLATFORMS


def _asked(path: str, *arguments: str) -> str:
    try:
        done = subprocess.run([path, *arguments], capture_output=True, timeout=30, env={}, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"{path} cannot be run: {error}") from error
    return (done.stdout + done.stderr).decode(errors="replace")


def between(confinement: Confinement, path: str, platform: str, report: int, word: int) -> launching.Between:
    """What bubblewrap starts for a job in a guest.

    Args:
        path: the ``runsc``.
        report, word: descriptors the leader writes its report to and waits for the word on.
    """
    size = str(_STATE_BYTES)
    mount_points = [
        part for name in ("dev", "proc", "sys", "tmp", "run", "var/tmp") for part in ("--dir", f"{ROOT}/{name}")
    ]
    return launching.Between(
        argv=["/bin/sh", "-c", LEADER, "leader", str(report), str(word), platform],
        root=ROOT,
        uid=UID,
        holds=[(path, f"{_STAGED}/runsc", False)],
        files={
            f"{_STAGED}/config.json": json.dumps(bundle(confinement)),
            f"{_STAGED}/process.json": json.dumps(process(confinement)),
        },
        shown={_STAGED: _PLACE},
        arguments=[*mount_points, "--size", size, "--perms", "0700", "--tmpfs", _STATE],
    )


def bundle(confinement: Confinement) -> dict[str, Any]:
    """The guest as an OCI bundle (runtime specification 1.0): what it mounts, and its first process.

    The root is not marked read-only: what is read-only was bound so outside, and an older ``runsc`` fails to bind it so
    once more. Whatever may be written is a mount of its own: the root is cached as if only the guest changed it.
    """
    first = process(confinement) | {
        "args": ["/bin/sh", "-c", _FIRST],
        "cwd": "/",
        "env": [f"PATH={launching.DEFAULT_PATH}"],
    }
    return {
        "ociVersion": "1.0.0",
        "root": {"path": ROOT, "readonly": False},
        "hostname": "inspan",
        "process": first,
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
            *(_memory(target, size) for target, size in _IN_MEMORY.items()),
            *(_shared(target) for target in _mounted(confinement)),
        ],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "mount", "ipc", "uts")]},
    }


def _mounted(confinement: Confinement) -> list[str]:
    """What is a mount of its own in the guest: whatever may be written, and what lies below the guest's own memory."""
    plan = confinement.plan
    shown = {HOME_INSIDE: True, plan.root_inside: not plan.read_only}
    shown |= {one.target: one.writable for one in (*confinement.tools, *plan.binds) if os.path.exists(one.source)}
    covered = tuple(f"{place}/" for place in _IN_MEMORY)
    found = [target for target, writable in shown.items() if writable or target.startswith(covered)]
    return sorted(found, key=lambda target: target.split("/"))


def process(confinement: Confinement) -> dict[str, Any]:
    """The job's program as a process of an OCI bundle, without any capability."""
    limits = confinement.limits
    bounds = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": limits.file_size, "RLIMIT_NOFILE": limits.open_files}
    return {
        "terminal": False,
        "user": {"uid": UID, "gid": UID},
        "args": list(confinement.argv),
        "env": [f"{name}={value}" for name, value in launching.environment(confinement).items()],
        "cwd": launching.working_directory(confinement),
        "capabilities": {},
        "noNewPrivileges": True,
        "rlimits": [
            {"type": name, "soft": value, "hard": value} for name, value in bounds.items() if value is not None
        ],
    }


def _memory(target: str, size: int) -> dict[str, Any]:
    """A file system in the guest's memory."""
    return {
        "destination": target,
        "type": "tmpfs",
        "source": "tmpfs",
        "options": ["nosuid", "mode=1777", f"size={size}"],
    }


def _shared(target: str) -> dict[str, Any]:
    return {
        "destination": target,
        "type": "bind",
        "source": ROOT + target,
        "options": ["rbind", "rw", "nosuid", "nodev"],
    }
