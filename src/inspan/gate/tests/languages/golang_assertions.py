"""Assertions of Go tests: conditions that lead to ``t.Error`` and its like, and testify's functions. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from inspan.gate.syntax import line, text, walk
from inspan.gate.tests.languages.followed import Followed
from inspan.gate.tests.languages.tokens import arguments, literals, number, one_line, squeezed, tokens
from inspan.gate.tests.strength import Assertion, Strength, assertive

if TYPE_CHECKING:
    from tree_sitter import Node

S = Strength
REPORTS = frozenset(("Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"))
_TESTIFY: Mapping[str, Strength] = {
    "Equal": S.EQUAL, "EqualValues": S.EQUAL, "Exactly": S.IDENTITY, "Same": S.IDENTITY, "Nil": S.IDENTITY,
    "JSONEq": S.EQUAL, "EqualError": S.EQUAL, "True": S.TRUTHY, "False": S.TRUTHY, "NotNil": S.TRUTHY,
    "NotEmpty": S.TRUTHY, "NotEqual": S.TRUTHY,
    "NoError": S.RUNS, "Error": S.TRUTHY, "ErrorIs": S.CLOSE, "ErrorAs": S.CLOSE, "ErrorContains": S.MEMBER,
    "Contains": S.MEMBER, "Regexp": S.MEMBER, "ElementsMatch": S.CLOSE, "InDelta": S.CLOSE, "InEpsilon": S.CLOSE,
    "Len": S.ORDER, "Empty": S.ORDER, "Zero": S.EQUAL, "Greater": S.ORDER, "GreaterOrEqual": S.ORDER, "Less": S.ORDER,
    "LessOrEqual": S.ORDER, "IsType": S.TYPE, "Implements": S.TYPE, "Panics": S.TRUTHY, "PanicsWithValue": S.EQUAL,
    "NotPanics": S.RUNS, "WithinDuration": S.CLOSE, "Subset": S.MEMBER, "NotContains": S.TRUTHY,
}  # fmt: skip
_EQUALS = re.compile(r"^(DeepEqual|Equal|EqualFold|Match)$")
_MEMBERS = re.compile(r"^(Contains|HasPrefix|HasSuffix|MatchString|Match|ContainsFunc|In)$")


class Place(NamedTuple):
    """What stands around a node."""

    guarded: bool = False
    dead: bool = False


def method(call: Node) -> str:
    """The last name of what a call calls."""
    function = call.child_by_field_name("function")
    if function is None:
        return ""
    field = function.child_by_field_name("field")
    return text(field if field is not None else function)


def assertions(top: Node, known: Followed[Node]) -> Iterator[Assertion]:
    """Every assertion directly in a function, and those behind the functions of its own file that it calls."""
    left: list[tuple[Node, Place]] = [(top, Place())]
    while left:
        node, at = left.pop()
        if node.type == "if_statement":
            found = list(_conditional(node, at))
            if found:
                yield from found
                yield from _before(node, at, known)
                otherwise = node.child_by_field_name("alternative")
                left += [(otherwise, at)] if otherwise is not None else []
                continue
        elif node.type == "call_expression":
            name = method(node)
            if name in known:
                yield from known.behind(name, _made(node, _looked_at(node), S.EQUAL, at))
                continue
            asserted = _called(node, at)
            if asserted is not None:
                yield asserted
                continue
        inner: list[tuple[Node, Place]] = []
        here = at
        for child in node.children:
            branch = node.type in ("if_statement", "expression_case", "communication_case") and child.type != "else"
            inner.append((child, here._replace(guarded=True) if branch else here))
            if child.type == "return_statement" and node.type in ("block", "statement_list"):
                here = here._replace(dead=True)
        left += reversed(inner)


def _before(node: Node, at: Place, known: Followed[Node]) -> Iterator[Assertion]:
    """Assertions behind the calls in the head of a condition."""
    for head in ("initializer", "condition"):
        inner = node.child_by_field_name(head)
        for call in walk(inner) if inner is not None else ():
            if call.type == "call_expression" and method(call) in known:
                yield from known.behind(method(call), _made(call, _looked_at(call), S.EQUAL, at))


def _looked_at(call: Node) -> str:
    """The first argument of a call that is not the test itself."""
    return next((s for a in arguments(call) if (s := squeezed(a)) not in ("t", "tb", "b")), "")


def _made(node: Node, subject: str, strength: Strength, at: Place, tolerance: float | None = None) -> Assertion:
    return Assertion(
        subject=subject,
        strength=S.NOTHING if at.dead else strength,
        constants=frozenset(literals(tokens(node))),
        tolerance=tolerance,
        guarded=at.guarded,
        line=line(node),
        text=one_line(node),
    )


def _conditional(node: Node, at: Place) -> Iterator[Assertion]:
    """``if condition { t.Error(...) }``: each side of an ``||`` fails by itself."""
    body, condition = node.child_by_field_name("consequence"), node.child_by_field_name("condition")
    if body is None or condition is None:
        return
    direct = [n for n in walk(body) if n.type == "call_expression" and method(n) in REPORTS]
    nested = any(n.type == "if_statement" for n in walk(body))
    if not direct or nested:
        return
    for part in _sides(condition):
        subject, strength, tolerance = _failing(part)
        initial = node.child_by_field_name("initializer")
        if initial is not None:
            subject = f"{_bound(initial, subject)}"
        made = _made(part, subject, strength, at, tolerance)
        more = frozenset(literals(tokens(initial))) if initial is not None else frozenset()
        yield _joined(made, more, one_line(node).split("{", 1)[0].strip())


def _joined(made: Assertion, more: frozenset[str], shown: str) -> Assertion:
    return msgspec.structs.replace(made, constants=made.constants | more, text=shown)


def _bound(initial: Node, subject: str) -> str:
    """The subject of a condition with its variable's value in its place: ``if got := f(1); got != 2``."""
    left, right = initial.child_by_field_name("left"), initial.child_by_field_name("right")
    names = [text(n) for n in left.named_children] if left is not None else []
    return squeezed(right) if subject in names[:1] else subject


def _sides(condition: Node) -> Iterator[Node]:
    left = [condition]
    while left:
        node = left.pop()
        if node.type == "parenthesized_expression":
            left.append(node.named_children[0])
        elif node.type == "binary_expression" and text(node.child_by_field_name("operator") or node) == "||":
            left += [n for n in (node.child_by_field_name("right"), node.child_by_field_name("left")) if n is not None]
        else:
            yield node


def _failing(condition: Node) -> tuple[str, Strength, float | None]:
    """Subject, strength and tolerance of an assertion that fails where the condition holds."""
    if condition.type == "unary_expression" and text(condition).startswith("!"):
        inner = condition.child_by_field_name("operand")
        if inner is not None and inner.type == "call_expression":
            name, args = method(inner), arguments(inner)
            shown = squeezed(args[0]) if args else squeezed(inner)
            if name in ("Is", "As"):
                return shown, S.CLOSE, None
            if _EQUALS.match(name):
                return shown, S.EQUAL, None
            if _MEMBERS.match(name):
                return shown, S.MEMBER, None
        return squeezed(inner), S.TRUTHY, None
    if condition.type != "binary_expression":
        return squeezed(condition), S.TRUTHY, None
    return _comparison(condition)


def _comparison(condition: Node) -> tuple[str, Strength, float | None]:
    operator = text(condition.child_by_field_name("operator") or condition)
    left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
    subject, other = squeezed(left), squeezed(right)
    if operator == "&&":
        parts = [_failing(n) for n in (left, right) if n is not None]
        return subject, min(S.MEMBER, *(p[1] for p in parts)), None
    if subject == other:
        return subject, S.NOTHING, None
    if operator == "!=":
        if other == "nil":
            return subject, S.RUNS, None
        if subject.startswith("len ("):
            return subject, S.ORDER, None
        return subject.removesuffix(" . Error ( )"), S.EQUAL, None
    if operator == "==":
        return subject, S.TRUTHY, None
    if "math . Abs" in subject or re.search(r"(?i)\b(diff|delta|abs)\b", subject):
        return subject, S.CLOSE, number(right)
    return subject, S.ORDER, None


def _called(node: Node, at: Place) -> Assertion | None:
    """A testify function, a report that stands by itself, or a function that by its name fails a test."""
    name, args = method(node), arguments(node)
    function = node.child_by_field_name("function")
    owner = squeezed(function.child_by_field_name("operand")) if function is not None else ""
    if name in _TESTIFY and owner in ("assert", "require", "s", "suite", "is", "s . Require ( )"):
        values = args[1:] if args and squeezed(args[0]) in ("t", "tb", "tt") else args
        compared = name.startswith(("Equal", "Exactly", "Same")) and len(values) > 1
        subject = squeezed(values[1] if compared else values[0]) if values else ""
        strength = _TESTIFY[name]
        if compared and squeezed(values[0]) == squeezed(values[1]):
            strength = S.NOTHING
        tolerance = number(values[2]) if strength is S.CLOSE and len(values) > 2 else None
        return _made(node, subject, strength, at, tolerance)
    if name in REPORTS and owner in ("t", "tb", "b", "f"):
        return _made(node, "reached", S.MEMBER if at.guarded else S.NOTHING, at._replace(guarded=False))
    if assertive(name) and args:
        return _made(node, _looked_at(node), S.EQUAL, at)
    return None
