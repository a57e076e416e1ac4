"""The one glob engine: a table of patterns and paths, and everything it refuses."""

from __future__ import annotations

import pytest

from inspan.errors import InvalidSpec
from inspan.spec.globs import Globs

COVERED = [
    ("src/**", "src/a.py"),
    ("src/**", "src/a/b/c.py"),
    ("src/**", "src/new\nline.py"),
    ("src/*.py", "src/a.py"),
    ("*.py", "a.py"),
    ("*.py", "deep/down/a.py"),
    ("conftest.py", "tests/conftest.py"),
    ("docs", "docs/a/b.md"),
    ("docs/", "docs/a/b.md"),
    ("a/**/b", "a/b"),
    ("a/**/b", "a/x/y/b"),
    ("**/x.txt", "x.txt"),
    ("[ab].txt", "a.txt"),
    ("a?c", "abc"),
    ("a?c", "a\nc"),
    (r"\#x", "#x"),
    (r"\!x", "!x"),
    (r"\*", "*"),
    ("ü*.txt", "dir/über.txt"),
    ("a b/*", "a b/c"),
    ("**", "anything/at all"),
    ("x\udcff", "x\udcff"),
]
NOT_COVERED = [
    ("src/**", "src"),
    ("src/**", "other/src/a.py"),
    ("src/**", "srcs/a.py"),
    ("src/*.py", "src/deep/a.py"),
    ("src/*.py", "lib/src/a.py"),
    ("*.py", "a.pyc"),
    ("*.py", "a.py\n"),
    ("docs/", "docs"),
    ("a?c", "a/c"),
    ("[ab].txt", "c.txt"),
    ("src/**", "SRC/a.py"),
    ("src/a.py", "src/a.py.orig"),
]
BAD = [
    "",
    "  ",
    "/abs",
    "!x",
    "#x",
    "../x",
    "a/../b",
    "./a",
    "a/./b",
    "a//b",
    "[ab",
    "a[",
    "[z-a]",
    "a\nb",
    "a\0b",
    "x ",
    "a\\",
    "[[:digit:]]",
]


@pytest.mark.parametrize(("pattern", "path"), COVERED)
def test_covers(pattern: str, path: str) -> None:
    assert Globs([pattern]).match(path)
    assert Globs(["nothing", pattern, "nothing/else"]).match(path)


@pytest.mark.parametrize(("pattern", "path"), NOT_COVERED)
def test_does_not_cover(pattern: str, path: str) -> None:
    assert not Globs([pattern]).match(path)


@pytest.mark.parametrize("pattern", BAD)
def test_refuses(pattern: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        Globs(["fine", pattern])
    assert repr(pattern) in caught.value.what
    assert caught.value.do


def test_no_patterns_cover_nothing() -> None:
    assert not Globs([]).match("a")
    assert not Globs([])
