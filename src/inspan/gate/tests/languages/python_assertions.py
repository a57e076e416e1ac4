"""Assertions of Python tests: plain ``assert``, pytest, unittest, numpy and mocks. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from inspan.gate.tests.languages.followed import Followed
from inspan.gate.tests.strength import Assertion, Strength, assertive

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

S = Strength
_METHODS: Mapping[str, Strength] = {
    "assertIs": S.IDENTITY, "assertIsNone": S.IDENTITY, "assertEqual": S.EQUAL, "assertEquals": S.EQUAL,
    "assertAlmostEqual": S.CLOSE, "assertCountEqual": S.CLOSE, "assertIn": S.MEMBER, "assertNotIn": S.TRUTHY,
    "assertRegex": S.MEMBER, "assertNotRegex": S.TRUTHY, "assertGreater": S.ORDER, "assertGreaterEqual": S.ORDER,
    "assertLess": S.ORDER, "assertLessEqual": S.ORDER, "assertIsInstance": S.TYPE, "assertNotIsInstance": S.TRUTHY,
    "assertIsNotNone": S.TRUTHY, "assertIsNot": S.TRUTHY, "assertNotEqual": S.TRUTHY, "assertFalse": S.TRUTHY,
    "assertRaises": S.CLOSE, "assertRaisesRegex": S.EQUAL, "assertWarns": S.CLOSE, "assertLogs": S.CLOSE,
    "assertNotAlmostEqual": S.TRUTHY, "assert_called": S.TRUTHY, "assert_called_once": S.ORDER,
    "assert_not_called": S.EQUAL, "assert_allclose": S.CLOSE, "assert_almost_equal": S.CLOSE,
    "assert_approx_equal": S.CLOSE,
    "assert_any_call": S.MEMBER, "assert_has_calls": S.MEMBER,
}  # fmt: skip
_CLOSE = frozenset(("approx", "isclose", "allclose"))
_UNORDERED = frozenset(("sorted", "set", "frozenset", "Counter"))
_BROAD = frozenset(("Exception", "BaseException"))
_TOLERANCES = frozenset(("rel", "abs", "rel_tol", "abs_tol", "rtol", "atol", "delta"))


def _name(call: ast.Call) -> str:
    function = call.func
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _calls(node: ast.AST, names: frozenset[str]) -> bool:
    return any(isinstance(n, ast.Call) and _name(n) in names for n in ast.walk(node))


def _compare(node: ast.Compare) -> tuple[str, Strength]:
    left, operator, right = node.left, node.ops[0], node.comparators[0]
    subject = ast.unparse(left if not isinstance(left, ast.Constant) else right)
    if ast.unparse(left) == ast.unparse(right):
        return subject, S.NOTHING
    if isinstance(operator, ast.Is):
        return subject, S.IDENTITY
    if isinstance(operator, ast.Eq):
        if _calls(node, _CLOSE):
            return subject, S.CLOSE
        if any(isinstance(side, ast.Call) and _name(side) == "len" for side in (left, right)):
            return subject, S.ORDER
        if any(isinstance(side, ast.Call) and _name(side) == "type" for side in (left, right)):
            return subject, S.TYPE
        for side in (left, right):
            if isinstance(side, ast.Call) and _name(side) in _UNORDERED and side.args:
                return ast.unparse(side.args[0]), S.CLOSE
        return subject, S.EQUAL
    if isinstance(operator, ast.In):
        return subject, S.MEMBER
    if isinstance(operator, ast.IsNot | ast.NotEq | ast.NotIn):
        return subject, S.TRUTHY
    return subject, S.ORDER


def _expression(node: ast.expr) -> tuple[str, Strength]:
    """Subject and strength of an asserted expression."""
    if isinstance(node, ast.Constant) or (isinstance(node, ast.Tuple) and node.elts):
        return "", S.NOTHING if isinstance(node, ast.Tuple) or node.value else S.IDENTITY
    if isinstance(node, ast.Compare):
        return _compare(node)
    if isinstance(node, ast.BoolOp):
        parts = [_expression(v) for v in node.values]
        if isinstance(node.op, ast.And):
            return max(parts, key=lambda p: p[1])
        return parts[0][0], min(min(p[1] for p in parts), S.MEMBER)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ast.unparse(node.operand), S.TRUTHY
    if isinstance(node, ast.Call):
        return _called(node)
    return ast.unparse(node), S.TRUTHY


def _called(node: ast.Call) -> tuple[str, Strength]:
    name = _name(node)
    subject = ast.unparse(node.args[0]) if node.args else ast.unparse(node)
    if name == "isinstance":
        return subject, S.TYPE
    if name in _CLOSE:
        return subject, S.CLOSE
    if name in ("match", "search", "fullmatch", "startswith", "endswith"):
        return ast.unparse(node), S.MEMBER
    if name in ("all", "any") and node.args and isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
        inner = _expression(node.args[0].elt)
        return inner[0], inner[1] if name == "all" else min(inner[1], S.MEMBER)
    return ast.unparse(node), S.TRUTHY


def _tolerance(node: ast.AST) -> float | None:
    """The loosest tolerance named in an assertion, None without one; ``places`` counts as a power of ten."""
    found: list[float] = []
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
        for keyword in call.keywords:
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if not isinstance(value, int | float) or isinstance(value, bool):
                continue
            if keyword.arg in _TOLERANCES:
                found.append(float(value))
            elif keyword.arg in ("places", "decimal", "ndigits"):
                found.append(10.0 ** -min(float(value), 300.0))
    return max(found) if found else None


def _assertion(node: ast.AST, subject: str, strength: Strength, at: Place) -> Assertion:
    return Assertion(
        subject=subject,
        strength=_at(strength, at),
        constants=frozenset(repr(n.value) for n in ast.walk(node) if isinstance(n, ast.Constant)),
        tolerance=_tolerance(node),
        guarded=at.guarded,
        line=getattr(node, "lineno", 0),
        text=ast.unparse(node).splitlines()[0],
    )


def _at(strength: Strength, at: Place) -> Strength:
    return S.NOTHING if at.dead else min(strength, S.RUNS) if at.swallowed else strength


def _raises(call: ast.Call) -> Strength:
    broad = bool(call.args) and ast.unparse(call.args[0]).rsplit(".", 1)[-1] in _BROAD
    matched = any(k.arg == "match" for k in call.keywords)
    return S.EQUAL if matched else S.TRUTHY if broad else S.CLOSE


def _of_call(call: ast.Call) -> tuple[str, Strength] | None:
    name = _name(call)
    if name in ("raises", "warns"):
        return ast.unparse(call.args[0]) if call.args else "", _raises(call)
    if name == "assertTrue" and call.args:
        return _expression(call.args[0])
    if name not in _METHODS and not assertive(name):
        return None
    if name not in _METHODS and not name.startswith("assert") and not call.args:
        return None
    looked_at = next((a for a in call.args[:2] if not isinstance(a, ast.Constant)), call.args[0] if call.args else call)
    subject = ast.unparse(looked_at)
    strength = _METHODS.get(name, S.EQUAL)
    if name == "assertEqual" and len(call.args) > 1 and ast.unparse(call.args[0]) == ast.unparse(call.args[1]):
        strength = S.NOTHING
    if name == "assertRaises":
        strength = _raises(call)
    return subject, strength


def _swallows(node: ast.Try) -> bool:
    """Whether a failing assertion in the body of this ``try`` would be caught and forgotten."""
    for handler in node.handlers:
        kind = "" if handler.type is None else ast.unparse(handler.type)
        if kind and not any(k in kind for k in ("AssertionError", *_BROAD)):
            continue
        if not any(isinstance(n, ast.Raise) or _fails(n) for s in handler.body for n in ast.walk(s)):
            return True
    return False


def _fails(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _name(node) == "fail"


class Place(NamedTuple):
    """What stands around a statement."""

    swallowed: bool = False
    guarded: bool = False
    dead: bool = False


def _walk(nodes: list[ast.stmt], at: Place, known: Followed[FunctionNode]) -> Iterator[Assertion]:
    for node in nodes:
        if isinstance(node, ast.Assert):
            subject, strength = _expression(node.test)
            yield _assertion(node.test, subject, strength, at)
        elif isinstance(node, ast.Try):
            inner = at._replace(swallowed=at.swallowed or _swallows(node))
            yield from _walk([*node.body, *node.orelse], inner, known)
            for handler in node.handlers:
                yield from _walk(handler.body, at._replace(guarded=True), known)
            yield from _walk(node.finalbody, at, known)
        else:
            yield from _heads(node, at, known)
            yield from _blocks(node, at, known)
        if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
            at = at._replace(dead=True)


def _heads(node: ast.stmt, at: Place, known: Followed[FunctionNode]) -> Iterator[Assertion]:
    """Assertions in the expressions of one statement."""
    heads = [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.stmt)]
    for call in (c for h in heads for c in ast.walk(h) if isinstance(c, ast.Call)):
        if _name(call) in known:
            first = ast.unparse(call.args[0]) if call.args else ""
            for inner in known.behind(_name(call), _assertion(call, first, S.EQUAL, at)):
                yield msgspec.structs.replace(inner, strength=_at(inner.strength, at))
            continue
        found = _of_call(call)
        if found is not None:
            yield _assertion(call, found[0], found[1], at)


def _blocks(node: ast.stmt, at: Place, known: Followed[FunctionNode]) -> Iterator[Assertion]:
    """Assertions in the blocks of one statement."""
    if isinstance(node, ast.Match):
        for case in node.cases:
            yield from _walk(case.body, at._replace(guarded=True), known)
        return
    inner = at
    if isinstance(node, ast.If):
        never = isinstance(node.test, ast.Constant) and not node.test.value
        inner = at._replace(guarded=True, dead=at.dead or never)
    if isinstance(node, ast.With | ast.AsyncWith) and any(
        isinstance(c := i.context_expr, ast.Call) and _name(c) == "suppress" for i in node.items
    ):
        inner = at._replace(swallowed=True)
    for field in ("body", "orelse"):
        block = getattr(node, field, [])
        if isinstance(block, list):
            yield from _walk(block, inner, known)


def assertions(node: FunctionNode, known: Followed[FunctionNode]) -> Iterator[Assertion]:
    """Every assertion directly in a function, and those behind the functions of its own file that it calls."""
    yield from _walk(node.body, Place(), known)
