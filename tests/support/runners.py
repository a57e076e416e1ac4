"""Where scripts/install-runners put the pinned runners of other languages; NORUN where they could not be had."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

PLACE = Path(__file__).parents[2] / ".tools/runners"


def node_modules() -> Path:
    """The ``node_modules`` with jest, vitest, typescript and eslint; their programs are in its ``.bin``."""
    found = PLACE / "node/node_modules"
    if not found.is_dir() or shutil.which("node") is None:
        pytest.skip(f"NORUN: {_reason('node')}")
    return found


def go_root() -> Path:
    """A whole GOROOT; the program is ``bin/go`` in it."""
    found = PLACE / "go"
    if not (found / "bin/go").is_file():
        pytest.skip(f"NORUN: {_reason('go')}")
    return found


def cargo() -> str:
    """The absolute path of cargo."""
    found = shutil.which("cargo")
    if found is None:
        pytest.skip("NORUN: cargo is not on PATH")
    return found


def _reason(name: str) -> str:
    try:
        return (PLACE / f"NORUN.{name}").read_text().strip()
    except OSError:
        return f"no {name} in {PLACE.name}: run scripts/install-runners"
