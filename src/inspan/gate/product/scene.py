"""A change as the detectors see it: both trees, the job's words, and facts of the files, read when asked for."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cached_property
from typing import TypeVar

from inspan.gate.product.facts import Facts
from inspan.gate.product.languages import facts_of
from inspan.gate.syntax import language_of
from inspan.gate.tests.conventions import is_test_file
from inspan.spec.globs import Globs

Read = Callable[[str], bytes | None]

_FOREIGN = re.compile(
    r"(^|/)(node_modules|vendor|third_party|dist|build|\.venv|site-packages)/|\.min\.(js|css)$|\.d\.ts$"
)
"""Paths that hold what others wrote or what a program made."""
_TESTS_READ = 400
_BYTES_READ = 2 << 20
"""Bytes of product source, both versions together, that are read by their syntax."""
_ASKED_REMOVAL = re.compile(
    r"\b(remov|delet|drop|prun|retir|deprecat|strip|get rid|clean ?up|dead code|inline|renam|mov(e|ing)|split|merge|"
    r"replac|consolidat|extract|migrat|simplif|unused|obsolete)",
    re.IGNORECASE,
)


class Source:
    """One changed file of the product, with the facts of both versions."""

    def __init__(self, path: str, before: bytes | None, after: bytes | None) -> None:
        self.path = path
        self.data_before = before
        self.data_after = after
        self.before = facts_of(path, before) or Facts()
        parsed = facts_of(path, after)
        self.after = parsed or Facts()
        self.lost = parsed is None and after is not None and facts_of(path, before) is not None


class Scene:
    """What the detectors are given.

    Args:
        prompt: the job's text.
        changed: paths that differ.
        before, after: bytes of a path in either tree, None where it does not exist.
        base, result: all paths of the trees.
        executable: paths of the result that are programs.
        permitted: globs of ``may_change``.
        checks: each check's command and whether it passed on base, None where that is not known.
        installed: names of modules installed in the environment of the checks.
    """

    def __init__(
        self,
        *,
        prompt: str,
        changed: Iterable[str],
        before: Read,
        after: Read,
        base: Iterable[str],
        result: Iterable[str],
        executable: Iterable[str] = (),
        permitted: Iterable[str] = (),
        checks: Iterable[tuple[str, bool | None]] = (),
        installed: Iterable[str] = (),
    ) -> None:
        self.prompt = prompt
        self.changed = sorted(changed)
        self.before, self.after = before, after
        self.base, self.result = frozenset(base), frozenset(result)
        self.executable = frozenset(executable)
        self.permitted = Globs(tuple(permitted))
        self.checks = tuple(checks)
        self.installed = frozenset(installed)
        self.unread: list[str] = []

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Changed product files of a language the gate reads, as far as there is time to read them."""
        out, left = [], _BYTES_READ
        for path in self.changed:
            if language_of(path) is None or is_support(path) or _FOREIGN.search(path):
                continue
            before, after = self.before(path), self.after(path)
            left -= len(before or b"") + len(after or b"")
            if left < 0:
                self.unread.append(path)
            else:
                out.append(Source(path, before, after))
        return tuple(out)

    @cached_property
    def rows(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        """Literals that stand together in base's tests, each with all of its file; in-source tests included."""
        languages = {language_of(s.path) for s in self.sources} | {language_of(p) for p in self.changed}
        near = {posixpath.dirname(p) for p in self.changed}
        paths = [p for p in self.base if is_test_file(p) and language_of(p) is not None]
        paths.sort(key=lambda p: (language_of(p) not in languages, posixpath.dirname(p) not in near, p))
        rows: list[tuple[frozenset[str], frozenset[str]]] = []
        for path in paths[:_TESTS_READ]:
            found = facts_of(path, self.before(path), tests=True)
            rows += [(row, found.literals) for row in found.rows] if found is not None else ()
        for source in self.sources:
            if not source.path.endswith(".py"):
                rows += [(row, source.before.literals) for row in source.before.rows]
        return rows

    @cached_property
    def removal_asked(self) -> bool:
        """Whether the job's words ask for something to go or to be called otherwise."""
        return bool(_ASKED_REMOVAL.search(self.prompt))

    def asked(self, words: str) -> bool:
        """Whether the job's text has one of these words (a regular expression)."""
        return bool(re.search(words, self.prompt, re.IGNORECASE))

    def named(self, name: str) -> bool:
        """Whether the job's text names this."""
        return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.prompt, re.IGNORECASE))

    @cached_property
    def plugin(self) -> bool:
        """Whether the product itself is a part of a test runner."""
        settings = ("pyproject.toml", "setup.cfg", "setup.py", "package.json")
        marks = (b"pytest11", b"vitest-environment", b"jest-environment", b"jest-runner", b"vitest-plugin")
        return any(mark in (self.before(name) or b"") for name in settings for mark in marks)


def is_support(path: str) -> bool:
    """Whether a path belongs to the tests."""
    return is_test_file(path) or posixpath.basename(path) == "conftest.py"


T = TypeVar("T")


def beyond(before: Iterable[T], after: Iterable[T], key: Callable[[T], Hashable]) -> Iterator[T]:
    """What ``after`` has more of than ``before``, counted by ``key``."""
    left = Counter(map(key, before))
    for item in after:
        if left[key(item)] > 0:
            left[key(item)] -= 1
        else:
            yield item
