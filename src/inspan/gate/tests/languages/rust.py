"""Rust tests: functions with a test attribute wherever they stand, and the examples of documentation. Pure.

The id of a test is the target's source file and the path of modules, as ``cargo test`` gives it. Unit tests stand in
files of the product; their module, and whatever else is built only for tests, are the test regions of such a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspan.gate.syntax import text, tree, walk
from inspan.gate.tests.conventions import is_test_file
from inspan.gate.tests.items import Edit, Item, Module
from inspan.gate.tests.languages.followed import Followed
from inspan.gate.tests.languages.rust_assertions import assertions, called, macro, panicking, parts
from inspan.gate.tests.languages.rust_regions import TEST, Part, conditions, declarations, documented, for_tests
from inspan.gate.tests.languages.tokens import canonical, literals, one_line, shape, squeezed, tokens

if TYPE_CHECKING:
    from tree_sitter import Node

SUFFIXES: tuple[str, ...] = ("_again", "_twice", "_once_more", "_also")
_DISABLING = re.compile(r"^(?:ignore\b|cfg_attr\b.*\bignore\b)")
_SAID = re.compile(r"^(should_panic|ignore|doc|cfg|cfg_attr|allow|expect)\b")
_EXPECTED = re.compile(r'expected = (".*")')
_FRAMEWORK = frozenset(
    ("unwrap", "expect", "unwrap_err", "expect_err", "Ok", "Err", "Some", "to_string", "into", "from")
)
_FENCE = re.compile(r"^\s*(```+|~~~+)(.*)$")
_NO_TEST = re.compile(r"\b(ignore|text|no_run|compile_fail|console|toml|json|sh|bash|plain|txt|ignore-\w+)\b")


def parse(path: str, data: bytes) -> Module | None:
    """The items of one file; None when it cannot be parsed."""
    found = tree("rust", data)
    return _Reader(path, found.root_node).module() if found is not None else None


def crate(path: str) -> tuple[str, list[str]]:
    """The source file of the target that a file belongs to, and the modules that lead to it."""
    folders = path.split("/")
    if "src" in folders[:-1]:
        at = len(folders) - 2 - folders[:-1][::-1].index("src")
        rest = folders[at + 1 :]
        if rest in (["lib.rs"], ["main.rs"]) or rest[0] == "bin":
            return path, []
        modules = [*rest[:-1], rest[-1].removesuffix(".rs")]
        return "/".join([*folders[: at + 1], "lib.rs"]), modules[:-1] if modules[-1] == "mod" else modules
    return path, []


class _Reader:
    """One file on its way to a module."""

    def __init__(self, path: str, root: Node) -> None:
        self.path, self.root = path, root
        self.target, self.modules = crate(path)
        self.mixed = not is_test_file(path)
        self.parts = list(declarations(root))
        self.known = {n: node for p in self.parts for n, node in self._functions(p)}
        self.followed = Followed(self.known, assertions)

    def _functions(self, part: Part) -> Iterator[tuple[str, Node]]:
        """A function that tests may call: any of a test file, those of the test regions of a file of the product."""
        name = part.node.child_by_field_name("name")
        ours = not self.mixed or part.within_tests or for_tests(part)
        if part.node.type == "function_item" and name is not None and ours and not self._is_test(part):
            yield text(name), part.node

    def _is_test(self, part: Part) -> bool:
        return part.node.type == "function_item" and any(TEST.match(a) for a in part.attributes)

    def module(self) -> Module:
        items: dict[str, Item] = {}
        gates: list[str] = [
            text(n) for n in self.root.children if n.type == "inner_attribute_item" and "cfg" in text(n)
        ]
        for part in self.parts:
            if part.within_tests or for_tests(part):
                gates += [c for c in conditions(part) if c != "test"]
            item = self._item(part) if self._is_test(part) else None
            if item is not None:
                items[item.id] = item
        for item in self._documentation():
            items[item.id] = item
        context = self._context(items)
        return Module(
            path=self.path,
            items=items,
            helpers=frozenset(self.known),
            context=canonical(context),
            literals=tuple(literals(context)),
            gates=tuple(gates),
            imports={},
            mixed=self.mixed,
        )

    def _context(self, items: dict[str, Item]) -> list:  # type: ignore[type-arg]
        """Tokens of what belongs to the tests: the whole of a test file, the regions of a file of the product."""
        spans = {(p.node.start_byte, p.node.end_byte) for p in self.parts if self._is_test(p)}
        spans |= {(a.start_byte, a.end_byte) for p in self.parts if self._is_test(p) for a in p.attribute_nodes}
        if not self.mixed:
            return list(tokens(self.root, spans))
        tops = [p.node for p in self.parts if for_tests(p) and not p.within_tests and not self._is_test(p)]
        return [t for n in tops for t in tokens(n, spans)]

    def _item(self, part: Part) -> Item | None:
        node, named = part.node, part.node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if named is None or body is None:
            return None
        name = text(named)
        marks = [a for a in part.attributes if a != "test"]
        held = [t for n in (node.child_by_field_name("parameters"), node.child_by_field_name("return_type"), body)
                if n is not None for t in tokens(n)]  # fmt: skip
        panics = next((a for a in part.attributes if a.startswith("should_panic")), None)
        found = self.followed.within(body)
        if panics is not None:
            expected = _EXPECTED.search(panics)
            found = panicking(found, expected[1] if expected else None, node)
        disabled = next((m.split(" ", 1)[0] for m in marks if _DISABLING.match(m)), None)
        rows = [a for a, said in zip(part.attribute_nodes, part.attributes, strict=True) if not _SAID.match(said)]
        cases = [t.text for a in rows for t in tokens(a) if t.kind == "literal"]
        return Item(
            id="::".join([self.target, *self.modules, *part.within, name]),
            path=self.path,
            name=name,
            owner="::".join([*self.modules, *part.within]) or None,
            body="\n".join([*marks, canonical(held)]),
            shape="\n".join([*marks, shape(held)]),
            calls=frozenset(_calls(body)),
            constants=frozenset([*_constants(body), *cases]),
            start=part.start,
            stop=node.end_byte,
            line=part.line,
            end=node.end_point.row + 1,
            named=(named.start_byte, named.end_byte),
            assertions=found,
            inversions=tuple(_inversions(body)),
            disabled=disabled,
            patience=tuple(_patience(body)),
            plain=panics is None and disabled is None and "rstest" not in " ".join(marks),
        )

    def _documentation(self) -> Iterator[Item]:
        """One item for all the examples of one documented declaration."""
        for comment in documented(self.root):
            code = examples(comment.text)
            if not code:
                continue
            full = "::".join([*self.modules, *comment.within, *([comment.name] if comment.name else [])])
            found = tree("rust", f"fn main() {{\n{code}\n}}".encode())
            held = list(tokens(found.root_node)) if found is not None else []
            yield Item(
                id=f"{self.path}::doc::{full or 'crate'}",
                path=self.path,
                name=comment.name or full or "crate",
                owner="doc",
                body=canonical(held) if held else " ".join(code.split()),
                shape=shape(held),
                calls=frozenset(_calls(found.root_node)) - {"main"} if found is not None else frozenset(),
                constants=frozenset(_constants(found.root_node)) if found is not None else frozenset(),
                start=comment.start,
                stop=comment.stop,
                line=comment.line,
                end=comment.end,
                assertions=self.followed.within(found.root_node) if found is not None else (),
                plain=False,
            )


def examples(comment: str) -> str:
    """The code of a documentation comment that is run as a test."""
    out: list[str] = []
    fence: str | None = None
    kept = False
    for row in comment.split("\n"):
        mark = _FENCE.match(row)
        if mark and fence is None:
            fence, kept = mark[1][0] * 3, not _NO_TEST.search(mark[2])
        elif mark and fence is not None and mark[1].startswith(fence):
            fence = None
        elif fence is not None and kept:
            out.append(re.sub(r"^(\s*)# ?", r"\1", row) if row.lstrip().startswith("# ") else row)
    return "\n".join(out)


def _calls(node: Node) -> Iterator[str]:
    for inner in walk(node):
        if inner.type == "call_expression":
            if (name := called(inner)) and name not in _FRAMEWORK:
                yield name
        elif inner.type == "token_tree":
            # Inside a macro there are only tokens: a name before parentheses is a call.
            for a, b in zip(inner.children, inner.children[1:], strict=False):
                if a.type == "identifier" and b.type == "token_tree" and text(a) not in _FRAMEWORK:
                    yield text(a)


def _constants(node: Node) -> Iterator[str]:
    """Literals, those of messages left out."""
    said: set[tuple[int, int]] = set()
    for inner in walk(node):
        if inner.type == "macro_invocation":
            name, given = macro(inner), parts(inner)
            first = {"assert": 1, "debug_assert": 1, "assert_eq": 2, "assert_ne": 2, "panic": 0, "println": 0}.get(name)
            if first is not None:
                said |= {(n.start_byte, n.end_byte) for part in given[first:] for n in part}
        elif inner.type == "call_expression" and called(inner) in ("expect", "expect_err"):
            said |= {(a.start_byte, a.end_byte) for a in inner.named_children if a.type == "arguments"}
    yield from literals(tokens(node, said))


def _patience(body: Node) -> Iterator[str]:
    for node in walk(body):
        if node.type == "call_expression" and re.search(
            r"(^|:: )sleep$", squeezed(node.child_by_field_name("function"))
        ):
            yield one_line(node)


_BRANCHES = frozenset(
    ("return_expression", "if_expression", "match_expression", "while_expression", "loop_expression")
)  # fmt: skip


def _inversions(body: Node) -> Iterator[Edit]:
    """Edits of ``assert_eq!`` among the first statements, before any branch."""
    for statement in body.named_children:
        inner = (
            statement.named_children[0]
            if statement.type == "expression_statement" and statement.named_children
            else statement
        )
        if inner.type in (
            "return_expression",
            "if_expression",
            "match_expression",
            "while_expression",
            "loop_expression",
        ):
            return
        if inner.type != "macro_invocation" or macro(inner) != "assert_eq":
            continue
        given = parts(inner)
        for part in reversed(given[:2]):
            if len(part) == 1 and part[0].type == "integer_literal" and re.fullmatch(r"\d+", text(part[0])):
                yield Edit(part[0].start_byte, part[0].end_byte, b"9" if text(part[0]) != "9" else b"8")
                break
            if len(part) == 1 and part[0].type == "string_literal":
                raw = text(part[0])
                yield Edit(part[0].start_byte, part[0].end_byte, (raw[:-1] + '~"').encode())
                break
        else:
            name = inner.child_by_field_name("macro")
            if name is not None and name.type == "identifier":
                yield Edit(name.start_byte, name.end_byte, b"assert_ne")
