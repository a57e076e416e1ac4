"""What a language gives to the gate, and which language a file is in."""

from __future__ import annotations

from typing import Protocol

from inspan.gate.syntax import language_of
from inspan.gate.tests.items import Module


class Language(Protocol):
    """One language; each is a module of this package.

    Attributes:
        SUFFIXES: what may follow a test's name to give a copy of it an ordinary name of its own.
    """

    SUFFIXES: tuple[str, ...]

    def parse(self, path: str, data: bytes) -> Module | None:
        """The items of one file; None when it cannot be parsed."""


def language(path: str) -> Language | None:
    """The language of a path; None where the gate reads no tests in it."""
    name = language_of(path)
    if name == "python":
        from inspan.gate.tests.languages import python

        return python
    if name in ("javascript", "typescript", "tsx"):
        from inspan.gate.tests.languages import ecma

        return ecma
    if name == "go":
        from inspan.gate.tests.languages import golang

        return golang
    if name == "rust":
        from inspan.gate.tests.languages import rust

        return rust
    return None


def parse(path: str, data: bytes) -> Module | None:
    """The items of one file; None when it cannot be parsed or is in no language the gate reads."""
    found = language(path)
    return found.parse(path, data) if found is not None else None


def swap(path: str, product: bytes, tests: bytes) -> bytes | None:
    """One version of a file of the product with the tests that the other version has inside; None where that cannot be
    told apart."""
    name = language_of(path)
    if name == "rust":
        from inspan.gate.tests.languages.rust_regions import swap as swap_rust

        return swap_rust(product, tests)
    if name in ("javascript", "typescript", "tsx"):
        from inspan.gate.tests.languages.ecma import swap as swap_ecma

        return swap_ecma(path, product, tests)
    return None
