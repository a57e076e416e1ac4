"""How much an assertion demands, and whether an edited test demands less. Pure.

The lattice, weaker only downwards: identity > equality > close-to, sorted or set equality > membership or pattern >
ordering or length > type > truthy or defined > does not raise > nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from enum import IntEnum

import msgspec

from inspan.gate.tests.items import FunctionNode, Item


class Strength(IntEnum):
    """One step of the lattice."""

    NOTHING = 0
    RUNS = 1
    TRUTHY = 2
    TYPE = 3
    ORDER = 4
    MEMBER = 5
    CLOSE = 6
    EQUAL = 7
    IDENTITY = 8


class Assertion(msgspec.Struct, frozen=True, kw_only=True):
    """One assertion by role: what is looked at, how strongly, against which literals, how exactly."""

    subject: str
    strength: Strength
    constants: frozenset[str]
    tolerance: float | None
    line: int
    text: str


class Loosening(msgspec.Struct, frozen=True, kw_only=True):
    """How an edited item compares to what it was.

    Attributes:
        steps: the most steps any assertion fell on the lattice.
        nothing: the item asserts nothing that can fail any more, though it did.
        dropped: assertions that are gone and whose literals stand nowhere in the item any more.
        tolerance: a tolerance grew.
        lines: the accused lines, old then new, as ``- text`` and ``+ text``.
    """

    steps: int = 0
    nothing: bool = False
    dropped: tuple[str, ...] = ()
    tolerance: bool = False
    lines: tuple[str, ...] = ()


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
        both = isinstance(left, ast.Call) and isinstance(right, ast.Call) and {_name(left), _name(right)} <= _UNORDERED
        return subject, S.CLOSE if both else S.EQUAL
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


def _assertion(node: ast.AST, subject: str, strength: Strength, line: int, swallowed: bool) -> Assertion:
    return Assertion(
        subject=subject,
        strength=min(strength, S.RUNS) if swallowed else strength,
        constants=frozenset(repr(n.value) for n in ast.walk(node) if isinstance(n, ast.Constant)),
        tolerance=_tolerance(node),
        line=line,
        text=ast.unparse(node).splitlines()[0],
    )


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
    if not name.startswith("assert"):
        return None
    subject = ast.unparse(call.args[0]) if call.args else ast.unparse(call.func)
    strength = _METHODS.get(name, S.EQUAL)
    if name == "assertEqual" and len(call.args) > 1 and ast.unparse(call.args[1]) == subject:
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
        if not any(isinstance(n, ast.Raise) for s in handler.body for n in ast.walk(s)):
            return True
    return False


def _walk(nodes: list[ast.stmt], swallowed: bool) -> Iterator[Assertion]:
    for node in nodes:
        if isinstance(node, ast.Assert):
            subject, strength = _expression(node.test)
            yield _assertion(node.test, subject, strength, node.lineno, swallowed)
            continue
        if isinstance(node, ast.Try):
            yield from _walk(node.body, swallowed or _swallows(node))
            for handler in node.handlers:
                yield from _walk(handler.body, swallowed)
            yield from _walk([*node.orelse, *node.finalbody], swallowed)
            continue
        blocks = [getattr(node, field, []) for field in ("body", "orelse")]
        heads = [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.stmt)]
        for call in (c for h in heads for c in ast.walk(h) if isinstance(c, ast.Call)):
            found = _of_call(call)
            if found is not None:
                yield _assertion(call, found[0], found[1], call.lineno, swallowed)
        for block in blocks:
            if isinstance(block, list):
                yield from _walk(block, swallowed)


def assertions(item: Item, helpers: Mapping[str, FunctionNode]) -> list[Assertion]:
    """Every assertion of an item, those of the helpers it calls in its own module included."""
    out = list(_walk(item.node.body, False))
    for name in sorted(item.calls & helpers.keys()):
        out += _walk(helpers[name].body, False)
    return out


def _partner(old: Assertion, rest: list[Assertion]) -> Assertion | None:
    """The assertion an old one became: same subject first, then most literals in common, then the next in order."""
    same = [a for a in rest if a.subject == old.subject]
    if same:
        return max(same, key=lambda a: (a.strength, len(a.constants & old.constants)))
    alike = [a for a in rest if a.constants & old.constants]
    if alike:
        return max(alike, key=lambda a: len(a.constants & old.constants))
    return rest[0] if rest else None


def compare(old: list[Assertion], new: list[Assertion], constants: frozenset[str]) -> Loosening:
    """How much less the new assertions demand. ``constants``: all literals of the new item, its parameters included."""
    rest, steps, tolerance = list(new), 0, False
    dropped: list[str] = []
    lines: list[str] = []
    for before in sorted(old, key=lambda a: all(a.subject != b.subject for b in new)):
        if before.strength <= S.NOTHING:
            continue
        after = _partner(before, rest)
        if after is None:
            if not before.constants or not before.constants <= constants:
                dropped.append(before.text)
                lines.append(f"- {before.text}")
            continue
        rest.remove(after)
        fall = before.strength - after.strength
        grew = (after.tolerance or 0.0) > (before.tolerance or 0.0) and after.strength <= S.CLOSE and not fall
        if fall > 0 or grew:
            lines += [f"- {before.text}", f"+ {after.text}"]
        steps, tolerance = max(steps, fall), tolerance or grew
    could = any(a.strength > S.NOTHING for a in old)
    can = any(a.strength > S.RUNS for a in new)
    return Loosening(
        steps=steps, nothing=could and not can, dropped=tuple(dropped), tolerance=tolerance, lines=tuple(lines)
    )
