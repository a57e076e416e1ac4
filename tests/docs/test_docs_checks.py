"""The page on checks names every family of runners, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from inspan.gate.runners import detect
from inspan.gate.runners.registry import FAMILIES

PAGE = Path(__file__).parents[2] / "docs/reference/checks.md"


def test_the_table_of_runners_is_the_registry():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name, _ in rows] == [family.name for family in FAMILIES]
    for name, found in rows:
        for call in re.findall(r"`([^`]+)`", found.split("; not", 1)[0]):
            if call.startswith("["):
                continue
            command = f"program {call}.xml" if call.startswith("--") else call
            runner = detect(command)
            assert runner is not None and runner.name == name, call
