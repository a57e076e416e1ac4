"""Stored expectations: what a runner keeps beside a test and compares its output with. Pure.

jest and vitest keep one file per test file, one entry per call: ``exports[`title 1`] = `...`;``. An entry is part of
its test. Other stored expectations (golden files, insta's files) are named by convention only.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

_ENTRY = re.compile(r"^exports\[`((?:[^`\\]|\\.)*) (\d+)`\] = `((?:[^`\\]|\\.)*)`;", re.MULTILINE | re.DOTALL)
_STORED = re.compile(
    r"(^|/)(__snapshots__|snapshots?|golden|goldens|testdata|expected|baselines?|approved)/|"
    r"\.(snap|snap\.new|golden|approved\.\w+|expected|ambr|stdout|stderr)$|(^|/)[^/]*[._-](golden|expected|snapshot)\.\w+$",
    re.IGNORECASE,
)

Snapshots = Mapping[tuple[str, str], str]
"""Entries of one file: (title, number) to content."""


def stored(path: str) -> bool:
    """Whether this path holds expectations that a runner or a test can write by itself."""
    return bool(_STORED.search(path))


def owner(path: str) -> str | None:
    """The test file that a jest or vitest snapshot file belongs to."""
    folder, name = posixpath.split(path)
    parent, last = posixpath.split(folder)
    if last != "__snapshots__" or not name.endswith(".snap"):
        return None
    return posixpath.join(parent, name.removesuffix(".snap"))


def entries(data: bytes | None) -> Snapshots:
    """The entries of a snapshot file; empty for none."""
    text = (data or b"").decode("utf-8", "replace")
    return {(found[1], found[2]): found[3] for found in _ENTRY.finditer(text)}


def rewritten(before: Snapshots, after: Snapshots) -> frozenset[str]:
    """Titles with an entry that changed or went. A title that only gained an entry is not among them."""
    return frozenset(title for title, number in before if after.get((title, number)) != before[title, number])


def title(test_id: str) -> str:
    """The title under which a test's snapshots are stored."""
    return " ".join(test_id.split("::")[1:])
