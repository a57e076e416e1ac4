"""Finding programs on the trusted side: on a PATH, in Inspan's own prefix, and the Python that Inspan runs on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from inspan.harness.contract import Installed
from inspan.workspace.plan import Bind

SYSTEM_PREFIXES = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/")
"""Shown inside by every level's tools table."""


def on_path(program: str, path: str) -> str | None:
    """The absolute path of ``program`` in a PATH string, None when it is not there. Relative entries are ignored."""
    for directory in path.split(os.pathsep):
        candidate = os.path.join(directory, program)
        if os.path.isabs(directory) and executable(candidate):
            return candidate
    return None


def executable(path: str) -> bool:
    """Whether ``path`` is a file that may be executed."""
    return os.path.isfile(path) and os.access(path, os.X_OK)


def shown(paths: Iterable[str]) -> tuple[Bind, ...]:
    """Read-only binds that show each path at itself, without those that every sandbox shows anyway."""
    wanted = dict.fromkeys(p for p in paths if not f"{p}/".startswith(SYSTEM_PREFIXES))
    return tuple(Bind(source=os.path.realpath(p), target=p) for p in wanted)


def interpreter() -> Installed:
    """The Python that Inspan itself runs on, without its virtual environment: enough for a standard-library program."""
    base = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    return Installed(
        argv=(base,),
        version=".".join(map(str, sys.version_info[:3])),
        binds=shown([os.path.realpath(sys.base_prefix)]),
        source="builtin",
    )


def environment_of(python: str) -> list[str]:
    """The directories a virtual environment's interpreter needs: the environment and its base. Empty for any other."""
    prefix = os.path.dirname(os.path.dirname(python))
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8") as f:
            settings = dict(line.split("=", 1) for line in f if "=" in line)
    except (OSError, UnicodeDecodeError):
        return []
    home = next((v.strip() for k, v in settings.items() if k.strip() == "home"), "")
    base = os.path.dirname(os.path.realpath(home)) if os.path.isabs(home) else ""
    real = os.path.dirname(os.path.dirname(os.path.realpath(python)))
    return [p for p in dict.fromkeys((prefix, base, real)) if p]


def newest(prefix: str, name: str, files: Sequence[str], pinned: str) -> tuple[str, str] | None:
    """The installed (version, directory) of a harness below ``prefix``: the pinned version when it is there, else the
    highest one. A directory counts only when every file of ``files`` is in it."""
    root = os.path.join(prefix, name)
    try:
        versions = [v for v in os.listdir(root) if not v.startswith(".")]
    except OSError:
        return None
    whole = [v for v in versions if all(os.path.isfile(os.path.join(root, v, f)) for f in files)]
    if not whole:
        return None
    best = pinned if pinned in whole else max(whole, key=_ordinal)
    return best, os.path.join(root, best)


def _ordinal(version: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in version.replace("-", ".").split(".")]
