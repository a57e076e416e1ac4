"""Probes that must fail: copies of real tests with one inverted expectation and an ordinary name. Pure.

A suite that reports such a copy as passed does not report what its tests found. The copy stands right behind its
original in the same file, so that whatever selects the one selects the other.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

import msgspec

from inspan.gate.tests.items import Item, Module

_SUFFIXES = ("_again", "_twice", "_once_more", "_repeated", "_more", "_also")


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """One probe: its item id and that of the test it was copied from."""

    id: str
    original: str
    line: str


class Planted(msgspec.Struct, frozen=True, kw_only=True):
    """A test file with probes in it."""

    path: str
    data: bytes
    probes: tuple[Probe, ...]


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


def _copy(item: Item, lines: list[str], name: str) -> tuple[list[str], str] | None:
    """Source lines of the inverted copy, and the line that was changed. Only assertions that surely run are touched."""
    for node in item.node.body:
        if isinstance(node, ast.Return | ast.If | ast.Try | ast.While | ast.Match):
            return None  # what follows may not be reached
        found = _replacement(node)
        if found is None:
            continue
        target, text = found
        if target.lineno != target.end_lineno or target.end_col_offset is None:
            continue
        out = list(lines[item.line - 1 : item.end])
        at = target.lineno - item.line
        raw = out[at].encode()
        out[at] = (raw[: target.col_offset] + text.encode() + raw[target.end_col_offset :]).decode()
        head = item.node.lineno - item.line
        renamed = out[head].replace(f"def {item.name}", f"def {name}", 1)
        if renamed == out[head]:
            return None
        out[head] = renamed
        return out, out[at].strip()
    return None


def plant(module: Module, data: bytes, wanted: Sequence[str], most: int) -> Planted | None:
    """Put up to ``most`` probes into a test file, copied from the wanted items; None when none of them is suitable."""
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None
    taken = {i.name for i in module.items.values()} | set(module.helpers)
    made: list[tuple[int, list[str], Probe]] = []
    for item_id in wanted:
        item = module.items.get(item_id)
        if item is None or len(made) >= most or not _plain(item):
            continue
        name = next((item.name + s for s in _SUFFIXES if item.name + s not in taken), None)
        copied = _copy(item, lines, name) if name else None
        if name is None or copied is None:
            continue
        taken.add(name)
        probe_id = item_id.removesuffix(item.name) + name
        made.append((item.end, ["", *copied[0]], Probe(id=probe_id, original=item_id, line=copied[1])))
    if not made:
        return None
    for end, copy, _ in sorted(made, key=lambda m: -m[0]):
        lines[end:end] = copy
    planted = "\n".join(lines).encode("utf-8")
    try:
        ast.parse(planted)
    except SyntaxError:
        return None
    return Planted(path=module.path, data=planted, probes=tuple(p for _, _, p in made))


def _plain(item: Item) -> bool:
    """Without decorators that could change what a failure means."""
    names: Collection[str] = [ast.unparse(d) for d in item.node.decorator_list]
    return not any(
        word in n for n in names for word in ("xfail", "skip", "expectedFailure", "flaky", "retry", "parametrize")
    )
