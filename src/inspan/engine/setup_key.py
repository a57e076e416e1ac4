"""Which set-up layers are the same: everything a layer depends on, as one word."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Sequence

from inspan.engine.context import Context
from inspan.engine.places import environment_of, owner_at
from inspan.engine.records import Resolved
from inspan.outcome.canonical import digest
from inspan.sandbox.tools import Toolset
from inspan.spec.globs import Globs
from inspan.spec.provision.commands import known_inputs
from inspan.spec.provision.tree import Inputs
from inspan.workspace.bare import Base

_PROGRAMS = (
    "python3", "python", "pip", "uv", "poetry", "pipenv", "node", "npm", "pnpm", "yarn", "bun", "deno", "go", "cargo",
    "rustc", "ruby", "bundle", "java", "mvn", "gradle", "php", "composer", "cc", "gcc", "clang", "make", "git",
)  # fmt: skip
"""Programs whose replacement makes a layer stale: an environment refers to its interpreter, a build to its compiler."""


def key_of(context: Context, resolved: Resolved, seen: str, commands: Sequence[str], toolset: Toolset) -> str:
    """The name of the layer that ``commands`` make.

    Args:
        seen: what of the repository they see: a base, or the digest of the files in view.
    """
    level, environ = resolved.level, environment_of(toolset, resolved, context.environ)
    parts = [
        [seen, list(commands)],
        [[bind.source, bind.target] for bind in toolset.binds],
        [toolset.path, _programs(toolset.path), platform.machine()],
        {name: environ[name] for name in sorted(resolved.pass_env) if name in environ},
        [resolved.workspace, level, owner_at(level).uid],
        sorted(resolved.egress),  # what one job may reach is not done for another that may not
    ]
    return digest(parts).removeprefix("sha256:")[:32]


def _programs(path: str) -> list[list[int | str]]:
    found: list[list[int | str]] = []
    for name in _PROGRAMS:
        program = shutil.which(name, path=path)
        if program is not None:
            real = os.path.realpath(program)
            st = os.stat(real)
            found.append([real, st.st_size, st.st_mtime_ns])
    return found


def sharable(view: Base, resolved: Resolved, commands: Sequence[str], toolset: Toolset) -> tuple[int, Inputs]:
    """How many of the commands, from the first, can be run with certain files alone in view, and those files.

    None can where the checkout's own dependency directories are among the tools: what is in them has no name.
    """
    checkout = resolved.repository.toplevel
    if any((bind.target + "/").startswith(checkout + "/") for bind in toolset.binds):
        return 0, Inputs()
    if resolved.setup_inputs:
        wanted = Globs(resolved.setup_inputs)
        named = frozenset(path for path in view.paths() if wanted.match(path))
        return (len(commands), Inputs(named)) if named else (0, Inputs())
    found, count = Inputs(), 0
    for command in commands:
        read = known_inputs(command, view.tree)
        if read is None:
            break
        found, count = found | read, count + 1
    return count, found
