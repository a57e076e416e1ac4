"""Git itself as the witness: a glob covers a path exactly when git would ignore the path by that line."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from inspan.errors import InvalidSpec
from inspan.spec.globs import Globs

PATTERNS = (
    "src/**", "src/*", "src", "src/", "*.py", "**/*.py", "src/**/*.py", "a?c", "[a-c]x", "[!a]x", "**/src", "src/a",
    "*", "**", "a*", "*/b", "src/**/b", "x.*", "tests/test_*.py", "**/", r"\*", r"a\?c", "[[:digit:]]", "a[]]b",
    "docs/*.md", "deep/**/deeper/**", "é*", "a b", "*b*", "?", "??",
)  # fmt: skip
PARTS = (
    "src",
    "a",
    "b",
    "abc",
    "a?c",
    "x.py",
    "bx",
    "ax",
    "x.md",
    "docs",
    "deep",
    "deeper",
    "é1",
    "a b",
    "5",
    "*",
    "a]b",
    "tests",
    "test_1.py",
)
PATHS = tuple(
    "/".join(p) for n in (1, 2, 3) for p in itertools.islice(itertools.product(PARTS, repeat=n), 0, None, n * n)
)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ignoring")
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    return path


def ignored(repo: Path, pattern: str) -> set[str]:
    (repo / ".git" / "info" / "exclude").write_text(pattern + "\n")
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z"], cwd=repo, input="\0".join(PATHS).encode(),
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return set(done.stdout.decode().split("\0")) - {""}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_as_git_says(pattern: str, repo: Path) -> None:
    try:
        globs = Globs([pattern])
    except InvalidSpec:
        return  # what is refused cannot be judged differently
    paths = {path for path in PATHS if path.isascii() or "?" not in pattern}  # git's ? is a byte, ours a character
    ours = {path for path in paths if globs.match(path)}
    theirs = ignored(repo, pattern) & paths
    print(f"{pattern!r}: {len(theirs)} of {len(paths)} paths")
    assert ours == theirs, (sorted(ours - theirs)[:5], sorted(theirs - ours)[:5])


def test_the_witness_tells_differences(repo: Path) -> None:
    assert ignored(repo, "src/**") != ignored(repo, "src/*.py")
