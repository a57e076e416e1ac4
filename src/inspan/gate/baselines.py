"""C6: files that list findings a checker accepts, and whether a change makes them accept more. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from inspan.gate.tests.conventions import is_test_file

_NAMES = re.compile(
    r"(^|/)([\w.-]*baseline[\w.-]*\.(json|xml|ya?ml|txt|toml|neon|csv)|\.secrets\.baseline|eslint-suppressions\.json|"
    r"\.betterer\.results(\.ts)?|\.rubocop_todo\.yml|\.(lint|eslint|flake8)-?todo[\w.]*|"
    r"(known|expected|allowed|accepted)[-_](failures?|errors?|findings?|issues?|violations?)\.\w+|"
    r"(quarantined?|ratchet|xfail|skip)[-_]?(list|tests)?\.(txt|json|ya?ml|toml)|\.basedpyright/baseline\.json)$",
    re.IGNORECASE,
)
_MEASURES = re.compile(r"(^|/)(bench(marks?)?|perf|performance|visual|images?)/", re.IGNORECASE)
_BYTES = 8 << 20


def is_baseline(path: str) -> bool:
    """Whether a file lists findings that a checker accepts; measurements that are called so, and test data, do not."""
    return bool(_NAMES.search(path)) and not _MEASURES.search(path) and not is_test_file(path)


def grown(path: str, before: bytes | None, after: bytes | None) -> str:
    """What the new version accepts more than the old one, in words; empty when it accepts nothing more.

    Numbers are left out of entries, so that a finding that moves by some lines is the same finding; where an entry has
    a count, the count counts.
    """
    if after is None:
        return ""
    if len(after) > _BYTES:
        return "too large to read"
    more = _entries(after) - _entries(before or b"")
    return f"{more.total()} accepted findings more" if more else ""


def shrunk(before: bytes | None, after: bytes | None) -> bool:
    """Whether a list in JSON only lost entries. Of a table nobody knows which numbers are floors."""
    try:
        old, new = (json.loads(data or b"null") for data in (before, after))
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(old, list) and isinstance(new, list) and len(new) < len(old) and all(entry in old for entry in new)
    )


def _entries(data: bytes) -> Counter[str]:
    text = data.decode("utf-8", "replace")
    try:
        found: Counter[str] = Counter()
        _leaves("", json.loads(text), found)
        return found
    except (ValueError, RecursionError):
        return Counter(_plain(line) for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))


def _leaves(at: str, value: Any, found: Counter[str]) -> None:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not re.search(r"generated|version|hash|time|date|line|column|offset|range", str(name), re.IGNORECASE):
                _leaves(f"{at}/{name}", inner, found)
    elif isinstance(value, list):
        for inner in value:
            found[f"{at}[]"] += isinstance(inner, Mapping | list)
            _leaves(f"{at}[]", inner, found)
    elif isinstance(value, int) and not isinstance(value, bool):
        found[at] += max(value, 0)
    else:
        found[f"{at}={_plain(str(value))}"] += 1


def _plain(text: str) -> str:
    return re.sub(r"\d+", "0", text.strip())
