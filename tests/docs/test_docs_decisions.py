"""Every decision record stands in the index under its number and title; what the design links to is there."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
RECORDS = {path.name: path.read_text(encoding="utf-8") for path in sorted((DOCS / "decisions").glob("[0-9]*.md"))}


def indexed(page: str) -> dict[str, tuple[str, str]]:
    """File to number and title of every row of an index."""
    return {
        file: (number, title) for number, file, title in re.findall(r"^\| \[(\d+)\]\((\S+)\) \| (.+) \|$", page, re.M)
    }


def titled(records: dict[str, str]) -> dict[str, tuple[str, str]]:
    """File to number and title of every record."""
    found = {}
    for name, text in records.items():
        heading = re.match(r"# (\d{4}): (.+)\n", text)
        assert heading and name.startswith(heading[1] + "-"), name
        found[name] = (heading[1], heading[2])
    return found


def test_every_record_is_indexed_and_the_reverse() -> None:
    index = indexed((DOCS / "decisions" / "README.md").read_text(encoding="utf-8"))
    assert index == titled(RECORDS) and len(index) >= 10
    missing = dict(RECORDS) | {"9999-control.md": "# 9999: Not in the index\n"}
    assert index != titled(missing)
    assert len({number for number, _ in index.values()}) == len(index)


def test_links_between_the_pages_lead_somewhere() -> None:
    pages = [DOCS / "design.md", *(DOCS / "decisions").glob("*.md")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#:]+)", page.read_text(encoding="utf-8"))]
    assert len(links) > 20
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []
