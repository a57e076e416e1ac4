"""Test items, whatever the language: one test each, as syntax, with what it demands and where it stands. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from inspan.gate.tests.strength import Assertion


class Edit(NamedTuple):
    """Bytes ``start`` to ``stop`` of a file become ``text``."""

    start: int
    stop: int
    text: bytes


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One test item.

    Attributes:
        id: the id a runner gives the test, without parameters.
        path: the file it stands in.
        name: its function's name or its title, without what encloses it.
        owner: the class, groups or module that enclose it, None at the top of a file.
        body: canonical text of what it does, without its name: equal bodies are the same test.
        shape: the body without the names of what it calls: a rename leaves it alone.
        calls: names it calls, to be found among the helpers or the product.
        constants: every literal in it, as text; documentation excluded.
        assertions: what it demands, that of the helpers of its own file included.
        disabled: the word that keeps it from running or from failing (``skip``, ``ignore``, ``todo`` ...), if any.
        patience: what makes it pass after a while or at the second try: retries, sleeps, as source lines.
        mocks: what it replaces, as the source names it.
        pattern: for a test whose ids are made when it runs, the pieces they hold, the first and the last at their ends.
        start, stop: its bytes in the file, decorators, attributes and indentation included.
        named: the bytes of its name.
        inversions: edits that turn one expectation that surely runs into one that must fail.
        plain: without marks that change what a failure means.
        line, end: first (with decorators) and last line, from 1.
    """

    id: str
    path: str
    name: str
    owner: str | None
    body: str
    shape: str
    calls: frozenset[str]
    constants: frozenset[str]
    start: int
    stop: int
    line: int
    end: int
    named: tuple[int, int] = (0, 0)
    assertions: tuple[Assertion, ...] = ()
    inversions: tuple[Edit, ...] = ()
    disabled: str | None = None
    patience: tuple[str, ...] = ()
    mocks: frozenset[str] = frozenset()
    pattern: tuple[str, ...] | None = None
    plain: bool = True


class Module(msgspec.Struct, frozen=True, kw_only=True):
    """One parsed file: its items, and what of it belongs to the tests without being one.

    Attributes:
        items: by id, in order.
        helpers: names of functions the items may call.
        context: canonical text of what is not an item: imports, fixtures, helpers, constants. In a file of the product,
            only what stands in its test regions.
        literals: every literal of the context, in order.
        gates: conditions under which the file, or a module of it, is built at all.
        mocks: what is replaced for the whole file.
        imports: where the names that the file imports come from: name to module, as the source writes both.
        mixed: the file belongs to the product; its tests stand beside it.
    """

    path: str
    items: Mapping[str, Item] = msgspec.field(default_factory=dict)
    helpers: frozenset[str] = frozenset()
    context: str = ""
    literals: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    mocks: frozenset[str] = frozenset()
    imports: Mapping[str, str] = msgspec.field(default_factory=dict)
    mixed: bool = False


_DOC_LINE = re.compile(r"( \(line \d+\)|\[\d+\])$")
_MAIN = re.compile(r"(^|/)src/main\.rs::")


class Items(Mapping[str, Item]):
    """Items by id, and the item that a runner's test id belongs to."""

    def __init__(self, modules: Iterable[Module | None]) -> None:
        self._items = {i.id: i for m in modules if m is not None for i in m.items.values()}
        self._dynamic: dict[str, list[Item]] = {}
        for item in self._items.values():
            if item.pattern is not None:
                self._dynamic.setdefault(item.id.split("::", 1)[0], []).append(item)

    def __getitem__(self, key: str) -> Item:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def locate(self, test_id: str) -> str:
        """The id of the item a test id belongs to; where no item is known, the id without its parameters."""
        plain = item_of(test_id)
        aliases = (test_id, plain, _MAIN.sub(r"\1src/lib.rs::", plain))
        found = next((i for i in aliases if i in self._items), None)
        if found is not None:
            return found
        for item in self._dynamic.get(test_id.split("::", 1)[0], ()):
            if matches(item.pattern or (), test_id):
                return item.id
        head = test_id
        while head.count("::") > 1:  # a test inside a test
            head = head.rpartition("::")[0]
            if head in self._items:
                return head
        return plain


def matches(pieces: tuple[str, ...], test_id: str) -> bool:
    """Whether an id holds these pieces in their order, with anything between them; in one pass, whatever the pieces."""
    if len(pieces) < 2 or not test_id.startswith(pieces[0]) or not test_id.endswith(pieces[-1]):
        return pieces == (test_id,)
    at, end = len(pieces[0]), len(test_id) - len(pieces[-1])
    for piece in pieces[1:-1]:
        found = test_id.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return at <= end


def item_of(test_id: str) -> str:
    """A runner's test id without parameters, sub-tests and line numbers, by its form alone."""
    head, _, tail = test_id.partition("::")
    if head.endswith(".py"):
        return f"{head}::{tail.split('[', 1)[0]}" if tail else head
    if head.endswith(".rs"):
        return _DOC_LINE.sub("", test_id)
    if re.match(r"(Test|Example|Fuzz|Benchmark)", tail) and "::" not in tail:
        return f"{head}::{tail.split('/', 1)[0]}"
    return test_id
