"""What a detector wants to know of one source file, in one form for every language. Pure.

Each language has a reader that fills these; detectors know no syntax. Literals are plain text whatever their type
(``15`` and ``"15"`` are the same), because a table in a data file has no types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

Effect = Literal["value", "raise", "quiet"]
"""What a branch does: gives or assigns a value, ends in an error, or neither (it logs, or does nothing)."""


class Function(msgspec.Struct, frozen=True, kw_only=True):
    """One function or method.

    Attributes:
        name: ``Owner.name`` or ``name``.
        body: its source without layout.
        computes: it does more than look something up or give a constant.
        constant: it does nothing but give one constant.
        equalizes: it decides equality, and answers with a constant.
        unfinished: the line that says that it is not written yet, None when there is none.
        literals: how many literals it holds.
        parameters: its parameters as written.
    """

    name: str
    line: int
    body: str
    computes: bool = True
    constant: bool = False
    equalizes: bool = False
    unfinished: str | None = None
    literals: int = 0
    parameters: str = ""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Literals that are compared or looked up, and the literals that come out for them."""

    inputs: frozenset[str]
    outputs: frozenset[str]
    table: bool
    within: str
    line: int
    text: str


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """One condition and what depends on it."""

    condition: str
    effect: Effect
    within: str
    line: int
    text: str


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call: dotted name, its literal arguments, the function it stands in (``""`` outside of any)."""

    name: str
    arguments: tuple[str, ...]
    within: str
    line: int
    text: str


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """One assignment; ``target`` is dotted where it is an attribute."""

    target: str
    value: str
    within: str
    line: int
    text: str


class Caught(msgspec.Struct, frozen=True, kw_only=True):
    """One place where an error ends: what was guarded, whether any error is taken, whether it is forgotten."""

    guarded: frozenset[str]
    broad: bool
    forgets: bool
    within: str
    line: int
    text: str


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """One comment, document string or string literal."""

    text: str
    line: int
    comment: bool


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """One file.

    Attributes:
        imports: local name to the module it comes from.
        exports: public names at the top level, to the line that defines them.
        bindings: variable to the source of its last value, one level deep.
        mutated: module-level variables that functions write.
        rows: the literals of each assertion, table row and short function, for files of tests.
        literals: every literal of a file of tests.
        silenced: attributes and directives that silence a checker, as written.
        demanded: attributes that make a checker stricter for the file, as written.
        casts: places where the type checker is told to look away, as written.
    """

    functions: tuple[Function, ...] = ()
    pairs: tuple[Pair, ...] = ()
    branches: tuple[Branch, ...] = ()
    calls: tuple[Call, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    caught: tuple[Caught, ...] = ()
    remarks: tuple[Remark, ...] = ()
    imports: Mapping[str, str] = msgspec.field(default_factory=dict)
    exports: Mapping[str, str] = msgspec.field(default_factory=dict)
    bindings: Mapping[str, str] = msgspec.field(default_factory=dict)
    mutated: frozenset[str] = frozenset()
    rows: tuple[frozenset[str], ...] = ()
    literals: frozenset[str] = frozenset()
    silenced: tuple[str, ...] = ()
    demanded: tuple[str, ...] = ()
    casts: tuple[str, ...] = ()

    def function(self, name: str) -> Function | None:
        """The function of this name; the last one where there are more, as it is the one that counts."""
        return next((f for f in reversed(self.functions) if f.name == name), None)


LOGGING = re.compile(
    r"log|level|verbos|quiet|silen|debug|trace|print|colou?r|banner|warn|console|metric", re.IGNORECASE
)
"""Words of code that only tells people something."""
CLEAN_UP = re.compile(
    r"\b(close|unlink|remove|rmtree|rm|kill|terminate|shutdown|disconnect|flush|release|cleanup|clean_up|dispose|abort|"
    r"destroy|Close|Flush|Remove|RemoveAll|Unlock|Sync)\b"
)
"""Calls whose errors nobody misses."""
EQUALITY = frozenset(
    [
        "__eq__",
        "__ne__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        "__instancecheck__",
        "asymmetricMatch",
        "equals",
        "equal",
        "isEqual",
        "Equal",
        "Equals",
        "Compare",
        "Cmp",
        "eq",
        "ne",
        "partial_cmp",
        "cmp",
        "compareTo",
    ]
)
"""Names under which languages and test libraries look for a type's own idea of equality."""
UNFINISHED = re.compile(
    r"not (yet )?(implemented|supported yet)|unimplemented|todo\b|to be (done|implemented)", re.IGNORECASE
)
"""What an error says that stands where work should be."""


def squeezed(source: str) -> str:
    """Source without layout."""
    return " ".join(source.split())


def first_line(source: str, limit: int = 160) -> str:
    """The first line of a piece of source, shown to people."""
    return source.strip().split("\n", 1)[0][:limit]
