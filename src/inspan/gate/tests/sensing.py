"""Product code that newly reaches for the test runner, or asks whether it is being tested. Pure.

Results come out of the process that runs the product: code that takes the runner's insides in hand can give one test
the outcome it wants, and code that knows which test is running can answer that one. Nothing else the gate runs shows
either, so a person reads the lines.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

_RUNNERS = frozenset(("pytest", "_pytest", "pluggy", "unittest"))
_VARIABLES = ("PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTEST_XDIST")


class Sensed(NamedTuple):
    """One place: rule word and source line."""

    rule: str
    line: str


def sensed(before: bytes | None, after: bytes) -> list[Sensed]:
    """What ``after`` has of this beyond ``before``; nothing for a file that cannot be parsed (it fails by itself)."""
    left = Counter(_places(before or b""))
    out: list[Sensed] = []
    for place in _places(after):
        if left[place] > 0:
            left[place] -= 1
        else:
            out.append(place)
    return out


def _places(data: bytes) -> list[Sensed]:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [Sensed(rule, ast.unparse(node).split("\n")[0][:160]) for node in ast.walk(tree) for rule in _rules(node)]


def _rules(node: ast.AST) -> Iterator[str]:
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        names = [node.module or ""]
    if any(name.split(".")[0] in _RUNNERS and name != "unittest.mock" for name in names):
        yield "runner_touched"
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(_VARIABLES):
        yield "test_sensed"
    if isinstance(node, ast.Compare) and _is_runner(node.left) and any(_is_modules(c) for c in node.comparators):
        yield "test_sensed"
    if isinstance(node, ast.Subscript) and _is_modules(node.value) and _is_runner(node.slice):
        yield "runner_touched"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_modules(node.func.value):
        yield from ("runner_touched" for argument in node.args if _is_runner(argument))


def _is_modules(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "modules") or (
        isinstance(node, ast.Name) and node.id == "modules"
    )


def _is_runner(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split(".")[0] in _RUNNERS
