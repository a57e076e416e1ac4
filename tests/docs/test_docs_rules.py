"""The page of the gate's rules has every rule of the product's side with its levels, sentence and honest reading."""

from __future__ import annotations

import re
from pathlib import Path

from inspan.gate.product.rules import RULES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "rules.md"


def rows(text: str) -> dict[str, tuple[str, ...]]:
    found = re.findall(r"^\| `(\w+)` \| ([a-z, ]+) \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    return {name: (levels, seen, honest) for name, levels, seen, honest in found}


def expected() -> dict[str, tuple[str, ...]]:
    return {name: (", ".join(row.levels), row.text, row.honest) for name, row in RULES.items()}


def test_every_rule_stands_on_the_page_and_the_reverse() -> None:
    page = {name: row for name, row in rows(PAGE.read_text(encoding="utf-8")).items() if name in RULES}
    print(f"{len(RULES)} rules of the product's side")
    assert page == expected()


def test_control_a_missing_rule_is_seen() -> None:
    text = PAGE.read_text(encoding="utf-8").replace("`hidden_text`", "`other_text`")
    assert rows(text) != expected()
