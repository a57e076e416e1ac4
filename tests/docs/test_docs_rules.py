"""The page of the gate's rules has every rule of the product's side with its levels, sentence and honest reading."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from inspan.gate.product.rules import RULES
from inspan.gate.tests.rules import TEST_RULES

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


def test_every_rule_of_the_tests_stands_on_the_page() -> None:
    page = {n: row for n, row in rows(PAGE.read_text(encoding="utf-8")).items() if n in TEST_RULES}
    assert page == {n: (", ".join(r.levels), r.text, r.honest) for n, r in TEST_RULES.items()}
    assert not TEST_RULES.keys() & RULES.keys()


GATE = PAGE.parents[2] / "src" / "inspan" / "gate"
SOURCES = [*sorted((GATE / "tests").glob("*.py")), GATE / "evidence_of_tests.py", GATE / "exit_evidence.py"]


def used(source: str) -> set[str]:
    """Rules that a module gives a violation."""
    calls = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call)]
    named = [k.value for c in calls for k in c.keywords if k.arg == "rule"]
    named += [c.args[0] for c in calls if isinstance(c.func, ast.Name) and c.func.id == "_reading" and c.args]
    constants = [n.value for part in named for n in ast.walk(part) if isinstance(n, ast.Constant)]
    return {value for value in constants if isinstance(value, str) and value.islower() and " " not in value}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_every_rule_that_is_given_is_in_a_table(path: Path) -> None:
    assert used(path.read_text(encoding="utf-8")) - RULES.keys() <= TEST_RULES.keys()


def test_every_rule_in_the_table_is_given_somewhere() -> None:
    text = "".join(p.read_text(encoding="utf-8") for p in SOURCES if p.name != "rules.py")
    assert not [n for n in TEST_RULES if f'"{n}"' not in text]
    assert used('Violation(rule="one")\n_reading("two", "hold")\n') == {"one", "two"}
