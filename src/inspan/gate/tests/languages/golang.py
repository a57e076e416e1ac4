"""Go tests: ``TestXxx``, fuzz targets and examples of ``_test.go`` files. Pure.

The id of a test is its package's directory and its name, as ``go test`` gives it; what ``t.Run`` starts belongs to the
function that calls it. Rows of a table are literals of their test.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspan.gate.syntax import line, text, tree, walk
from inspan.gate.tests.items import Edit, Item, Module
from inspan.gate.tests.languages.followed import Followed
from inspan.gate.tests.languages.golang_assertions import REPORTS, assertions, method
from inspan.gate.tests.languages.tokens import (
    arguments,
    canonical,
    literals,
    one_line,
    shape,
    squeezed,
    tokens,
    unquoted,
)
from inspan.gate.tests.strength import Assertion, Strength

if TYPE_CHECKING:
    from tree_sitter import Node

SUFFIXES: tuple[str, ...] = ("Again", "Twice", "OnceMore", "Also")
_TEST = re.compile(r"^(Test|Fuzz|Example)([^a-z]|$)")
_BUILD = re.compile(r"^//\s*(go:build|\+build)\s")
_PLATFORM = re.compile(
    r"_(linux|darwin|windows|freebsd|openbsd|netbsd|android|ios|js|wasip1|plan9|solaris|aix|amd64|arm64|arm|386|wasm|riscv64)"
    r"_test\.go$"
)
_OUTPUT = re.compile(r"^//\s*(unordered )?output:", re.IGNORECASE)
_SPARED = frozenset(("main", "TestMain"))


def parse(path: str, data: bytes) -> Module | None:
    """The items of one file; None when it cannot be parsed."""
    found = tree("go", data)
    if found is None:
        return None
    root = found.root_node
    functions = {
        text(name): n
        for n in root.children
        if n.type == "function_declaration"
        if (name := n.child_by_field_name("name"))
    }
    methods = {
        text(name): n
        for n in root.children
        if n.type == "method_declaration"
        if (name := n.child_by_field_name("name"))
    }
    tests = {
        n: node for n, node in functions.items() if path.endswith("_test.go") and _TEST.match(n) and n not in _SPARED
    }
    known = {n: node for n, node in (methods | functions).items() if n not in tests}
    followed = Followed(known, assertions)
    items = {i.id: i for i in (_item(path, name, node, followed) for name, node in tests.items())}
    spans = {(i.start, i.stop) for i in items.values()}
    context = [t for n in root.children if (n.start_byte, n.end_byte) not in spans for t in tokens(n)]
    return Module(
        path=path,
        items=items,
        helpers=frozenset(known) | {n for n in functions if n not in tests},
        context=canonical(context),
        literals=tuple(literals(context)),
        gates=tuple(_gates(path, root)),
        imports=dict(_imports(root)),
        mixed=not path.endswith("_test.go"),
    )


def _item(path: str, name: str, node: Node, known: Followed[Node]) -> Item:
    body = node.child_by_field_name("body")
    parts = [t for field in ("parameters", "body") if (n := node.child_by_field_name(field)) for t in tokens(n)]
    output = _output(node)
    held = list(tokens(node, _messages(node)))
    disabled = _skipped(body)
    named = node.child_by_field_name("name")
    found = known.within(node)
    if output:
        found += (
            Assertion(
                subject="output", strength=Strength.EQUAL, constants=frozenset(output), line=line(node), text=output[0]
            ),
        )
    return Item(
        id=f"{posixpath.dirname(path) or '.'}::{name}",
        path=path,
        name=name,
        owner=None,
        body=" ".join((canonical(parts), *output)),
        shape=" ".join((shape(parts), *output)),
        calls=frozenset(_calls(node)),
        constants=frozenset(literals(held)) | frozenset(output),
        start=node.start_byte,
        stop=node.end_byte,
        line=line(node),
        end=node.end_point.row + 1,
        named=(named.start_byte, named.end_byte) if named is not None else (0, 0),
        assertions=found,
        inversions=tuple(_inversions(body)) if body is not None and name.startswith("Test") else (),
        disabled=disabled,
        patience=tuple(_patience(node)),
        plain=disabled is None and name.startswith("Test"),
    )


def _messages(node: Node) -> set[tuple[int, int]]:
    """The bytes of what is only said: arguments of reports and logs, names of sub-tests."""
    out: set[tuple[int, int]] = set()
    for call in walk(node):
        name = method(call) if call.type == "call_expression" else ""
        said = (
            arguments(call)
            if name in REPORTS or name in ("Log", "Logf")
            else arguments(call)[:1]
            if name == "Run"
            else []
        )
        out |= {(a.start_byte, a.end_byte) for a in said if a.type != "identifier"}
    return out


def _output(node: Node) -> list[str]:
    """The expected output of an example: the comment that ends its body."""
    body = node.child_by_field_name("body")
    comments = [text(n) for n in walk(body) if n.type == "comment"] if body is not None else []
    at = next((i for i, c in enumerate(comments) if _OUTPUT.match(c)), None)
    return comments[at:] if at is not None else []


def _statements(body: Node | None) -> list[Node]:
    if body is None:
        return []
    inner = body.named_children
    return inner[0].named_children if inner and inner[0].type == "statement_list" else inner


def _skipped(body: Node | None) -> str | None:
    """``skip`` for a test whose first statement skips it whatever happens."""
    for statement in _statements(body)[:3]:
        call = statement.named_children[0] if statement.type == "expression_statement" else statement
        if call.type == "call_expression" and method(call) in ("Skip", "Skipf", "SkipNow"):
            return "skip"
    return None


def _calls(node: Node) -> Iterator[str]:
    for call in walk(node):
        if call.type == "call_expression":
            name = method(call)
            if (
                name
                and name not in REPORTS
                and name not in ("Run", "Helper", "Log", "Logf", "Parallel", "len", "append")
            ):
                yield name


def _patience(node: Node) -> Iterator[str]:
    for call in walk(node):
        if call.type == "call_expression" and squeezed(call.child_by_field_name("function")) == "time . Sleep":
            yield one_line(call)


def _gates(path: str, root: Node) -> Iterator[str]:
    for node in root.children:
        if node.type == "comment" and _BUILD.match(text(node)):
            yield text(node)
        elif node.type == "package_clause":
            break
    found = _PLATFORM.search(path)
    if found:
        yield found[1]


def _imports(root: Node) -> Iterator[tuple[str, str]]:
    for spec in (
        n for top in root.children if top.type == "import_declaration" for n in walk(top) if n.type == "import_spec"
    ):
        target, name = spec.child_by_field_name("path"), spec.child_by_field_name("name")
        if target is not None:
            module = unquoted(target)[1:-1]
            yield (text(name) if name is not None else module.rsplit("/", 1)[-1]), module


def _inversions(body: Node) -> Iterator[Edit]:
    """Edits of expectations that surely run: of ``if got != want`` among the first statements, before any return."""
    for statement in _statements(body):
        if statement.type in ("return_statement", "for_statement", "expression_switch_statement", "select_statement"):
            return
        condition = statement.child_by_field_name("condition") if statement.type == "if_statement" else None
        if condition is None or condition.type != "binary_expression" or not _reports(statement):
            continue
        operator = condition.child_by_field_name("operator")
        right = condition.child_by_field_name("right")
        if operator is not None and text(operator) == "!=" and right is not None:
            if right.type in ("int_literal", "interpreted_string_literal"):
                raw = text(right)
                other = raw[:-1] + "~" + raw[-1] if raw[-1] in '"' else f"({raw} + 97)"
                yield Edit(right.start_byte, right.end_byte, other.encode())
            elif right.type != "nil":
                yield Edit(operator.start_byte, operator.end_byte, b"==")


def _reports(statement: Node) -> bool:
    inner = statement.child_by_field_name("consequence")
    return inner is not None and any(n.type == "call_expression" and method(n) in REPORTS for n in walk(inner))
