"""The named queries of ``sql/``: Python holds no SQL text."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_DIRECTORY = Path(__file__).parent / "sql"
_MIGRATION = re.compile(r"(\d{4})_[a-z_]+\.sql")
_NAME = re.compile(r"^-- name: ([a-z_]+)\n", re.MULTILINE)


@cache
def queries() -> dict[str, str]:
    """Every statement of ``queries.sql`` by its name."""
    parts = _NAME.split((_DIRECTORY / "queries.sql").read_text("utf-8"))
    return {name: text.strip().rstrip(";") for name, text in zip(parts[1::2], parts[2::2], strict=True)}


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """``(number, script)`` of every migration, in order; the last number is the version this program writes."""
    found = ((_MIGRATION.fullmatch(entry.name), entry) for entry in _DIRECTORY.iterdir())
    return tuple(sorted((int(match[1]), entry.read_text("utf-8")) for match, entry in found if match))


def version() -> int:
    """The version of the tables this program writes."""
    return migrations()[-1][0]
