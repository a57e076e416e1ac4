"""Facts of Go source. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from inspan.gate.product.facts import LOGGING, Assignment, first_line, squeezed
from inspan.gate.product.trees import TreeReader, literal, literals
from inspan.gate.syntax import Language, line, text, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_FAILED = re.compile(r"\b(e|err\w*)\s*!=\s*nil")


class GoReader(TreeReader):
    """One walk over a Go file."""

    language: Language = "go"
    functions_at = frozenset(("function_declaration", "method_declaration"))

    def name(self, node: Node, within: str) -> str:
        name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
        plain = text(name) if name is not None else ""
        owner = (
            next((text(n) for n in walk(receiver) if n.type == "type_identifier"), "") if receiver is not None else ""
        )
        full = f"{owner}.{plain}" if owner else plain
        if plain[:1].isupper() and (not owner or owner[:1].isupper()):
            self.exports[full] = first_line(text(node))
        return full

    def special(self, node: Node, within: str) -> None:
        kind = node.type
        if kind in ("var_spec", "const_spec"):
            self._variable(node, within)
        elif kind in ("type_spec", "type_alias") and not within:
            name = node.child_by_field_name("name")
            if name is not None and text(name)[:1].isupper():
                self.exports[text(name)] = first_line(f"type {text(node)}")
        elif kind == "import_spec":
            self._import(node)
        elif kind == "expression_case":
            value = node.child_by_field_name("value")
            outcome = next((o for c in node.named_children if c != value and (o := self.outcome(c))), None)
            self._pair(literals(value), outcome, False, node, within)
        elif kind == "if_statement":
            self._error(node, within)
        elif kind == "comment" and text(node).startswith("//go:linkname") and " testing." in text(node):
            self._patch("go:linkname testing", node, within)
        elif kind == "call_expression":
            self._called(node, within)
        elif kind in ("short_var_declaration", "assignment_statement"):
            self._blank(node, within)

    def _called(self, node: Node, within: str) -> None:
        if text(node).startswith("flag.Set(") and re.search(r"\"test\.", text(node)):
            self._patch("flag.CommandLine", node, within)
        if text(node) == "recover()":
            around = node.parent
            while around is not None and around.type not in ("func_literal", "function_declaration"):
                around = around.parent
            told = around is not None and re.search(r"panic\(|\berr\w* =|log|print|Errorf", text(around), re.IGNORECASE)
            self.forgotten(["recover()"], node, within, forgets=not told)

    def _patch(self, target: str, node: Node, within: str) -> None:
        shown = first_line(text(node))
        self.assignments.append(Assignment(target=target, value=shown, within=within, line=line(node), text=shown))

    def _variable(self, node: Node, within: str) -> None:
        value = node.child_by_field_name("value")
        for name in (c for c in node.named_children if c.type == "identifier"):
            if not within:
                self.globals.add(text(name))
                if text(name)[:1].isupper():
                    self.exports[text(name)] = first_line(text(node))
            if value is not None:
                self.bindings[text(name)] = squeezed(text(value))[:400]

    def _import(self, node: Node) -> None:
        path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
        module = (literal(path) if path is not None else None) or ""
        self.imports[text(name) if name is not None else module.rsplit("/", 1)[-1]] = module

    def _error(self, node: Node, within: str) -> None:
        condition, block = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        match = _FAILED.search(text(condition)) if condition is not None else None
        if match is None or block is None:
            return
        start = node.child_by_field_name("initializer") or node.prev_named_sibling
        self.forgotten([_right(start)], node, within, forgets=_lost(block, match[1]))

    def _blank(self, node: Node, within: str) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        names = [text(c) for c in left.named_children]
        if node.type == "short_var_declaration":
            for name in names:
                self.bindings[name] = squeezed(text(right))[:400]
        call = right.named_children[0] if right.named_children else right
        if names and names[-1] == "_" and call.type == "call_expression":
            self.forgotten([text(call)], node, within)


def _right(node: Node | None) -> str:
    """What is called in the statement whose error is looked at."""
    right = node.child_by_field_name("right") if node is not None else None
    return text(right) if right is not None else text(node) if node is not None else ""


def _lost(block: Node, name: str) -> bool:
    """Whether a block that follows an error neither tells it, nor keeps it, nor gives another one."""
    last: str | None = None
    for node in walk(block):
        if node.type == "identifier" and text(node) == name:
            return False
        if node.type == "call_expression":
            head = text(node).split("(", 1)[0]
            if LOGGING.search(head) or head in ("panic", "os.Exit") or "Err" in text(node) or "errors" in head:
                return False
        if node.type == "return_statement":
            values = node.named_children[0].named_children if node.named_children else []
            last = text(values[-1]) if values else "nil"
    return last is None or last == "nil"
