"""Where a workspace stands inside, and what a directory's ancestors would tell an agent."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_SYSTEM = frozenset(
    [
        "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/media", "/mnt", "/opt",
        "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/usr/bin", "/usr/include", "/usr/lib",
        "/usr/libexec", "/usr/local", "/usr/local/bin", "/usr/local/lib", "/usr/sbin", "/usr/share", "/usr/src", "/var",
        "/var/lib", "/var/run", "/var/tmp", "/workspace",
    ]
)  # fmt: skip
_SYNTHETIC = ("/dev/", "/proc/", "/sys/", "/run/inspan/")

FALLBACK = "/workspace"
"""Where a workspace stands when its checkout is at a path that has a meaning of its own."""

_SETTINGS = (
    ".aider.conf.yml", ".claude", ".codex", ".cursor", ".cursorrules", ".env", ".mcp.json", ".npmrc", ".opencode",
    "AGENTS.md", "AGENTS.override.md", "CLAUDE.local.md", "CLAUDE.md", "GEMINI.md", "conftest.py", "opencode.json",
    "pytest.ini", "setup.cfg", "tox.ini",
)  # fmt: skip


def inside_root(toplevel: str) -> str:
    """Absolute path of the workspace inside: the checkout's own, or ``/workspace`` when that is a system directory or
    somebody's home itself."""
    if toplevel in _SYSTEM or toplevel.startswith(_SYNTHETIC) or toplevel == os.path.realpath(os.path.expanduser("~")):
        return FALLBACK
    return toplevel


def ancestor_settings(path: str, globs: Iterable[str] = ()) -> tuple[str, ...]:
    """Settings that a program started in ``path`` would find in the directories above it, outermost last.

    Where the host is hidden nothing of them is visible; elsewhere they are reported, as nothing can hide them there.

    Args:
        globs: further settings files, as a harness declares them; what they begin with is looked for.
    """
    begun = {pattern.removeprefix("**/").split("/")[0] for pattern in globs}
    names = sorted({*_SETTINGS, *(name for name in begun if name and not set(name) & set("*?["))})
    above = Path(os.path.abspath(path)).parents
    return tuple(os.fspath(place / name) for place in above for name in names if os.path.lexists(place / name))
