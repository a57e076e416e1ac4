"""JavaScript and TypeScript tests: ``test`` and ``it`` blocks of jest, vitest, mocha and node:test. Pure.

The id of a test is its file, the titles of the groups around it and its own, as the runners give it. A title that is
made when the test runs is a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from inspan.gate.syntax import language_of, line, text, tree, walk
from inspan.gate.tests.conventions import is_test_file
from inspan.gate.tests.items import Edit, Item, Module
from inspan.gate.tests.languages.ecma_assertions import FUNCTIONS, assertions, callee, chain
from inspan.gate.tests.languages.followed import Followed
from inspan.gate.tests.languages.tokens import (
    arguments,
    canonical,
    literals,
    number,
    one_line,
    shape,
    squeezed,
    tokens,
    unquoted,
)

if TYPE_CHECKING:
    from tree_sitter import Node

SUFFIXES: tuple[str, ...] = (" again", " twice", " once more", " as well", " too")
_GROUPS = frozenset(("describe", "suite", "context", "xdescribe", "fdescribe"))
_TESTS = frozenset(("it", "test", "specify", "xit", "xtest", "fit", "ftest"))
_DISABLING = frozenset(("skip", "todo", "skipIf", "runIf", "fails", "failing"))
_PRINTF = re.compile(r"%[sdifjopc#]|\$[\w.#]+")
_MOCKING = re.compile(r"^(jest|vi|vitest|mock)$")
_MOCKERS = re.compile(r"^(mock|doMock|unstable_mockModule|module)$")


class Call(NamedTuple):
    """A call that declares a group or a test."""

    node: Node
    base: str
    modifiers: tuple[str, ...]
    each: bool
    args: tuple[Node, ...]


def declared(node: Node) -> Call | None:
    """The group or test that a call declares, None for another call."""
    if node.type != "call_expression":
        return None
    function = node.child_by_field_name("function")
    each = function is not None and function.type == "call_expression"
    root, names = chain(function) if function is not None else (node, [])
    base = text(root) if root.type == "identifier" else ""
    if base in ("t", "ctx") and names == ["test"]:
        base, names = "test", []
    if base not in _GROUPS | _TESTS or (each and not {"each", "for", "skipIf", "runIf"} & set(names)):
        return None
    if names and names[-1] in ("each", "for", "skipIf", "runIf", "extend") and not each:
        return None  # the head of a call that declares
    args = tuple(arguments(node))
    return Call(node, base, tuple(names), bool({"each", "for"} & set(names)), args) if args else None


def parse(path: str, data: bytes) -> Module | None:
    """The items of one file; None when it cannot be parsed."""
    language = language_of(path)
    found = tree(language, data) if language is not None else None
    return _Reader(path, found.root_node).module() if found is not None else None


def regions(root: Node) -> list[Node]:
    """The blocks of in-source tests: ``if (import.meta.vitest) { ... }``."""
    return [n for n in root.children if n.type == "if_statement" and _in_source(n)]


def _in_source(node: Node) -> bool:
    return squeezed(node.child_by_field_name("condition")).replace(" ", "") == "(import.meta.vitest)"


def swap(path: str, product: bytes, tests: bytes) -> bytes | None:
    """The product of one version of a file with the in-source tests of the other; None when either does not parse."""
    language = language_of(path)
    ours, theirs = (tree(language, data) if language is not None else None for data in (product, tests))
    if ours is None or theirs is None:
        return None
    mine = regions(ours.root_node)
    new = b"\n\n".join(tests[n.start_byte : n.end_byte] for n in regions(theirs.root_node))
    if not mine:
        return product + b"\n" + new + b"\n" if new else product
    out = product
    for n, node in reversed(list(enumerate(mine))):
        out = out[: node.start_byte] + (new if n == 0 else b"") + out[node.end_byte :]
    return out


class _Reader:
    """One file on its way to a module."""

    def __init__(self, path: str, root: Node) -> None:
        self.path, self.root = path, root
        self.items: dict[str, Item] = {}
        self.spans: list[tuple[int, int]] = []
        self.known = dict(_functions(root))
        self.followed = Followed(self.known, assertions)

    def module(self) -> Module:
        inside = regions(self.root)
        mixed = not is_test_file(self.path)
        tops = inside if mixed and inside else [self.root]
        for top in tops:
            self._visit(top)
        context = [t for top in tops for t in tokens(top, self.spans)] if self.items or not mixed else []
        outer = [n for top in tops for n in self._outside(top) if n.type == "call_expression"]
        return Module(
            path=self.path,
            items=self.items,
            helpers=frozenset(self.known),
            context=canonical(context),
            literals=tuple(literals(context)),
            mocks=frozenset(m for n in outer for m in _mocks(n)),
            imports=dict(_imports(self.root)),
            mixed=mixed,
        )

    def _outside(self, top: Node) -> Iterator[Node]:
        """Every node that is not part of an item."""
        inside, left = frozenset(self.spans), [top]
        while left:
            node = left.pop()
            if (node.start_byte, node.end_byte) not in inside:
                yield node
                left += reversed(node.children)

    def _visit(self, top: Node) -> None:
        left: list[tuple[Node, tuple[tuple[str, bool], ...], str | None]] = [(top, (), None)]
        while left:
            node, titles, disabled = left.pop()
            call = declared(node)
            if call is None:
                left += reversed([(c, titles, disabled) for c in node.children])
                continue
            here = (*titles, _title(call))
            word = _disabled(call) or disabled
            if call.base in _GROUPS:
                left += reversed([(c, here, word) for a in call.args[1:] for c in a.children])
            else:
                self._item(call, here, word)

    def _item(self, call: Call, titles: tuple[tuple[str, bool], ...], disabled: str | None) -> None:
        names = [title for title, _ in titles]
        node = call.node
        # jest gives `skip` and `only` no part in what a test is; what a row of a table holds is.
        parts = [t for n in (_table(call), *call.args[1:]) if n is not None for t in tokens(n)]
        start, stop = _extent(node)
        item = Item(
            id=self._fresh("::".join([self.path, *names])),
            path=self.path,
            name=names[-1],
            owner="::".join(names[:-1]) or None,
            body=canonical(parts) + (f" ({disabled})" if disabled else ""),
            shape=shape(parts),
            calls=frozenset(_calls(call)),
            constants=frozenset(literals(parts)),
            start=start,
            stop=stop,
            line=line(node),
            end=node.end_point.row + 1,
            named=_named(call),
            assertions=self.followed.within(call.args[-1]) if len(call.args) > 1 else (),
            inversions=tuple(_inversions(call)),
            disabled=disabled,
            patience=tuple(_patience(call)),
            mocks=frozenset(m for n in walk(node) for m in _mocks(n)),
            pattern=_pattern(self.path, titles),
            plain=disabled is None and not call.each and not any(dynamic for _, dynamic in titles),
        )
        self.items[item.id] = item
        self.spans.append((node.start_byte, node.end_byte))

    def _fresh(self, wanted: str) -> str:
        """An id of its own: titles may be given twice."""
        number = 2
        out = wanted
        while out in self.items:
            out, number = f"{wanted}#{number}", number + 1
        return out


def _functions(root: Node) -> Iterator[tuple[str, Node]]:
    for node in walk(root):
        if node.type in ("function_declaration", "generator_function_declaration"):
            name = node.child_by_field_name("name")
            if name is not None:
                yield text(name), node
        elif node.type == "variable_declarator":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is not None and value is not None and value.type in FUNCTIONS:
                yield text(name), value


def _title(call: Call) -> tuple[str, bool]:
    """The title, and whether it is made when the test runs."""
    first = call.args[0]
    if first.type in ("string", "template_string"):
        shown = unquoted(first)[1:-1]
        substituted = any(c.type == "template_substitution" for c in first.children)
        return shown, substituted or (call.each and bool(_PRINTF.search(shown)))
    return one_line(first), True


def _pattern(path: str, titles: tuple[tuple[str, bool], ...]) -> tuple[str, ...] | None:
    if not any(dynamic for _, dynamic in titles):
        return None
    pieces = [path]
    for title, dynamic in titles:
        parts = re.split(r"\$\{[^}]*\}|%[sdifjopc#]|\$[\w.#]+", title) if dynamic else [title]
        if dynamic and len(parts) == 1:
            parts = ["", ""]  # nothing of it is known before it runs
        pieces[-1] += "::" + parts[0]
        pieces += parts[1:]
    return tuple(pieces)


def _disabled(call: Call) -> str | None:
    if call.base in ("xit", "xtest", "xdescribe"):
        return "skip"
    word = next((m for m in call.modifiers if m in _DISABLING), None)
    if word is not None:
        return word
    for argument in call.args[1:]:
        if argument.type == "object":
            found = re.search(r"\b(skip|todo)\b : (?!false)", squeezed(argument))
            if found:
                return found[1]
    return "todo" if len(call.args) == 1 and call.base in _TESTS else None


def _table(call: Call) -> Node | None:
    """The rows of an ``each``."""
    function = call.node.child_by_field_name("function")
    return function.child_by_field_name("arguments") if call.each and function is not None else None


def _extent(node: Node) -> tuple[int, int]:
    """The bytes of the statement a call stands in."""
    parent = node.parent
    while parent is not None and parent.type in ("await_expression", "expression_statement"):
        node, parent = parent, parent.parent
    return node.start_byte, node.end_byte


def _named(call: Call) -> tuple[int, int]:
    first = call.args[0]
    if first.type not in ("string", "template_string"):
        return first.start_byte, first.start_byte
    return first.start_byte + 1, first.end_byte - 1


def _calls(call: Call) -> Iterator[str]:
    """Names called in a test, those of the test library left out."""
    for argument in call.args[1:]:
        for node in walk(argument):
            if node.type in ("call_expression", "new_expression"):
                function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
                root, names = chain(function) if function is not None else (node, [])
                if text(root) in ("assert", "jest", "vi", "t") or callee(root) == "expect" or text(root) == "expect":
                    continue
                yield names[-1] if names else text(root)


def _patience(call: Call) -> Iterator[str]:
    for argument in call.args[1:]:
        for node in walk(argument):
            if node.type == "pair" and re.match(r"(retry|retries|repeats)\b", text(node)):
                yield one_line(node)
            elif node.type == "call_expression":
                shown = squeezed(node.child_by_field_name("function"))
                if (
                    shown in ("setTimeout", "sleep", "delay", "wait") and any(number(a) for a in arguments(node))
                ) or shown.endswith((". retryTimes", ". retries", "timers . setTimeout")):
                    yield one_line(node)


def _mocks(node: Node) -> Iterator[str]:
    """Modules and members that a call replaces."""
    if node.type != "call_expression":
        return
    function = node.child_by_field_name("function")
    root, names = chain(function) if function is not None else (node, [])
    args = arguments(node)
    if not names or not args:
        return
    if _MOCKING.match(text(root)) and _MOCKERS.match(names[-1]) and args[0].type == "string":
        yield unquoted(args[0])[1:-1]
    elif names[-1] in ("spyOn", "method", "stub", "replace") and len(args) > 1 and args[1].type == "string":
        parent = node.parent
        if names[-1] != "spyOn" or (parent is not None and parent.type == "member_expression"):
            yield f"{text(args[0])}.{unquoted(args[1])[1:-1]}"


def _imports(root: Node) -> Iterator[tuple[str, str]]:
    for node in root.children:
        source = node.child_by_field_name("source") if node.type == "import_statement" else None
        if source is not None:
            module = unquoted(source)[1:-1]
            yield from ((text(n), module) for n in walk(node) if n.type == "identifier")
    for bound in walk(root):
        if bound.type == "variable_declarator":
            value, name = bound.child_by_field_name("value"), bound.child_by_field_name("name")
            found = re.search(r"(?:require|import) \( \"([^\"]+)\" \)", squeezed(value)[:400]) if value else None
            if found and name is not None:
                for inner in walk(name):
                    if inner.type in ("identifier", "shorthand_property_identifier_pattern"):
                        yield text(inner), found[1]


_BRANCHES = frozenset(("return_statement", "if_statement", "try_statement", "while_statement", "switch_statement"))


def _inversions(call: Call) -> Iterator[Edit]:
    """Edits of expectations that surely run: in the first statements of the test, before any branch."""
    body = call.args[-1].child_by_field_name("body") if len(call.args) > 1 else None
    if body is None:
        return
    for statement in body.named_children if body.type == "statement_block" else [body]:
        if statement.type in _BRANCHES:
            return
        expression = statement
        while expression.type in ("expression_statement", "await_expression") and expression.named_children:
            expression = expression.named_children[0]
        root, names = chain(expression) if expression.type == "call_expression" else (expression, [])
        args = arguments(expression)
        if not names or not args:
            continue
        if {"not", "resolves", "rejects"} & set(names):
            continue
        if callee(root) == "expect" and names[-1] in ("toBe", "toEqual", "toStrictEqual"):
            yield from _other(args[0])
        elif text(root) == "assert" and re.match(r"(strictE|deepStrictE|deepE|e)qual$", names[-1]):
            yield from (e for a in args[1:2] for e in _other(a))


def _other(node: Node) -> Iterator[Edit]:
    """An edit that makes another value of a literal."""
    raw = text(node)
    if node.type == "number" and re.fullmatch(r"[\d._]+", raw):
        yield Edit(node.start_byte, node.end_byte, f"{raw.split('.')[0]}97".encode())
    elif node.type in ("string", "template_string") and "${" not in raw:
        yield Edit(node.start_byte, node.end_byte, (raw[:-1] + "~" + raw[-1]).encode())
    elif node.type in ("true", "false"):
        yield Edit(node.start_byte, node.end_byte, b"false" if raw == "true" else b"true")
    elif node.type in ("array", "object", "unary_expression"):
        inner = next((e for c in node.named_children for e in _other(c.child_by_field_name("value") or c)), None)
        if inner is not None:
            yield inner
