"""Assertions behind calls: what a function of the same file demands belongs to the test that calls it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Generic, TypeVar

import msgspec

from inspan.gate.tests.strength import Assertion

N = TypeVar("N")
_DEPTH = 4
_MOST = 50
"""Assertions of one function that are looked at; no honest helper has more."""


class Followed(Generic[N]):
    """The functions of one file, and what each demands.

    Args:
        known: functions by name.
        read: the assertions directly in a function; calls of others are asked of the second argument.
    """

    def __init__(self, known: Mapping[str, N], read: Callable[[N, Followed[N]], Iterable[Assertion]]) -> None:
        self._known, self._read = known, read
        self._found: dict[str, tuple[Assertion, ...]] = {}
        self._open: list[str] = []

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def within(self, node: N) -> tuple[Assertion, ...]:
        """Every assertion of a test."""
        return tuple(self._read(node, self))

    def behind(self, name: str, call: Assertion) -> Iterator[Assertion]:
        """The assertions that a call of ``name`` brings; ``call`` says what it looks at, with which literals, where."""
        for inner in self._of(name):
            yield msgspec.structs.replace(
                inner,
                subject=call.subject or inner.subject,
                constants=inner.constants | call.constants,
                guarded=inner.guarded or call.guarded,
                line=call.line,
                text=call.text,
            )

    def _of(self, name: str) -> tuple[Assertion, ...]:
        if name in self._found:
            return self._found[name]
        if name not in self._known or name in self._open or len(self._open) >= _DEPTH:
            return ()
        self._open.append(name)
        found = tuple(islice(self._read(self._known[name], self), _MOST))
        self._open.pop()
        self._found[name] = found
        return found
