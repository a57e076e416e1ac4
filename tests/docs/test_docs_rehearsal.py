"""The rehearsal's page names every scenario, end and key, and no others."""

from __future__ import annotations

import re
from pathlib import Path

from inspan.gateway.rehearsal.scenario import ENDS, SCENARIOS, SCHEMA, Tokens, load_scenario

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "rehearsal.md").read_text(encoding="utf-8")
KEYS = {"schema", "name", "steps", "write", "bash", "say", "then", "usage", "prefill", "pace"}


def test_the_page_and_the_code_agree() -> None:
    rows = set(re.findall(r"(?m)^\| `([^`]+)` \|", PAGE))
    assert rows == set(SCENARIOS) | KEYS
    assert all(f"`{end}`" in PAGE for end in ENDS)
    assert all(re.search(rf"\b{name}\b", PAGE) for name in Tokens.__struct_fields__)
    assert SCHEMA in PAGE


def test_the_example_is_a_scenario() -> None:
    example = re.search(r"```yaml\n(.*?)```", PAGE, re.S)
    assert example is not None
    assert len(load_scenario(example[1]).actions) == 2
