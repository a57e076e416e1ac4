"""Who owns what a job writes, and which tools and variables it gets: the same answer at every stage."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from inspan.engine.records import Resolved
from inspan.sandbox.environment import allowed
from inspan.sandbox.levels import owner
from inspan.sandbox.tools import Toolset, toolset
from inspan.workspace.build import Owner


def owner_at(level: str) -> Owner:
    """Owner of a job's writable files at ``level``."""
    found = owner(level)
    return Owner(uid=found.uid, gid=found.gid)


def tools_of(resolved: Resolved, environ: Mapping[str, str], share: Sequence[str] = ()) -> Toolset:
    """The tools table of the command that asked, with what the shared directories need."""
    return toolset(resolved.path, checkout=resolved.repository.toplevel, home=home_of(environ), share=share)


def environment_of(tools: Toolset, resolved: Resolved, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables a job may see, and those by which the version managers among its tools find themselves."""
    return tools.env | allowed(environ, resolved.pass_env)


def home_of(environ: Mapping[str, str]) -> str:
    """The caller's HOME."""
    return environ.get("HOME") or os.path.expanduser("~")
