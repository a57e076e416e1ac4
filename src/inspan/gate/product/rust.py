"""Facts of Rust source. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from inspan.gate.product.facts import Assignment, Effect, first_line, squeezed
from inspan.gate.product.trees import TreeReader, literals
from inspan.gate.syntax import Language, line, text, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_SILENCING = re.compile(r"#!?\[\s*(cfg_attr\([^,]*,\s*)?(allow|expect)\s*\(")
_DEMANDING = re.compile(r"#!?\[\s*(cfg_attr\([^,]*,\s*)?(deny|forbid|warn)\s*\(")
_TESTS = re.compile(r"#\[\s*(cfg\s*\(\s*(all\s*\(\s*)?test\b|(\w+::)*test\b|rstest|test_case)")
_FOR_TESTS = re.compile(r"cfg\s*\((\s*(all|any)\s*\()?\s*test\b")
_TAKEN = re.compile(r"^((debug_)?assert(_eq|_ne)?|panic|matches|unreachable)$")
_LOSING = frozenset(("unwrap_or_default", "unwrap_or", "unwrap_or_else", "ok"))
_CONDITIONAL = frozenset(
    (
        "function_item",
        "const_item",
        "static_item",
        "expression_statement",
        "let_declaration",
        "match_arm",
        "use_declaration",
    )
)
_STATEMENTS = frozenset(("expression_statement", "let_declaration", "line_comment", "block_comment", "attribute_item",
                         "function_item", "use_declaration", "macro_definition", "const_item"))  # fmt: skip


class RustReader(TreeReader):
    """One walk over a Rust file; modules and functions marked as tests are not product code."""

    language: Language = "rust"
    functions_at = frozenset(("function_item",))
    owners = frozenset(("impl_item", "trait_item"))
    comments = frozenset(("line_comment", "block_comment"))

    def is_test(self, node: Node) -> bool:
        if node.type not in ("mod_item", "function_item"):
            return False
        marked = any(_TESTS.match(a) for a in _attributes(node))
        return marked and (node.type == "mod_item" or not any("cfg" in a for a in _attributes(node)))

    def owner(self, node: Node) -> str:
        name = node.child_by_field_name("type") or node.child_by_field_name("name")
        return text(name) if name is not None else ""

    def tail(self, block: Node) -> Node | None:
        if block.type == "else_clause" and block.named_children:
            block = block.named_children[-1]
        last = block.named_children[-1] if block.type == "block" and block.named_children else None
        return None if last is None or last.type in _STATEMENTS else last

    def special(self, node: Node, within: str) -> None:
        kind = node.type
        if kind in ("attribute_item", "inner_attribute_item"):
            if _SILENCING.match(text(node)):
                self.silenced.append(squeezed(text(node)))
            elif _DEMANDING.match(text(node)):
                self.demanded.append(squeezed(text(node)))
        elif kind in ("let_declaration", "const_item", "static_item"):
            self._variable(node, within)
        elif kind == "match_arm":
            self._arm(node, within)
        elif kind == "use_declaration":
            for name in (n for n in walk(node) if n.type == "identifier"):
                self.imports[text(name)] = squeezed(text(node))
        elif kind == "call_expression":
            self._method(node, within)
        elif kind == "macro_definition":
            self._macro(node, within)
        if (
            kind.endswith("_item")
            and not within
            and any(c.type == "visibility_modifier" and text(c) == "pub" for c in node.children)
        ):
            self._public(node)
        if kind in _CONDITIONAL:
            self._conditional(node, within)

    def _macro(self, node: Node, within: str) -> None:
        name = node.child_by_field_name("name")
        if name is not None and _TAKEN.match(text(name)):
            target, shown = f"macro.{text(name)}", first_line(text(node))
            self.assignments.append(Assignment(target=target, value=shown, within=within, line=line(node), text=shown))

    def _public(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None and node.type != "mod_item":
            self.exports[text(name)] = first_line(text(node))

    def _conditional(self, node: Node, within: str) -> None:
        """An item that is another one when tests are compiled. A test-only item of its own changes nothing."""
        statement = node.type in ("expression_statement", "let_declaration", "match_arm")
        for attribute in _attributes(node):
            if re.search(r"cfg\s*\(.*not\s*\(\s*test\s*\)", attribute) or (statement and _FOR_TESTS.search(attribute)):
                # Another import under test is how mocks come in; another value is not.
                effect: Effect = "quiet" if node.type == "use_declaration" else "value"
                self.branch("cfg!(test)", effect, node, within)

    def _variable(self, node: Node, within: str) -> None:
        name = node.child_by_field_name("pattern") or node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is None:
            return
        if node.type == "static_item":
            self.globals.add(text(name))
        if value is not None:
            self.bindings[text(name)] = squeezed(text(value))[:400]
            if text(name) == "_" and value.type in ("call_expression", "macro_invocation"):
                self.forgotten([text(value)], node, within)
        elif node.type == "let_declaration" and text(node).startswith("let _ ="):
            self.forgotten([text(node)], node, within)

    def _arm(self, node: Node, within: str) -> None:
        pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        if pattern is None or value is None:
            return
        if re.match(r"^Err\(\s*_\w*\s*\)$", text(pattern)):
            lost = not re.search(r"\bErr\b|panic!|return Err|log|eprintln|warn", text(value))
            matched = node.parent.parent.child_by_field_name("value") if node.parent and node.parent.parent else None
            self.forgotten([text(matched)] if matched is not None else [], node, within, forgets=lost)
        found = [v for n in walk(pattern) if (v := literals(n)) is not None and not n.type.endswith("pattern")]
        outputs = literals(value) or (self.outcome(value) if value.type in ("block", "return_expression") else None)
        self._pair(frozenset().union(*found) if found else None, outputs, False, node, within)

    def _method(self, node: Node, within: str) -> None:
        function = node.child_by_field_name("function")
        if function is not None and text(function).endswith("catch_unwind"):
            self.forgotten(["recover()"], node, within)
        if function is None or function.type != "field_expression":
            return
        receiver, _, name = text(function).rpartition(".")
        if name in _LOSING:
            self.forgotten([receiver], node, within)


def _attributes(node: Node) -> list[str]:
    out: list[str] = []
    before = node.prev_named_sibling
    while before is not None and before.type in ("attribute_item", "line_comment"):
        out.append(text(before))
        before = before.prev_named_sibling
    return out
