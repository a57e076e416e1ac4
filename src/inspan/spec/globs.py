"""The one glob engine: scope, ``may_change`` and every other pattern over paths of a repository.

The semantics are those of a line in ``.gitignore``, over paths relative to the repository's root, ``/`` between parts:

- a pattern with a slash before its end is anchored at the root: ``src/**`` is everything below ``src``, ``src/*.py``
  the Python files directly in it;
- a pattern without one matches at any depth: ``*.py``, ``conftest.py``;
- a pattern that names a directory covers what is below it: ``docs`` and ``docs/`` both cover ``docs/a/b.md``;
- ``*`` and ``?`` stay within one part, ``**`` does not, ``[ab]`` is a class, a backslash takes the next character as
  it is; ``?`` and a class stand for one character, where git counts bytes.

There is no negation and no comment: a list of globs covers what any of them covers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pathspec import GitIgnoreSpec

from inspan.errors import InvalidSpec

_NEWLINE = "\ue00a"
"""Stands in for a newline while matching, where a regular expression would treat it unlike other characters."""


class Globs:
    """A set of globs.

    Raises:
        InvalidSpec: for a pattern that is empty, absolute, has a ``.`` or ``..`` part, negates, is a comment, holds a
            control character or does not parse.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns: tuple[str, ...] = tuple(patterns)
        for pattern in self.patterns:
            _refuse_bad(pattern)
        self._spec = GitIgnoreSpec.from_lines(self.patterns)

    def match(self, path: str) -> bool:
        """Whether any of the patterns covers ``path``; no patterns cover nothing."""
        return self._spec.match_file(path.replace("\n", _NEWLINE))

    def __bool__(self) -> bool:
        return bool(self.patterns)


def _refuse_bad(pattern: str) -> None:
    why = _defect(pattern)
    if why:
        raise InvalidSpec(
            f"bad glob {pattern!r}: {why}",
            do="write it relative to the repository's root, like 'src/**' or '*.py'",
        )


def _defect(pattern: str) -> str | None:
    if not pattern.strip():
        return "it is empty"
    if any(ord(c) < 32 or ord(c) == 127 for c in pattern):
        return "it holds a control character"
    if pattern.startswith("/"):
        return "it is absolute"
    if pattern.startswith("!"):
        return "negation is not offered; list what is meant"
    if pattern.startswith("#"):
        return "it would be a comment; write '\\#' for a name that begins so"
    parts = pattern.removesuffix("/").split("/")
    if ".." in parts or "." in parts or "" in parts:
        return "a part of it is empty, '.' or '..'"
    if pattern != pattern.rstrip() and not pattern.rstrip().endswith("\\"):
        return "it ends in a space; write '\\ ' for a name that ends so"
    if re.search(r"\[[.:=]", pattern):
        return "named character classes are not offered; write [0-9] and the like"
    try:
        compiled = list(GitIgnoreSpec.from_lines([pattern]).patterns)
    except (ValueError, re.error) as error:
        return str(error)
    if len(compiled) != 1 or compiled[0].include is not True:
        return "a bracket is not closed"
    return None
