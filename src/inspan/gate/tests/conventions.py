"""Which paths of a repository belong to its tests. Pure."""

from __future__ import annotations

import posixpath
import re

_FOLDERS = frozenset(("test", "tests", "testing", "__tests__", "spec", "specs", "testdata", "__snapshots__"))
_PYTHON = re.compile(r"^(test_.*|.*_test|tests?)\.py$")
_OTHER = re.compile(r"(\.(test|spec)\.[cm]?[jt]sx?|_test\.go|\.snap)$")


def is_test_module(path: str) -> bool:
    """Whether a Python test runner would take this file for a module of tests by its name."""
    return bool(_PYTHON.match(posixpath.basename(path)))


def is_test_file(path: str) -> bool:
    """Whether this path belongs to the tests: a test module, or anything below a folder of tests."""
    parts = path.split("/")
    return is_test_module(path) or bool(_OTHER.search(path)) or any(p in _FOLDERS for p in parts[:-1])
