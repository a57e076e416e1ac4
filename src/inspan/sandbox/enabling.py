"""What would let a level work where it does not: the one command for each thing that is known to be in the way."""

from __future__ import annotations

import os

_SWITCHES = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
)
"""Kernel settings that refuse user namespaces: where, which value refuses, and the command that allows them."""


def for_namespaces(what: str) -> str | None:
    """The one command that would let level ``sandbox`` work, None when none is known.

    Args:
        what: the error the attempt ended with.
    """
    if "no bubblewrap" in what:
        return "apt install bubblewrap (or: pip install 'inspan[sandbox]')"
    for path, refusing, command in _SWITCHES:
        try:
            with open(path) as reading:
                if reading.read().strip() == refusing:
                    return command
        except OSError:
            continue
    return _CONTAINER if contained() else None


_CONTAINER = (
    "docker run --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
    " --security-opt systempaths=unconfined ..."
)
"""How the container is to be started from outside; a user inside who is not root does without ``--cap-add``."""
_CAP_SYS_ADMIN = 1 << 21


def contained() -> bool:
    """Whether somebody put this process under a system call filter, or took a privilege from root."""
    with open("/proc/self/status") as reading:
        fields = dict(line.split(":\t", 1) for line in reading.read().splitlines() if ":\t" in line)
    weak_root = os.geteuid() == 0 and not int(fields.get("CapEff", "0"), 16) & _CAP_SYS_ADMIN
    return fields.get("Seccomp", "0").strip() == "2" or weak_root
