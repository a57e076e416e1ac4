"""Directories of the host that the user lets an agent write to, beside its workspace.

A grant is the user's own word, by a flag or in their configuration, never the repository's. What is written there is no
part of the change and outlives the job, so the agent alone sees it: set-up and checks do not, or one job would decide
what another one builds and what its gate sees.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence

from inspan.errors import InvalidSpec, SandboxError
from inspan.sandbox.toolchains import CREDENTIAL_FILES, below
from inspan.workspace.layout import Owner
from inspan.workspace.plan import Bind

_SYSTEM = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/gnu", "/proc", "/run", "/sbin",
    "/sys", "/usr", "/var/run",
)  # fmt: skip
_SHARED = ("/tmp", "/var/tmp", "/home", "/root", "/opt", "/srv", "/mnt", "/media", "/var", "/var/lib")
"""Fit only below: they hold what is other programs', their sockets among it."""

MEMORY = "/dev/shm"
"""Of all devices the one that may be granted, where the level does not give the job one of its own."""


def grants(
    paths: Iterable[str], *, home: str, forbidden: Sequence[str], owner: Owner, own_mounts: bool
) -> tuple[Bind, ...]:
    """Binds for the granted directories.

    Args:
        paths: absolute, as the user named them.
        home: the caller's home directory.
        forbidden: what must stay out of reach: the state, the checkout, its git directories, the user's configuration.
            Neither they nor what holds them nor anything in them may be granted.
        owner: the identity of the job's processes.
        own_mounts: whether the level has a file system view of its own.

    Raises:
        InvalidSpec: names the directory and why it cannot be granted.
    """
    made = {}
    for path in paths:
        why = _unfit(path, home, forbidden, own_mounts) or _closed(path, owner)
        if why:
            raise InvalidSpec(
                f"{path} cannot be made writable: {why}",
                where="--writable, the key writable of the user's configuration",
                do="name a directory made for the purpose",
            )
        made[path] = Bind(source=path, target=path, writable=True)
    return tuple(made.values())


def unmoved(binds: Sequence[Bind]) -> Sequence[Bind]:
    """The grants of a job that is about to start, each still the directory it was.

    Raises:
        SandboxError: (``environment_lost``) a directory is gone, or a link stands in its way.
    """
    for bind in binds:
        if not os.path.isdir(bind.source) or os.path.realpath(bind.source) != bind.source:
            raise SandboxError(
                f"{bind.source}, which the agent may write to, is no longer the directory it was",
                do="look at what stands there now",
                reason="environment_lost",
            )
    return binds


def _unfit(path: str, home: str, forbidden: Sequence[str], own_mounts: bool) -> str | None:
    if not os.path.isdir(path):
        return "it is no directory"
    if os.path.realpath(path) != path:
        return f"it is reached by a link, and is {os.path.realpath(path)}"
    if path == MEMORY:
        return "every job has its own at this level" if own_mounts else None
    homes = {os.path.normpath(home), os.path.realpath(home)}
    if path == "/" or path in _SHARED or any(below(one, path) for one in homes):
        return "it holds what is not the job's"
    if below(path, *_SYSTEM):
        return "it belongs to the system"
    for place in forbidden:
        real = os.path.realpath(place)
        if below(path, real) or below(real, path):
            return f"{place} must stay out of reach"
    return _secret(path, homes) or _socket(path)


def _secret(path: str, homes: Iterable[str]) -> str | None:
    for name in CREDENTIAL_FILES:
        if os.path.lexists(os.path.join(path, name)):
            return f"it holds {name}"
        if any(below(path, os.path.join(home, name)) for home in homes):
            return f"it is in {name}"
    return None


def _socket(path: str) -> str | None:
    """A socket leads to whoever listens, outside."""
    with os.scandir(path) as entries:
        found = next((e.name for e in entries if stat.S_ISSOCK(e.stat(follow_symlinks=False).st_mode)), None)
    return f"it holds the socket {found}" if found else None


def _closed(path: str, owner: Owner) -> str | None:
    """A caller who is root gives that up for the job; the directory must let the job's user in all the same."""
    found = os.stat(path)
    if owner.uid == os.geteuid():
        return None if os.access(path, os.W_OK | os.X_OK) else "you may not write there"
    shift = 6 if found.st_uid == owner.uid else 3 if found.st_gid == owner.gid else 0
    may = (found.st_mode >> shift) & 0o3 == 0o3
    return None if may else f"the job's user (uid {owner.uid}) may not write there"
