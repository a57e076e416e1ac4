"""Assertions of JavaScript and TypeScript tests: ``expect`` of jest, vitest and chai, and ``node:assert``. Pure."""

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
_MATCHERS: Mapping[str, Strength] = {
    "toBe": S.IDENTITY, "toStrictEqual": S.IDENTITY, "toBeNull": S.IDENTITY, "toBeUndefined": S.IDENTITY,
    "toBeNaN": S.IDENTITY, "toEqual": S.EQUAL, "toEqualTypeOf": S.TYPE, "toBeCloseTo": S.CLOSE,
    "toMatchSnapshot": S.EQUAL, "toMatchInlineSnapshot": S.EQUAL, "toThrowErrorMatchingSnapshot": S.EQUAL,
    "toThrowErrorMatchingInlineSnapshot": S.EQUAL, "toMatchFileSnapshot": S.EQUAL,
    "toContain": S.MEMBER, "toContainEqual": S.MEMBER, "toMatch": S.MEMBER, "toMatchObject": S.MEMBER,
    "toBeOneOf": S.MEMBER, "toHaveProperty": S.MEMBER, "toSatisfy": S.MEMBER, "toHaveLength": S.ORDER,
    "toBeGreaterThan": S.ORDER, "toBeGreaterThanOrEqual": S.ORDER, "toBeLessThan": S.ORDER,
    "toBeLessThanOrEqual": S.ORDER, "toBeInstanceOf": S.TYPE,
    "toBeTypeOf": S.TYPE, "toBeTruthy": S.TRUTHY, "toBeFalsy": S.TRUTHY, "toBeDefined": S.TRUTHY,
    "toHaveBeenCalledWith": S.EQUAL, "toHaveBeenLastCalledWith": S.EQUAL, "toHaveBeenNthCalledWith": S.EQUAL,
    "toHaveBeenCalledTimes": S.EQUAL, "toHaveBeenCalledOnce": S.EQUAL, "toHaveBeenCalled": S.TRUTHY,
    "toHaveReturnedWith": S.EQUAL, "toHaveReturned": S.TRUTHY, "toThrow": S.CLOSE, "toThrowError": S.CLOSE,
    # chai
    "equal": S.EQUAL, "equals": S.EQUAL, "eq": S.EQUAL, "eql": S.EQUAL, "eqls": S.EQUAL, "closeTo": S.CLOSE,
    "include": S.MEMBER, "includes": S.MEMBER, "contain": S.MEMBER, "match": S.MEMBER, "property": S.MEMBER,
    "members": S.CLOSE, "above": S.ORDER, "below": S.ORDER, "least": S.ORDER, "most": S.ORDER, "lengthOf": S.ORDER,
    "a": S.TYPE, "an": S.TYPE, "instanceOf": S.TYPE, "instanceof": S.TYPE, "ok": S.TRUTHY, "exist": S.TRUTHY,
    "true": S.IDENTITY, "false": S.IDENTITY, "null": S.IDENTITY, "undefined": S.IDENTITY, "empty": S.ORDER,
    "throw": S.CLOSE, "throws": S.CLOSE,
}  # fmt: skip
_ASSERTS: Mapping[str, Strength] = {
    "strictEqual": S.IDENTITY, "deepStrictEqual": S.IDENTITY, "equal": S.EQUAL, "deepEqual": S.EQUAL, "ok": S.TRUTHY,
    "notEqual": S.TRUTHY, "notStrictEqual": S.TRUTHY, "notDeepEqual": S.TRUTHY, "notDeepStrictEqual": S.TRUTHY,
    "throws": S.CLOSE, "rejects": S.CLOSE, "doesNotThrow": S.RUNS, "doesNotReject": S.RUNS, "match": S.MEMBER,
    "doesNotMatch": S.TRUTHY, "ifError": S.RUNS, "partialDeepStrictEqual": S.MEMBER, "isTrue": S.IDENTITY,
    "fail": S.RUNS, "snapshot": S.EQUAL,
}  # fmt: skip
_UNORDERED = re.compile(r"^(?:\[ \.\.\. (.*) \]|(.*)) \. (?:sort|toSorted) \(.*\)$|^new Set \(.*\)$")
_PROMISED = frozenset(("resolves", "rejects", "eventually"))
_COMPARE: Mapping[str, Strength] = {
    "===": S.EQUAL, "==": S.EQUAL, "!==": S.TRUTHY, "!=": S.TRUTHY, "<": S.ORDER, ">": S.ORDER, "<=": S.ORDER,
    ">=": S.ORDER, "instanceof": S.TYPE, "in": S.MEMBER,
}  # fmt: skip
_ASYMMETRIC: tuple[tuple[re.Pattern[str], Strength], ...] = (
    (re.compile(r"expect \. anything"), S.TRUTHY),
    (re.compile(r"expect \. any\b"), S.TYPE),
    (re.compile(r"expect \. (\w+Containing|stringMatching)"), S.MEMBER),
    (re.compile(r"expect \. closeTo"), S.CLOSE),
)
_PRIMITIVES = frozenset(("number", "string", "template_string", "true", "false", "unary_expression"))
_ENDS = frozenset(("return_statement", "throw_statement", "continue_statement", "break_statement"))
_BRANCHES = frozenset(("if_statement", "ternary_expression", "switch_case", "switch_default", "catch_clause"))
FUNCTIONS = frozenset(
    ("arrow_function", "function_expression", "function_declaration", "generator_function",
     "generator_function_declaration", "method_definition")
)  # fmt: skip


class Place(NamedTuple):
    """What stands around a node."""

    swallowed: bool = False
    guarded: bool = False
    dead: bool = False


def chain(node: Node) -> tuple[Node, list[str]]:
    """The innermost object of a chain of members and calls, and the names that follow it."""
    names: list[str] = []
    while True:
        inner = None
        if node.type == "member_expression":
            name, inner = node.child_by_field_name("property"), node.child_by_field_name("object")
            names.append(text(name) if name is not None else "")
        elif node.type in ("call_expression", "await_expression", "non_null_expression", "parenthesized_expression"):
            if node.type == "call_expression" and callee(node) == "expect":
                return node, names[::-1]
            inner = node.child_by_field_name("function") or (node.named_children[0] if node.named_children else None)
        if inner is None:
            return node, names[::-1]
        node = inner


def callee(call: Node) -> str:
    """The plain name a call calls, empty for anything else."""
    function = call.child_by_field_name("function")
    return text(function) if function is not None and function.type == "identifier" else ""


def assertions(top: Node, known: Followed[Node]) -> Iterator[Assertion]:
    """Every assertion directly below a node, and those behind the functions of its own file that it calls."""
    left: list[tuple[Node, Place]] = [(top, Place())]
    while left:
        node, at = left.pop()
        name = callee(node) if node.type == "call_expression" else ""
        if name and name in known:
            first = next((squeezed(a) for a in arguments(node)), "")
            yield from (_placed(a, at) for a in known.behind(name, _made(node, first, S.EQUAL)))
            continue
        found = _assertion(node)
        if found is not None:
            yield _placed(found, at)
            continue
        inner: list[tuple[Node, Place]] = []
        here = at
        for child in node.children:
            inner.append((child, _inside(node, child, here)))
            if child.type in _ENDS and node.type == "statement_block":
                here = here._replace(dead=True)
        left += reversed(inner)


def _inside(node: Node, child: Node, at: Place) -> Place:
    if node.type in _BRANCHES:
        return at._replace(guarded=True)
    if node.type == "try_statement" and child == node.child_by_field_name("body"):
        catch = node.child_by_field_name("handler")
        kept = catch is None or any(
            n.type == "throw_statement" or (n.type == "call_expression" and _told(n)) for n in walk(catch)
        )
        return at._replace(swallowed=at.swallowed or not kept)
    if node.type == "binary_expression" and child == node.child_by_field_name("right"):
        operator = node.child_by_field_name("operator")
        if operator is not None and text(operator) in ("&&", "||", "??"):
            return at._replace(guarded=True)
    return at


def _told(call: Node) -> bool:
    """Whether a call in a ``catch`` tells the runner of the failure."""
    root, names = chain(call)
    return text(root) in ("assert", "done", "reject", "fail") or callee(root) == "expect" or "fail" in names


def _placed(found: Assertion, at: Place) -> Assertion:
    strength = S.NOTHING if at.dead else min(found.strength, S.RUNS) if at.swallowed else found.strength
    return msgspec.structs.replace(found, strength=strength, guarded=found.guarded or at.guarded)


def _assertion(node: Node) -> Assertion | None:
    """The assertion that this very node is, if any."""
    if node.type == "call_expression":
        root, names = chain(node)
        if callee(root) == "expect" and names:
            return _expectation(node, root, names)
        if (
            root.type == "identifier"
            and text(root) == "expect"
            and names[:1] in (["soft"], ["poll"])
            and len(names) > 1
        ):
            return _expectation(node, _first_call(node), names[1:])
        if text(root) in ("assert", "t", "ctx", "context") and names[:1] == ["assert"] and len(names) > 1:
            return _asserted(node, names[-1])
        if text(root) in ("assert", "assertStrict", "chai") and names:
            return _asserted(node, names[-1])
        if not names and (name := callee(node)):
            return _asserted(node, name) if name == "assert" or (assertive(name) and name != "expect") else None
    if node.type == "member_expression" and node.parent is not None and node.parent.type == "expression_statement":
        root, names = chain(node)
        if callee(root) == "expect" and names:
            return _expectation(node, root, names)
    return None


def _first_call(node: Node) -> Node:
    """The innermost call of a chain."""
    found = node
    while True:
        inner = node.child_by_field_name("function") or node.child_by_field_name("object")
        if inner is None:
            return found
        node = inner
        found = node if node.type == "call_expression" else found


def _made(
    node: Node, subject: str, strength: Strength, *, tolerance: float | None = None, snapshot: bool = False
) -> Assertion:
    return Assertion(
        subject=subject,
        strength=strength,
        constants=frozenset(literals(tokens(node))),
        tolerance=tolerance,
        snapshot=snapshot,
        line=line(node),
        text=one_line(node),
    )


def _expectation(node: Node, root: Node, names: list[str]) -> Assertion | None:
    """``expect(subject).modifier.matcher(expected)``."""
    matcher = next((n for n in reversed(names) if n in _MATCHERS), names[-1])
    args = arguments(node) if node.type == "call_expression" else []
    asked = arguments(root)
    subject = asked[0] if asked else None
    strength = _MATCHERS.get(matcher, S.EQUAL)
    expected = squeezed(args[0]) if args else ""
    shown = squeezed(subject)
    tolerance = None
    if "not" in names:
        strength = S.RUNS if "throw" in matcher.lower() else S.TRUTHY
    elif matcher in ("toThrow", "toThrowError", "throw", "throws"):
        strength = _thrown(args)
    elif matcher in ("toBeCloseTo", "closeTo"):
        digits = number(args[1]) if len(args) > 1 else 2.0
        tolerance = None if digits is None else digits if matcher == "closeTo" else 10.0**-digits / 2
    elif matcher in ("toBe", "toEqual", "toStrictEqual", "equal", "eql", "true", "toBeTruthy", "toBeFalsy", "false"):
        shown, strength = _compared(subject, args, strength)
    if matcher in ("toBe", "toStrictEqual") and strength is S.IDENTITY and args and args[0].type in _PRIMITIVES:
        strength = S.EQUAL  # for a plain value all equalities are one
    for pattern, weaker in _ASYMMETRIC:
        if pattern.match(expected):
            strength = min(strength, weaker)
    if "InlineSnapshot" in matcher and not args:
        strength = S.RUNS  # the runner fills it in
    if _PROMISED & set(names) and not _waited(node):
        strength = S.NOTHING
    return _made(node, shown, strength, tolerance=tolerance, snapshot="Snapshot" in matcher)


def _compared(subject: Node | None, args: list[Node], strength: Strength) -> tuple[str, Strength]:
    """Subject and strength where the subject may hold the comparison itself: ``expect(a === b).toBe(true)``."""
    shown = squeezed(subject)
    expected = squeezed(args[0]) if args else "true"
    if args and shown == expected:
        return shown, S.NOTHING
    if subject is not None and expected == "true" and subject.type in ("binary_expression", "call_expression"):
        asked = _expression(subject)
        return asked if subject.type == "binary_expression" or asked[1] is S.MEMBER else (shown, strength)
    if subject is not None and subject.type == "unary_expression" and shown.startswith("typeof"):
        return shown, S.TYPE
    if shown.endswith(". length"):
        return shown, S.ORDER
    found = _UNORDERED.match(shown)
    if found:
        return found[1] or found[2] or shown, min(strength, S.CLOSE)
    return shown, strength


def _thrown(args: list[Node]) -> Strength:
    if not args:
        return S.TRUTHY
    if args[0].type == "identifier":
        return S.TRUTHY if text(args[0]) == "Error" else S.CLOSE
    return S.EQUAL


def _expression(node: Node | None) -> tuple[str, Strength]:
    """Subject and strength of an asserted expression."""
    while node is not None and node.type == "parenthesized_expression":
        node = node.named_children[0]
    if node is None:
        return "", S.NOTHING
    if node.type == "binary_expression":
        operator = text(node.child_by_field_name("operator") or node)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator in ("&&", "||"):
            parts = (_expression(left), _expression(right))
            strongest = max(parts, key=lambda p: p[1])
            return strongest if operator == "&&" else (parts[0][0], min(parts[0][1], parts[1][1], S.MEMBER))
        if squeezed(left) == squeezed(right):
            return squeezed(left), S.NOTHING
        if squeezed(left).startswith("Math . abs"):
            return squeezed(left), S.CLOSE
        return squeezed(left), _COMPARE.get(operator, S.TRUTHY)
    shown = squeezed(node)
    if shown in ("true", "1"):
        return shown, S.NOTHING
    if re.search(r"\. (includes|startsWith|endsWith|test|match|has|some) \(", shown):
        return shown, S.MEMBER
    return shown, S.TRUTHY


def _asserted(node: Node, name: str) -> Assertion | None:
    """``assert.name(actual, expected)`` and ``assert(value)``."""
    args = arguments(node)
    if not args and name != "fail":
        return None
    tolerance = None
    if name in ("assert", "ok", "isTrue", "isOk"):
        subject, strength = _expression(args[0] if args else None)
        if strength is S.CLOSE and args:
            tolerance = number(args[0].child_by_field_name("right"))
    else:
        strength = _ASSERTS.get(name, S.EQUAL)
        subject = squeezed(args[0]) if args else ""
        if len(args) > 1 and subject == squeezed(args[1]) and strength >= S.EQUAL:
            strength = S.NOTHING
        if strength is S.IDENTITY and len(args) > 1 and args[1].type in _PRIMITIVES:
            strength = S.EQUAL
        if name in ("throws", "rejects"):
            strength = _thrown(args[1:])
        elif strength >= S.EQUAL and subject.endswith(". length"):
            strength = S.ORDER
        if name in ("rejects", "doesNotReject") and not _waited(node):
            strength = S.NOTHING
    return _made(node, subject, strength, tolerance=tolerance)


def _waited(node: Node) -> bool:
    """Whether the promise of an assertion is awaited, returned or handed on."""
    parent = node.parent
    while parent is not None and parent.type in ("parenthesized_expression", "member_expression", "call_expression"):
        if parent.type == "call_expression" and parent.child_by_field_name("function") != node:
            return True
        node, parent = parent, parent.parent
    return parent is None or parent.type != "expression_statement"
