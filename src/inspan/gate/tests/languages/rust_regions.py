"""The test regions of a Rust file of the product: what is built only for tests, and what documentation runs. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from inspan.gate.syntax import line, text, tree
from inspan.gate.tests.items import Edit
from inspan.gate.tests.languages.tokens import squeezed

if TYPE_CHECKING:
    from tree_sitter import Node

_CFG = re.compile(r"^cfg \( (.*) \)$")
_FOR_TESTS = re.compile(r"(?<!not \( )\btest\b")
TEST = re.compile(r"^(?:\w+ :: )*(?:test|rstest|test_case|wasm_bindgen_test)\b")
"""Attributes, in canonical text, that make a function a test."""
_CONTAINERS = frozenset(("mod_item", "impl_item", "trait_item"))


class Part(NamedTuple):
    """One declaration with its attributes.

    Attributes:
        node: the declaration.
        attributes: the content of each outer attribute in canonical text.
        attribute_nodes: their nodes.
        within: the modules around it in its file.
        container: what encloses it, as a key.
        within_tests: something around it is built only for tests.
        start, line: where it begins, attributes included.
    """

    node: Node
    attributes: tuple[str, ...]
    attribute_nodes: tuple[Node, ...]
    within: tuple[str, ...]
    container: str
    within_tests: bool
    start: int
    line: int


def declarations(root: Node) -> Iterator[Part]:
    """Every declaration of modules, implementations and traits, in the order of the source."""
    left: list[tuple[Node, tuple[str, ...], str, bool]] = [(root, (), "", False)]
    while left:
        block, within, container, tested = left.pop()
        marks: list[Node] = []
        for child in block.named_children:
            if child.type == "attribute_item":
                marks.append(child)
                continue
            if child.type in ("line_comment", "block_comment"):
                continue
            attributes = tuple(squeezed(m)[len("# [ ") : -len(" ]")] for m in marks)
            start = marks[0] if marks else child
            part = Part(child, attributes, tuple(marks), within, container, tested, start.start_byte, line(start))
            marks = []
            yield part
            body = child.child_by_field_name("body")
            if child.type in _CONTAINERS and body is not None:
                inside = (*within, name_of(child)) if child.type == "mod_item" else within
                left.append((body, inside, f"{container}/{name_of(child)}", tested or for_tests(part)))


def name_of(node: Node) -> str:
    """A declaration's name, or for one without a name what tells it apart."""
    if node.type == "impl_item":
        kinds = (node.child_by_field_name("trait"), node.child_by_field_name("type"))
        return "impl " + " for ".join(squeezed(k) for k in kinds if k is not None)
    name = node.child_by_field_name("name")
    return text(name) if name is not None else squeezed(node)


def conditions(part: Part) -> list[str]:
    """Under which conditions a declaration is built."""
    return [found[1] for a in part.attributes if (found := _CFG.match(a))]


def for_tests(part: Part) -> bool:
    """Whether a declaration is built only for tests, or is one."""
    return any(_FOR_TESTS.search(c) for c in conditions(part)) or any(TEST.match(a) for a in part.attributes)


class Comment(NamedTuple):
    """One documentation comment: its text, what it documents, and where it stands."""

    text: str
    name: str
    within: tuple[str, ...]
    container: str
    start: int
    stop: int
    line: int
    end: int
    target: int


def documented(root: Node) -> Iterator[Comment]:
    """Every outer or inner documentation comment."""
    left: list[tuple[Node, tuple[str, ...], str]] = [(root, (), "")]
    while left:
        block, within, container = left.pop()
        rows: list[Node] = []
        for child in block.named_children:
            if child.type in ("line_comment", "block_comment") and child.child_by_field_name("doc") is not None:
                inner = child.child_by_field_name("inner") is not None
                if rows and (rows[-1].child_by_field_name("inner") is not None) != inner:
                    yield from _comment(rows, None, within, container)
                    rows = []
                rows.append(child)
                continue
            if child.type in ("attribute_item", "line_comment", "block_comment"):
                continue
            yield from _comment(rows, child, within, container)
            rows = []
            body = child.child_by_field_name("body")
            if child.type in _CONTAINERS and body is not None:
                kept = (
                    child.child_by_field_name("type")
                    if child.type == "impl_item"
                    else child.child_by_field_name("name")
                )
                left.append((body, (*within, text(kept).split("<", 1)[0] if kept is not None else ""),
                             f"{container}/{name_of(child)}"))  # fmt: skip
        yield from _comment(rows, None, within, container)


def _comment(rows: list[Node], target: Node | None, within: tuple[str, ...], container: str) -> Iterator[Comment]:
    if not rows:
        return
    inner = rows[0].child_by_field_name("inner") is not None
    said = "".join(text(d) for r in rows if (d := r.child_by_field_name("doc")) is not None)
    name = "" if inner or target is None else name_of(target)
    place = rows[0].start_byte
    yield Comment(
        said, name, within, container, place, rows[-1].end_byte, line(rows[0]), rows[-1].end_point.row + 1,
        target.start_byte if target is not None else place,
    )  # fmt: skip


class Region(NamedTuple):
    """A test region: its bytes, and where one that is missing would be put."""

    start: int
    stop: int
    container: str


def _regions(root: Node, data: bytes) -> dict[tuple[str, str, str, int], Region]:
    """Test regions by (container, kind, name, number)."""
    out: dict[tuple[str, str, str, int], Region] = {}

    def put(container: str, kind: str, name: str, start: int, stop: int) -> None:
        number = 0
        while (container, kind, name, number) in out:
            number += 1
        out[container, kind, name, number] = Region(start, stop, container)

    for part in declarations(root):
        if for_tests(part) and not part.within_tests:
            put(part.container, part.node.type, name_of(part.node), part.start, part.node.end_byte)
    for comment in documented(root):
        if "```" in comment.text or "~~~" in comment.text:
            put(comment.container, "documentation", comment.name, comment.start, comment.stop)
    return out


def _ends(root: Node, data: bytes) -> dict[str, int]:
    """Where each container ends: before its closing brace, or at the end of the file."""
    out = {"": len(data)}
    for part in declarations(root):
        body = part.node.child_by_field_name("body")
        if part.node.type in _CONTAINERS and body is not None:
            out.setdefault(f"{part.container}/{name_of(part.node)}", body.end_byte - 1)
    return out


def swap(product: bytes, tests: bytes) -> bytes | None:
    """The product of one version of a file with the test regions of the other; None when either does not parse."""
    ours, theirs = tree("rust", product), tree("rust", tests)
    if ours is None or theirs is None:
        return None
    mine, other = _regions(ours.root_node, product), _regions(theirs.root_node, tests)
    ends, targets = _ends(ours.root_node, product), _targets(ours.root_node)
    edits: list[Edit] = []
    for key, region in mine.items():
        found = other.get(key)
        edits.append(Edit(region.start, region.stop, tests[found.start : found.stop] if found else b""))
    for key, region in other.items():
        if key in mine:
            continue
        body = tests[region.start : region.stop]
        at = targets.get(key[:1] + key[2:3]) if key[1] == "documentation" else ends.get(region.container)
        if at is not None:
            edits.append(Edit(at, at, body + b"\n" if key[1] == "documentation" else b"\n" + body + b"\n"))
    out = product
    for edit in sorted(edits, key=lambda e: (e.start, e.stop), reverse=True):
        out = out[: edit.start] + edit.text + out[edit.stop :]
    return out


def _targets(root: Node) -> dict[tuple[str, ...], int]:
    """Where the documentation of each declaration would begin."""
    return {(p.container, name_of(p.node)): p.start for p in declarations(root)}
