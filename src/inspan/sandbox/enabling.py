"""What would let a level work where it does not: the one command for each thing that is known to be in the way."""

from __future__ import annotations

import errno
import os
import shutil

from inspan.sandbox import landlock

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

_INSTALLERS = (
    ("apt-get", "apt-get install bubblewrap"),
    ("dnf", "dnf install bubblewrap"),
    ("pacman", "pacman -S bubblewrap"),
    ("zypper", "zypper install bubblewrap"),
    ("apk", "apk add bubblewrap"),
)
_MODULES = "/sys/kernel/security/lsm"

CONTAINER = (
    "docker run --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
    " --security-opt systempaths=unconfined ..."
)
"""How the container is to be started from outside; a user inside who is not root does without ``--cap-add``."""
WEAK_ROOT = (
    "docker run --user 1000:1000 ... (an ordinary user needs no capability; root needs CHOWN, SETUID and SETGID)"
)
"""For a root without the capabilities by which it gives root up."""
PASSABLE = "export INSPAN_HOME=/var/lib/inspan, or any place that the sandbox's user may pass to"
_TRACING = ("/proc/sys/kernel/yama/ptrace_scope", "sysctl -w kernel.yama.ptrace_scope=1")
UNFILTERED = "docker run --security-opt seccomp=unconfined ..."
_CAP_SYS_ADMIN = 1 << 21


def for_namespaces(what: str) -> str | None:
    """The one command that would let level ``sandbox`` (or ``gvisor``) work, None when none is known.

    Args:
        what: the error the attempt ended with.
    """
    if "no runsc" in what:
        packaged = shutil.which("apt-get") is not None
        return "apt-get install runsc" if packaged else "install runsc: https://gvisor.dev/docs/user_guide/install/"
    if "no bubblewrap" in what:
        system = next((command for program, command in _INSTALLERS if shutil.which(program)), None)
        extra = "pip install 'inspan[sandbox]'"
        return f"{system} (or: {extra})" if system else extra
    for path, refusing, command in _SWITCHES:
        if _read(path) == refusing:
            return command
    if not os.path.exists("/proc/self/ns/user"):
        return "boot a kernel built with CONFIG_USER_NS"
    return CONTAINER if contained() else None


def for_landlock(version: int) -> tuple[str, str]:
    """What keeps level ``landlock`` from working, and the one thing that would help.

    Args:
        version: as ``landlock.interface`` gives it.
    """
    if version > 0:
        what = f"Landlock's interface is version {version} here; TCP is held from version {landlock.LEAST} on"
        return what, "boot Linux 6.7 or newer"
    if version == -errno.EOPNOTSUPP:
        others = _read(_MODULES) or "lockdown,yama,integrity,apparmor"
        return "Landlock is switched off on this kernel", f"boot with the kernel parameter lsm=landlock,{others}"
    if filtered():
        return "a system call filter refuses Landlock", UNFILTERED
    return "this kernel has no Landlock", "boot Linux 6.7 or newer, built with CONFIG_SECURITY_LANDLOCK"


def for_confining(error: str) -> str | None:
    """What would help where a process could not be confined at level ``landlock``, None when nothing is known.

    Args:
        error: what went wrong, as the keeper said it.
    """
    path, command = _TRACING
    if error.startswith("tcp:") and _read(path) in ("2", "3"):  # the watcher may not read what it is to judge
        return command
    return PASSABLE if os.strerror(errno.EACCES) in error else None


def contained() -> bool:
    """Whether somebody put this process under a system call filter, or took a privilege from root."""
    weak_root = os.geteuid() == 0 and not int(_status().get("CapEff", "0"), 16) & _CAP_SYS_ADMIN
    return filtered() or weak_root


def filtered() -> bool:
    """Whether somebody put this process under a system call filter."""
    return _status().get("Seccomp", "0").strip() == "2"


def _status() -> dict[str, str]:
    with open("/proc/self/status") as reading:
        return dict(line.split(":\t", 1) for line in reading.read().splitlines() if ":\t" in line)


def _read(path: str) -> str:
    try:
        with open(path) as reading:
            return reading.read().strip()
    except OSError:
        return ""
