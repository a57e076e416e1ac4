"""Which paths of a repository belong to its tests. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

_FOLDERS = frozenset(("test", "tests", "testing", "__tests__", "spec", "specs", "testdata", "__snapshots__"))
_PYTHON = re.compile(r"^(test_.*|.*_test|tests?)\.py$")
_OTHER = re.compile(
    r"(\.(test|spec)\.[cm]?[jt]sx?|_test\.go|\.snap(\.new)?)$|"
    r"(^|/)(tests?|test-[^/]*|[^/]*[-_]test)\.[cm]?[jt]sx?$|(^|/)([^/]*_)?tests?\.rs$"
)


def is_test_module(path: str) -> bool:
    """Whether a Python test runner would take this file for a module of tests by its name."""
    return bool(_PYTHON.match(posixpath.basename(path)))


def is_test_file(path: str) -> bool:
    """Whether this path belongs to the tests: a test module, or anything below a folder of tests."""
    parts = path.split("/")
    return is_test_module(path) or bool(_OTHER.search(path)) or any(p in _FOLDERS for p in parts[:-1])


def is_hook(path: str) -> bool:
    """Whether this is a file of fixtures and hooks that a runner loads by itself."""
    return posixpath.basename(path) == "conftest.py"


def files_of(test_id: str, paths: Iterable[str]) -> Iterator[str]:
    """The files in which a runner's test may stand, the likeliest first.

    Args:
        paths: those of the tree.
    """
    known = frozenset(paths)
    where, *names = test_id.split("::")
    if where.endswith(".rs") and names[:1] != ["doc"]:
        folder = posixpath.dirname(where)
        for n in range(len(names) - 1, 0, -1):
            stem = posixpath.join(folder, *names[:n])
            yield from (p for p in (f"{stem}.rs", f"{stem}/mod.rs") if p in known)
    if where in known:
        yield where
    else:
        yield from sorted(p for p in known if p.endswith("_test.go") and (posixpath.dirname(p) or ".") == where)
