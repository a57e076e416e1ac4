"""Tests that do not compile: which items a compiler stumbles over, and a file without them. Pure.

In a compiled language one missing name costs every test of a package. So what does not compile is left out and the
rest is run: a test that needs what a tree does not have is itself an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from inspan.gate.syntax import language_of, text, tree, walk
from inspan.gate.tests.items import Edit, Module

if TYPE_CHECKING:
    from tree_sitter import Node

_GO = re.compile(r"^(?:vet: )?(?:\./)?(\S+\.go):(\d+):\d+: (.*)$", re.MULTILINE)
_RUST = re.compile(r"^error(?:\[E\d+\])?: (.*)\n(?:.*\n){0,3}?\s*--> (\S+\.rs):(\d+):\d+", re.MULTILINE)
_RUST_SHORT = re.compile(r"^(\S+\.rs):(\d+):\d+: error(?:\[E\d+\])?: (.*)$", re.MULTILINE)
_QUOTED = re.compile(r"`([^`]+)`")
_MOST = 200


class Fault(NamedTuple):
    """One error of a compiler: the file as it names it, line, message."""

    path: str
    line: int
    message: str


def faults(output: bytes) -> list[Fault]:
    """The errors that Go's and Rust's compilers printed."""
    said = output.decode("utf-8", "replace")
    found = [Fault(m[1], int(m[2]), m[3]) for m in _GO.finditer(said)]
    found += [Fault(m[2], int(m[3]), m[1]) for m in _RUST.finditer(said)]
    found += [Fault(m[1], int(m[2]), m[3]) for m in _RUST_SHORT.finditer(said)]
    return list(dict.fromkeys(found))[:_MOST]


def by_file(found: Iterable[Fault], paths: Iterable[str]) -> dict[str, list[Fault]]:
    """The faults of each of these files; a compiler may name a file from where it runs."""
    out: dict[str, list[Fault]] = {}
    known = sorted(paths)
    for fault in found:
        name = fault.path.removeprefix("./")
        path = name if name in known else next((p for p in known if p.endswith("/" + name)), None)
        if path is not None:
            out.setdefault(path, []).append(fault)
    return out


class Left(NamedTuple):
    """A file without what did not compile, and the ids of the items that are gone."""

    data: bytes
    gone: frozenset[str]


def without(path: str, data: bytes, module: Module, found: Iterable[Fault]) -> Left | None:
    """The file without the declarations that hold the faults; None where none of them can be left out.

    Lines keep their numbers, so that what a further run says can be read in the same way.
    """
    language = language_of(path)
    parsed = tree(language, data) if language in ("go", "rust") else None
    if parsed is None or language is None:
        return None
    gone: set[str] = set()
    edits: dict[tuple[int, int], bytes] = {}
    for fault in found:
        item = next((i for i in module.items.values() if i.line <= fault.line <= i.end and i.owner != "doc"), None)
        if item is not None:
            gone.add(item.id)
            edits[item.start, item.stop] = b""
            continue
        edit = _declaration(parsed.root_node, fault, module, language)
        if edit is not None:
            edits[edit.start, edit.stop] = edit.text
    if not edits:
        return None
    out = data
    last = len(data) + 1
    for (start, stop), new in sorted(edits.items(), reverse=True):
        if stop <= last:
            out = out[:start] + new + b"\n" * (data[start:stop].count(b"\n") - new.count(b"\n")) + out[stop:]
            last = start
    return Left(out, frozenset(gone))


def _declaration(root: Node, fault: Fault, module: Module, language: str) -> Edit | None:
    """The edit that leaves out what is no item: an import, a name of one, a function that tests call."""
    row = fault.line - 1
    here = [n for n in walk(root) if n.start_point.row <= row <= n.end_point.row]
    if language == "go":
        spec = next((n for n in here if n.type == "import_spec"), None)
        if spec is not None:
            return Edit(spec.start_byte, spec.end_byte, b"_ " + text(spec.child_by_field_name("path") or spec).encode())
        top = next(
            (n for n in here if n.parent == root and n.type not in ("package_clause", "import_declaration")), None
        )
        return Edit(top.start_byte, top.end_byte, b"") if top is not None else None
    used = next((n for n in here if n.type == "use_declaration"), None)
    if used is not None:
        return _use(used, fault)
    function = next((n for n in reversed(here) if n.type == "function_item"), None)
    name = function.child_by_field_name("name") if function is not None else None
    if function is not None and name is not None and text(name) in module.helpers:
        return Edit(function.start_byte, function.end_byte, b"")
    return None


def _use(node: Node, fault: Fault) -> Edit | None:
    """A ``use`` without the names that cannot be found."""
    names = {n.rsplit("::", 1)[-1] for n in _QUOTED.findall(fault.message)}
    lists = [n for n in walk(node) if n.type == "use_list"]
    for held in lists:
        for child in held.named_children:
            if names & set(re.findall(r"\w+", text(child))):
                stop = child.end_byte
                follows = child.next_sibling
                if follows is not None and follows.type == ",":
                    stop = follows.end_byte
                return Edit(child.start_byte, stop, b"")
    return Edit(node.start_byte, node.end_byte, b"")
