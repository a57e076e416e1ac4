"""Tokens of a syntax tree: the one canonical text in which formatting, comments and quotes make no difference. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from inspan.gate.syntax import text

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMENTS = frozenset(("comment", "line_comment", "block_comment"))
_STRINGS = frozenset(
    ("string", "regex", "interpreted_string_literal", "raw_string_literal", "rune_literal", "string_literal",
     "char_literal", "byte_string_literal")
)  # fmt: skip
_LITERALS = _STRINGS | frozenset(
    ("number", "true", "false", "null", "undefined", "nil", "int_literal", "float_literal", "imaginary_literal",
     "integer_literal", "boolean_literal", "template_string")
)  # fmt: skip
_NAMES = frozenset(
    ("identifier", "property_identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern",
     "private_property_identifier", "type_identifier", "field_identifier", "package_identifier",
     "shorthand_field_identifier")
)  # fmt: skip
_DROPPED = frozenset((";", "\n", ""))
_CLOSERS = frozenset((")", "]", "}"))


class Token(NamedTuple):
    """One token: its kind (``name``, ``literal`` or ``mark``), its text in normal form, and its node."""

    kind: str
    text: str
    node: Node


def tokens(node: Node, without: Collection[tuple[int, int]] = ()) -> Iterator[Token]:
    """The tokens of a node in order, without comments, separators, trailing commas and the byte ranges ``without``."""
    held: Token | None = None
    for token in _tokens(node, frozenset(without)):
        if held is not None and token.text not in _CLOSERS:
            yield held
        held = None
        if token.text == ",":
            held = token
        else:
            yield token


def _tokens(node: Node, without: frozenset[tuple[int, int]]) -> Iterator[Token]:
    left = [node]
    while left:
        current = left.pop()
        kind = current.type
        if kind in _COMMENTS or kind in _DROPPED or (current.start_byte, current.end_byte) in without:
            continue
        if kind in _STRINGS or (kind == "template_string" and _plain(current)):
            yield Token("literal", unquoted(current), current)
        elif current.child_count:
            left += reversed(current.children)
        elif kind in _LITERALS:
            yield Token("literal", text(current), current)
        else:
            yield Token("name" if kind in _NAMES else "mark", text(current), current)


def _plain(node: Node) -> bool:
    return all(c.type != "template_substitution" for c in node.children)


def unquoted(node: Node) -> str:
    """A string literal in double quotes, whichever quotes it had; other literals as they are."""
    raw = text(node)
    if raw[:1] in "'\"`" and raw[-1:] == raw[:1] and len(raw) > 1 and node.type not in ("rune_literal", "char_literal"):
        inner = raw[1:-1]
        return '"' + (inner.replace("\\'", "'") if raw[0] == "'" else inner).replace('\\"', '"') + '"'
    return raw


def canonical(found: Iterable[Token]) -> str:
    """Tokens as text."""
    return " ".join(t.text for t in found)


def shape(found: Iterable[Token]) -> str:
    """Tokens as text, names left out: a rename leaves it alone."""
    return " ".join("_" if t.kind == "name" else t.text for t in found)


def literals(found: Iterable[Token]) -> list[str]:
    """The literals among tokens, in order."""
    return [t.text for t in found if t.kind == "literal"]


def squeezed(node: Node | None) -> str:
    """A node as one canonical line, empty for none."""
    return canonical(tokens(node)) if node is not None else ""


def one_line(node: Node) -> str:
    """The source of a node as people read it, on one line."""
    return " ".join(text(node).split())[:200]


def arguments(call: Node) -> list[Node]:
    """The arguments of a call."""
    found = call.child_by_field_name("arguments")
    return [c for c in found.named_children if c.type not in _COMMENTS] if found is not None else []


def number(node: Node | None) -> float | None:
    """The value of a numeric literal, None for anything else."""
    if node is None:
        return None
    raw = text(node).replace("_", "").lower()
    for suffix in ("f64", "f32", "f", "n"):
        raw = raw.removesuffix(suffix) if not raw.startswith("0x") else raw
    try:
        return float(raw)
    except ValueError:
        return None
