"""Where a workspace stands inside, and what a directory's ancestors would tell an agent."""

from __future__ import annotations

import os

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


def ancestor_settings(path: str) -> tuple[str, ...]:
    """Settings that a program started in ``path`` would find in the directories above it, outermost last.

    In a sandbox nothing of them is visible; at level ``none`` they are reported, as nothing can hide them there.
    """
    found = []
    place = os.path.dirname(os.path.abspath(path))
    while True:
        found += [os.path.join(place, name) for name in _SETTINGS if os.path.lexists(os.path.join(place, name))]
        parent = os.path.dirname(place)
        if parent == place:
            return tuple(found)
        place = parent
