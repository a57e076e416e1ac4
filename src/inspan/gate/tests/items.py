"""Test items of a Python file, by its syntax tree: functions, methods, and what stands around them. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import msgspec

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One test item.

    Attributes:
        id: ``path::name`` or ``path::Class::name``.
        body: canonical text of decorators, arguments and body without the name: equal bodies are the same test.
        calls: helper names the item calls that its own module defines.
        constants: every literal in it but the docstring, as text.
        node: its syntax.
        line, end: first (with decorators) and last line, from 1.
    """

    id: str
    path: str
    name: str
    owner: str | None
    body: str
    calls: frozenset[str]
    constants: frozenset[str]
    node: FunctionNode
    line: int
    end: int


class Module(msgspec.Struct, frozen=True, kw_only=True):
    """One parsed test file: its items, its helpers and fixtures, and the canonical text of all that is not an item."""

    path: str
    items: Mapping[str, Item]
    helpers: Mapping[str, FunctionNode]
    context: str

    @property
    def literals(self) -> list[str]:
        """Every literal of the context, in order."""
        return [repr(n.value) for n in ast.walk(ast.parse(self.context)) if isinstance(n, ast.Constant)]


def _is_test(name: str) -> bool:
    return name.startswith("test")


def _is_test_class(node: ast.ClassDef) -> bool:
    bases = {ast.unparse(b) for b in node.bases}
    return node.name.startswith("Test") or any(b.rsplit(".", 1)[-1].endswith("TestCase") for b in bases) or any(
        isinstance(n, FunctionNode) and _is_test(n.name) for n in node.body
    )  # fmt: skip


def _without_docstring(node: FunctionNode) -> list[ast.stmt]:
    body = list(node.body)
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[1:]
    return body


def _item(path: str, node: FunctionNode, owner: str | None) -> Item:
    statements = _without_docstring(node)
    parts = [ast.unparse(d) for d in node.decorator_list] + [ast.unparse(node.args)]
    parts += [ast.unparse(s) for s in statements]
    walked = [n for s in (*node.decorator_list, *statements) for n in ast.walk(s)]
    return Item(
        id=f"{path}::{owner}::{node.name}" if owner else f"{path}::{node.name}",
        path=path,
        name=node.name,
        owner=owner,
        body="\n".join(parts),
        calls=frozenset(_called(n) for n in walked if isinstance(n, ast.Call)) - {""},
        constants=frozenset(repr(n.value) for n in walked if isinstance(n, ast.Constant)),
        node=node,
        line=min([node.lineno, *(d.lineno for d in node.decorator_list)]),
        end=node.end_lineno or node.lineno,
    )


def _called(call: ast.Call) -> str:
    function = call.func
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def parse(path: str, data: bytes) -> Module | None:
    """The items of one Python file; None when it cannot be parsed."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return None
    items: dict[str, Item] = {}
    helpers: dict[str, FunctionNode] = {}
    context: list[str] = []
    for node in tree.body:
        if isinstance(node, FunctionNode):
            if _is_test(node.name):
                found = _item(path, node, None)
                items[found.id] = found
            else:
                helpers[node.name] = node
                context.append(ast.unparse(node))
        elif isinstance(node, ast.ClassDef) and _is_test_class(node):
            context.append(_class(path, node, items, helpers))
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            context.append(ast.unparse(node))
    return Module(path=path, items=items, helpers=helpers, context="\n".join(context))


def _class(path: str, node: ast.ClassDef, items: dict[str, Item], helpers: dict[str, FunctionNode]) -> str:
    """Record the items and helpers of a test class; what is left of it is context."""
    rest = [f"class {node.name}({', '.join(ast.unparse(b) for b in node.bases)}): ..."]
    rest += [ast.unparse(d) for d in node.decorator_list]
    for inner in node.body:
        if isinstance(inner, FunctionNode) and _is_test(inner.name):
            found = _item(path, inner, node.name)
            items[found.id] = found
        else:
            if isinstance(inner, FunctionNode):
                helpers[inner.name] = inner
            if not (isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant)):
                rest.append(ast.unparse(inner))
    return "\n".join(rest)


def item_of(test_id: str) -> str:
    """The item a runner's test id belongs to: the id without its parameters."""
    head, _, tail = test_id.partition("::")
    return f"{head}::{tail.split('[', 1)[0]}" if tail else head
