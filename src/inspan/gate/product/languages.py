"""Which reader fills the facts of which file. Pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from inspan.gate.product import python
from inspan.gate.product.facts import Facts
from inspan.gate.product.golang import GoReader
from inspan.gate.product.javascript import JavaScriptReader
from inspan.gate.product.rust import RustReader
from inspan.gate.syntax import Language, language_of

_READERS: dict[Language, Callable[[bytes, bool], Facts | None]] = {
    "python": python.facts,
    "javascript": lambda data, tests: JavaScriptReader().read(data, tests=tests),
    "typescript": lambda data, tests: JavaScriptReader().read(data, tests=tests, language="typescript"),
    "tsx": lambda data, tests: JavaScriptReader().read(data, tests=tests, language="tsx"),
    "go": lambda data, tests: GoReader().read(data, tests=tests),
    "rust": lambda data, tests: RustReader().read(data, tests=tests),
}

BYTES_LIMIT = 256 << 10
"""Larger files are not read: nobody wrote them by hand, and reading one must not cost the gate its time."""


@lru_cache(maxsize=256)
def facts_of(path: str, data: bytes | None, tests: bool = False) -> Facts | None:
    """The facts of one file; None for a file that is absent, is of no language the gate reads, or does not parse.

    Args:
        tests: the file belongs to the tests.
    """
    language = language_of(path)
    return None if data is None or language is None or len(data) > BYTES_LIMIT else _READERS[language](data, tests)
