"""Names of the modules the environment of a check has, from its files alone; nothing of it is run.

A test runner loads the plugins it finds installed before it loads a single test. A module of the same name in the tree
would be loaded in a plugin's, or a dependency's, place.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterable

_ORDINARY = frozenset(
    [
        "build",
        "bench",
        "benchmarks",
        "conftest",
        "doc",
        "docs",
        "example",
        "examples",
        "resources",
        "samples",
        "scripts",
        "setup",
        "src",
        "test",
        "tests",
        "tools",
    ]
)
"""Names that badly packed distributions leave in an environment, and that any repository may use."""

PRIVATE = frozenset(n for n in sys.stdlib_module_names if n.startswith("_") and n != "__main__")
"""Modules of the standard library that nobody calls a module of their own by accident."""


def module_names(path: str, layers: Iterable[str] = ()) -> frozenset[str]:
    """Top-level modules of the Python installations that ``path`` leads to and of environments set-up made.

    Args:
        path: PATH of the checks.
        layers: directories that hold virtual environments, such as a frozen set-up layer.
    """
    prefixes: dict[str, None] = {}
    for entry in filter(None, path.split(os.pathsep)):
        prefixes[os.path.dirname(entry)] = None
        for name in ("python", "python3"):
            program = os.path.join(entry, name)
            if os.path.exists(program):
                prefixes[os.path.dirname(os.path.dirname(os.path.realpath(program)))] = None
    for layer in layers:
        for record in glob.glob("*/pyvenv.cfg", root_dir=layer) + glob.glob(".*/pyvenv.cfg", root_dir=layer):
            prefixes[os.path.join(layer, os.path.dirname(record))] = None
    names = set(PRIVATE)
    for prefix in prefixes:
        for packages in glob.glob(os.path.join(glob.escape(prefix), "lib", "python3*", "*-packages")):
            names |= _modules(packages)
    return frozenset(names - _ORDINARY)


def _modules(packages: str) -> set[str]:
    """Modules and packages in one directory of installed packages."""
    try:
        entries = os.listdir(packages)
    except OSError:
        return set()
    return {stem for entry in entries if (stem := entry.split(".")[0]).isidentifier() and not entry.endswith(".pth")}
