"""Python tests by the standard library's ``ast``: functions, methods, and what stands around them. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from inspan.gate.tests.items import Edit, Item, Module
from inspan.gate.tests.languages.followed import Followed
from inspan.gate.tests.languages.python_assertions import FunctionNode, assertions

SUFFIXES: tuple[str, ...] = ("_again", "_twice", "_once_more", "_repeated", "_more", "_also")
_MARKS = ("xfail", "skip", "expectedFailure", "flaky", "retry", "parametrize", "rerun")
_DISABLING = re.compile(r"(xfail|skipif|skipIf|skipUnless|skip|expectedFailure)\b")
_RETRYING = re.compile(r"\b(flaky|reruns?|retry|retries|repeat_until\w*)\b")


def parse(path: str, data: bytes) -> Module | None:
    """The items of one Python file; None when it cannot be parsed."""
    try:
        return _Reader(path, data, ast.parse(data)).module()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_test(name: str) -> bool:
    return name.startswith("test")


def _is_test_class(node: ast.ClassDef) -> bool:
    bases = {ast.unparse(b) for b in node.bases}
    return node.name.startswith("Test") or any(b.rsplit(".", 1)[-1].endswith("TestCase") for b in bases) or any(
        isinstance(n, FunctionNode) and _is_test(n.name) for n in node.body
    )  # fmt: skip


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


class _Reader:
    """One file on its way to a module."""

    def __init__(self, path: str, data: bytes, tree: ast.Module) -> None:
        self.path, self.tree = path, tree
        self.lines = data.splitlines(keepends=True)
        self.offsets = [0]
        for line in self.lines:
            self.offsets.append(self.offsets[-1] + len(line))
        self.tests: list[tuple[FunctionNode, str | None]] = []
        self.known: dict[str, FunctionNode] = {}
        self.context: list[str] = []
        self.followed = Followed(self.known, assertions)

    def module(self) -> Module:
        self._body(self.tree.body, None)
        items = {i.id: i for i in (self._item(node, owner) for node, owner in self.tests)}
        context = "\n".join(self.context)
        return Module(
            path=self.path,
            items=items,
            helpers=frozenset(self.known),
            context=context,
            literals=tuple(repr(n.value) for n in ast.walk(ast.parse(context)) if isinstance(n, ast.Constant)),
            mocks=frozenset(_mocks([n for n in self.tree.body if not isinstance(n, FunctionNode | ast.ClassDef)])),
            imports=dict(_imports(self.tree)),
        )

    def _body(self, nodes: list[ast.stmt], owner: str | None) -> None:
        for node in nodes:
            if isinstance(node, FunctionNode):
                if _is_test(node.name):
                    self.tests.append((node, owner))
                    continue
                self.known[node.name] = node
            if isinstance(node, ast.ClassDef) and _is_test_class(node):
                bases = ", ".join(ast.unparse(b) for b in node.bases)
                self.context.append(f"class {node.name}({bases}): ...")
                self.context += [ast.unparse(d) for d in node.decorator_list]
                self._body(node.body, f"{owner}::{node.name}" if owner else node.name)
            elif not _is_text(node):
                self.context.append(ast.unparse(node))

    def _item(self, node: FunctionNode, owner: str | None) -> Item:
        statements = node.body[1:] if _is_text(node.body[0]) else node.body
        marks = [ast.unparse(d) for d in node.decorator_list]
        body = "\n".join([*marks, ast.unparse(node.args), *(ast.unparse(s) for s in statements)])
        walked = [n for s in (*node.decorator_list, *statements) for n in ast.walk(s)]
        messages = {c for n in walked if isinstance(n, ast.Assert) and n.msg for c in ast.walk(n.msg)}
        line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        end = node.end_lineno or node.lineno
        disabling = next((found[1] for m in marks if (found := _DISABLING.search(m))), None)
        return Item(
            id=f"{self.path}::{owner}::{node.name}" if owner else f"{self.path}::{node.name}",
            path=self.path,
            name=node.name,
            owner=owner,
            body=body,
            shape=_shape(node, statements),
            calls=frozenset(_called(n) for n in walked if isinstance(n, ast.Call)) - {""},
            constants=frozenset(repr(n.value) for n in walked if isinstance(n, ast.Constant) and n not in messages),
            start=self.offsets[line - 1],
            stop=self.offsets[end],
            line=line,
            end=end,
            named=self._named(node),
            assertions=self.followed.within(node),
            inversions=tuple(self._inversions(node)),
            disabled=disabling,
            patience=tuple(m for m in marks if _RETRYING.search(m)) + tuple(_sleeps(walked)),
            mocks=frozenset(_mocks([*node.decorator_list, *statements])),
            plain=not any(word in m for m in marks for word in _MARKS),
        )

    def _named(self, node: FunctionNode) -> tuple[int, int]:
        start = self.offsets[node.lineno - 1] + node.col_offset
        text = b"".join(self.lines[node.lineno - 1 : node.end_lineno])
        found = re.compile(rb"def\s+(%s)\b" % node.name.encode()).search(text)
        if found is None:
            return start, start
        return self.offsets[node.lineno - 1] + found.start(1), self.offsets[node.lineno - 1] + found.end(1)

    def _inversions(self, node: FunctionNode) -> Iterator[Edit]:
        """One edit per assertion that surely runs: what follows a branch may not be reached."""
        for statement in node.body:
            if isinstance(statement, ast.Return | ast.If | ast.Try | ast.While | ast.Match):
                return
            found = _replacement(statement)
            if found is not None and found[0].end_lineno is not None and found[0].end_col_offset is not None:
                target, text = found
                start = self.offsets[target.lineno - 1] + target.col_offset
                stop = self.offsets[found[0].end_lineno - 1] + found[0].end_col_offset
                yield Edit(start, stop, text.encode())


def _shape(node: FunctionNode, statements: list[ast.stmt]) -> str:
    class Nameless(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            return ast.Name(id="_", ctx=node.ctx)

        def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
            self.generic_visit(node)
            return ast.Attribute(value=node.value, attr="_", ctx=node.ctx)

    def fresh(part: ast.AST) -> ast.AST:
        kind = "eval" if isinstance(part, ast.expr) else "exec"
        return ast.parse(ast.unparse(part), mode=kind)

    parts = [*node.decorator_list, *statements]
    return "\n".join([ast.unparse(node.args), *(ast.unparse(Nameless().visit(fresh(p))) for p in parts)])


def _called(call: ast.Call) -> str:
    function = call.func
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def _other(value: object) -> object | None:
    """A literal that differs from this one; None when this kind of literal is left alone."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 97
    if isinstance(value, str):
        return value + "~"
    if isinstance(value, bytes):
        return value + b"~"
    return None


def _replacement(node: ast.stmt) -> tuple[ast.expr, str] | None:
    """The expression to replace in an asserting statement, and its replacement."""
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
        test = node.test
        for side in (test.comparators[0], test.left):
            if isinstance(test.ops[0], ast.Eq) and isinstance(side, ast.Constant):
                other = _other(side.value)
                if other is not None:
                    return side, repr(other)
        if isinstance(test.ops[0], ast.Eq | ast.Is):
            return test, f"not ({ast.unparse(test)})"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        call = node.value
        if node.value.func.attr in ("assertEqual", "assertEquals"):
            for side in reversed(call.args[:2]):
                if isinstance(side, ast.Constant) and (other := _other(side.value)) is not None:
                    return side, repr(other)
    return None


def _sleeps(nodes: list[ast.AST]) -> Iterator[str]:
    return (ast.unparse(n)[:160] for n in nodes if isinstance(n, ast.Call) and _called(n) == "sleep")


def _mocks(nodes: list[ast.expr] | list[ast.stmt] | list[ast.AST]) -> Iterator[str]:
    """What is replaced: the dotted target of ``patch``, the name given to ``setattr``, ``patch.object`` or ``setitem``,
    and names bound anew."""
    for call in (n for top in nodes for n in ast.walk(top) if isinstance(n, ast.Call)):
        name, args = ast.unparse(call.func), [a for a in call.args if not isinstance(a, ast.Starred)]
        texts = [a.value for a in args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if re.search(r"(^|\.)patch$|(^|\.)create_autospec$", name) and texts:
            yield texts[0]
        elif re.search(r"(^|\.)(setattr|setitem|object|dict)$", name) and len(args) > 1 and texts:
            owner = "" if isinstance(args[0], ast.Constant) else ast.unparse(args[0]) + "."
            yield owner + texts[0]
        elif re.search(r"(^|\.)setattr$", name) and texts:
            yield texts[0]


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.split(".", 1)[0], alias.name
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                yield alias.asname or alias.name, module
