"""Assertions of Rust tests: the ``assert`` macros, panics under a condition, and insta's snapshots. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from inspan.gate.syntax import line, text, tree, walk
from inspan.gate.tests.languages.followed import Followed
from inspan.gate.tests.languages.tokens import arguments, canonical, literals, number, one_line, squeezed, tokens
from inspan.gate.tests.strength import Assertion, Strength, assertive

if TYPE_CHECKING:
    from tree_sitter import Node

S = Strength
_MACROS: Mapping[str, Strength] = {
    "assert_eq": S.EQUAL, "assert_ne": S.TRUTHY, "debug_assert_eq": S.EQUAL, "debug_assert_ne": S.TRUTHY,
    "assert_matches": S.CLOSE, "assert_snapshot": S.EQUAL, "assert_debug_snapshot": S.EQUAL,
    "assert_json_snapshot": S.EQUAL, "assert_yaml_snapshot": S.EQUAL, "assert_approx_eq": S.CLOSE,
    "assert_relative_eq": S.CLOSE, "assert_abs_diff_eq": S.CLOSE, "assert_ulps_eq": S.CLOSE,
    "prop_assert_eq": S.EQUAL, "prop_assert_ne": S.TRUTHY,
}  # fmt: skip
_PLAIN = frozenset(("assert", "debug_assert", "prop_assert"))
_PANICS = frozenset(("panic", "unreachable"))
_ASKS: tuple[tuple[re.Pattern[str], Strength], ...] = (
    (re.compile(r"^(.*) \. (?:is_ok|is_err|is_some|is_none|is_ok_and|is_some_and|is_err_and) \(.*\)$"), S.TRUTHY),
    (re.compile(r"^(.*) \. is_empty \( \)$"), S.ORDER),
    (re.compile(r"^(.*) \. (?:contains|starts_with|ends_with|contains_key|is_match) \(.*\)$"), S.MEMBER),
    (re.compile(r"^(.*) \. eq \(.*\)$"), S.EQUAL),
)
_COMPARE: Mapping[str, Strength] = {
    "==": S.EQUAL, "!=": S.TRUTHY, "<": S.ORDER, ">": S.ORDER, "<=": S.ORDER, ">=": S.ORDER
}  # fmt: skip
_BRANCHES = frozenset(("if_expression", "match_arm"))


class Place(NamedTuple):
    """What stands around a node."""

    guarded: bool = False
    dead: bool = False


def macro(node: Node) -> str:
    """The last name of the macro that a node invokes."""
    found = node.child_by_field_name("macro")
    return text(found).rsplit("::", 1)[-1] if found is not None else ""


def called(node: Node) -> str:
    """The last name of the function that a node calls."""
    found = node.child_by_field_name("function")
    if found is None:
        return ""
    inner = found.child_by_field_name("field") or found.child_by_field_name("name")
    return text(inner if inner is not None else found)


def parts(node: Node) -> list[list[Node]]:
    """The arguments of a macro, each as the nodes of its token tree."""
    body = next((c for c in node.children if c.type == "token_tree"), None)
    out: list[list[Node]] = [[]]
    for child in body.children[1:-1] if body is not None else []:
        if child.type == ",":
            out.append([])
        else:
            out[-1].append(child)
    return [p for p in out if p]


def shown(part: list[Node]) -> str:
    """One macro argument in canonical text."""
    return " ".join(s for n in part if (s := canonical(tokens(n))))


def assertions(top: Node, known: Followed[Node]) -> Iterator[Assertion]:
    """Every assertion directly below a node, and those behind the functions of its own file that it calls."""
    left: list[tuple[Node, Place]] = [(top, Place())]
    while left:
        node, at = left.pop()
        if node.type == "macro_invocation":
            found = _of_macro(node, at)
            if found is not None:
                yield from found
                continue
        elif node.type == "call_expression":
            name = called(node)
            if name in known:
                first = next((squeezed(a) for a in arguments(node)), "")
                yield from known.behind(name, _made(node, first, S.EQUAL, at))
                continue
            if assertive(name) and node.child_by_field_name("function").type != "field_expression":  # type: ignore[union-attr]
                yield _made(node, next((squeezed(a) for a in arguments(node)), ""), S.EQUAL, at)
                continue
        elif node.type == "if_expression":
            panicking = _panicking(node, at)
            if panicking is not None:
                yield panicking
                continue
        inner: list[tuple[Node, Place]] = []
        here = at
        for child in node.children:
            inner.append((child, here._replace(guarded=True) if node.type in _BRANCHES else here))
            if node.type == "block" and child.type == "expression_statement" and text(child).startswith("return"):
                here = here._replace(dead=True)
        left += reversed(inner)


def _made(
    node: Node,
    subject: str,
    strength: Strength,
    at: Place,
    *,
    constants: list[str] | None = None,
    tolerance: float | None = None,
    snapshot: bool = False,
) -> Assertion:
    return Assertion(
        subject=subject,
        strength=S.NOTHING if at.dead else strength,
        constants=frozenset(literals(tokens(node)) if constants is None else constants),
        tolerance=tolerance,
        guarded=at.guarded,
        snapshot=snapshot,
        line=line(node),
        text=one_line(node),
    )


def _of_macro(node: Node, at: Place) -> list[Assertion] | None:
    name = macro(node)
    given = parts(node)
    if name in _PANICS:
        return [_made(node, "reached", S.CLOSE if at.guarded else S.NOTHING, at._replace(guarded=False))]
    if name in _PLAIN and given:
        constants = [t.text for n in given[0] for t in tokens(n) if t.kind == "literal"]
        found = expression(" ".join(text(n) for n in given[0])) or [(shown(given[0]), S.TRUTHY, None)]
        return [_made(node, s, strength, at, constants=constants, tolerance=t) for s, strength, t in found]
    if name not in _MACROS or not given:
        return [_made(node, shown(given[0]), S.EQUAL, at)] if given and assertive(name) else None
    strength = _MACROS[name]
    values = [shown(p) for p in given[:2]]
    snapshot = "snapshot" in name
    if not snapshot and len(values) > 1 and values[0] == values[1]:
        strength = S.NOTHING
    if strength is S.EQUAL and any(v.endswith((". len ( )", ". count ( )")) for v in values):
        strength = S.ORDER
    if strength is S.EQUAL and any(v in ("true",) for v in values):
        asked = expression(" ".join(text(n) for n in given[0 if values[-1] == "true" else 1]))
        strength = asked[0][1] if asked and asked[0][1] > S.TRUTHY else strength
    kept = [t.text for p in given[:2] for n in p for t in tokens(n) if t.kind == "literal"]
    tolerances = [number(n) for p in given[2:] for n in p if strength is S.CLOSE]
    subject = values[1] if len(values) > 1 and re.fullmatch(r'-? ?[\d."\'].*', values[0]) else values[0]
    tolerance = max((t for t in tolerances if t is not None), default=None)
    return [_made(node, subject, strength, at, constants=kept, tolerance=tolerance, snapshot=snapshot)]


def expression(source: str) -> list[tuple[str, Strength, float | None]]:
    """Subject, strength and tolerance of an asserted expression, one for each side of an ``&&``."""
    found = tree("rust", f"fn f() {{ let _ = ({source}); }}".encode())
    if found is None:
        return []
    wrapped = next((n for n in walk(found.root_node) if n.type == "parenthesized_expression"), None)
    return list(_sides(wrapped.named_children[0])) if wrapped is not None and wrapped.named_children else []


def _sides(node: Node) -> Iterator[tuple[str, Strength, float | None]]:
    while node.type == "parenthesized_expression" and node.named_children:
        node = node.named_children[0]
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = text(node.child_by_field_name("operator") or node)
    if node.type == "binary_expression" and left is not None and right is not None:
        if operator == "&&":
            yield from _sides(left)
            yield from _sides(right)
            return
        if operator == "||":
            both = [*_sides(left), *_sides(right)]
            yield both[0][0], min(S.MEMBER, *(b[1] for b in both)), None
            return
        yield _compared(squeezed(left), operator, squeezed(right), number(right))
        return
    if node.type == "macro_invocation" and macro(node) in ("matches", "assert_matches"):
        given = parts(node)
        pattern = [t.text for p in given[1:] for n in p for t in tokens(n) if t.kind == "literal"]
        yield shown(given[0]) if given else "", S.EQUAL if pattern else S.CLOSE, None
        return
    source = squeezed(node)
    for asked, strength in _ASKS:
        if found := asked.match(source):
            yield found[1], strength, None
            return
    yield source, S.NOTHING if source == "true" else S.TRUTHY, None


def _compared(left: str, operator: str, right: str, value: float | None) -> tuple[str, Strength, float | None]:
    if left == right:
        return left, S.NOTHING, None
    if operator in ("<", "<=") and re.search(r"\. abs \( \)$|\. abs_diff \(", left):
        return left, S.CLOSE, value
    if operator == "==" and left.endswith((". len ( )", ". count ( )")):
        return left, S.ORDER, None
    return left, _COMPARE.get(operator, S.TRUTHY), None


_NEGATED = {"!=": "==", "==": "!=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}


def _panicking(node: Node, at: Place) -> Assertion | None:
    """``if condition { panic!(...) }``: an assertion of the opposite."""
    body, condition = node.child_by_field_name("consequence"), node.child_by_field_name("condition")
    if body is None or condition is None or node.child_by_field_name("alternative") is not None:
        return None
    if not any(n.type == "macro_invocation" and macro(n) in _PANICS for n in walk(body)):
        return None
    operator = text(condition.child_by_field_name("operator") or condition)
    if condition.type == "binary_expression" and operator in _NEGATED:
        left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
        subject, strength, tolerance = _compared(squeezed(left), _NEGATED[operator], squeezed(right), number(right))
        return _made(condition, subject, strength, at, tolerance=tolerance)
    inner = condition.named_children[0] if condition.type == "unary_expression" and condition.named_children else None
    if inner is not None:
        subject, strength, _ = next(iter(_sides(inner)))
        return _made(condition, subject, strength, at)
    return _made(condition, squeezed(condition), S.TRUTHY, at)


def panicking(found: tuple[Assertion, ...], expected: str | None, node: Node) -> tuple[Assertion, ...]:
    """The assertions of a test that must panic: any of them may be the one that fails."""
    whole = _made(node, "panics", S.EQUAL if expected else S.TRUTHY, Place(), constants=[expected] if expected else [])
    return (whole, *(msgspec.structs.replace(a, strength=min(a.strength, S.RUNS)) for a in found))
