"""Facts of JavaScript and TypeScript source. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from inspan.gate.product.facts import LOGGING, Assignment, first_line, squeezed
from inspan.gate.product.trees import TreeReader, literal, literals
from inspan.gate.syntax import Language, line, text, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset(("arrow_function", "function_expression", "generator_function"))


class JavaScriptReader(TreeReader):
    """One walk over a script or a module."""

    language: Language = "javascript"
    owners = frozenset(("class_declaration", "class"))
    functions_at = frozenset(
        ("function_declaration", "generator_function_declaration", "method_definition", "variable_declarator", "pair",
         "assignment_expression", "public_field_definition", "field_definition")
    )  # fmt: skip

    def is_test(self, node: Node) -> bool:
        condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
        return condition is not None and text(condition).strip("()") == "import.meta.vitest"

    def name(self, node: Node, within: str) -> str:
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        plain = node.type in ("function_declaration", "generator_function_declaration", "method_definition")
        if not plain and (value is None or value.type not in _FUNCTIONS):
            return ""
        fields = ("name", "key", "left", "property")
        name = next((c for f in fields if (c := node.child_by_field_name(f)) is not None), None)
        called = "" if name is None else text(name).strip("'\"[]")
        called = called.removeprefix("module.exports.").removeprefix("exports.")
        return f"{within}.{called}" if within else called

    def function(self, node: Node, name: str):  # type: ignore[no-untyped-def]  # noqa: ANN201
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        return super().function(value if value is not None and value.type in _FUNCTIONS else node, name)

    def special(self, node: Node, within: str) -> None:
        kind = node.type
        if kind == "variable_declarator":
            self._variable(node, within)
        elif kind == "import_statement":
            self._import(node)
        elif kind == "export_statement":
            self._export(node)
        elif kind == "assignment_expression":
            self._module_exports(node)
        elif kind == "try_statement":
            self._try(node, within)
        elif kind == "switch_case":
            value = node.child_by_field_name("value")
            outcome = next((o for c in node.named_children if c != value and (o := self.outcome(c))), None)
            self._pair(literals(value), outcome, False, node, within)
        elif kind == "call_expression":
            self._promise(node, within)
        elif kind == "array" and len(node.named_children) == 2 and node.parent is not None:
            if node.parent.type == "array" and node.parent.parent is not None:
                holder = node.parent.parent.parent
                if holder is not None and holder.type == "new_expression":  # new Map([[key, value], ...])
                    key, value = node.named_children
                    self._pair(literals(key), literals(value), True, node, within)
        elif kind == "predefined_type" and text(node) == "any":
            if node.parent is not None and node.parent.type not in ("as_expression", "type_assertion"):
                shown = squeezed(text(node.parent.parent or node.parent)).split("{")[0][:160]
                self.casts.append(f"any: {shown}")
        elif kind in ("as_expression", "type_assertion"):
            through = node.parent is not None and node.parent.type == "as_expression"
            if re.search(r"\b(any|never)\b" + (r"|\bunknown\b" if through else ""), _type(node)):
                self.casts.append(squeezed(text(node.parent if through and node.parent is not None else node))[:160])

    def _variable(self, node: Node, within: str) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        names = [text(n) for n in walk(name) if n.type in ("identifier", "shorthand_property_identifier_pattern")]
        if not within:
            self.globals.update(names)
        if value is None:
            return
        required = re.match(r"""^(?:await\s+)?(?:require|import)\(\s*["']([^"']+)["']\s*\)""", text(value))
        for bound in names:
            if required:
                self.imports[bound] = required[1]
            self.bindings[bound] = squeezed(text(value))[:400]

    def _import(self, node: Node) -> None:
        source = node.child_by_field_name("source")
        module = literal(source) if source is not None else None
        clause = next((c for c in node.named_children if c.type == "import_clause"), None)
        if module is None:
            return
        for name in walk(clause) if clause is not None else ():
            if name.type == "identifier":
                self.imports[text(name)] = module
        if clause is None:
            self.imports[module] = module

    def _export(self, node: Node) -> None:
        declaration = node.child_by_field_name("declaration")
        if declaration is None:
            for clause in (n for n in walk(node) if n.type == "export_specifier"):
                self.exports[text(clause.named_children[-1])] = first_line(text(clause))
            return
        for found in [declaration, *(n for n in declaration.named_children if n.type == "variable_declarator")]:
            name = found.child_by_field_name("name")
            if name is not None:
                self.exports[text(name)] = first_line(text(declaration))

    def _module_exports(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        target = text(left) if left is not None else ""
        if target == "module.exports" and right is not None and right.type == "object":
            for entry in right.named_children:
                name = entry.child_by_field_name("key") or entry
                if name.type in ("shorthand_property_identifier", "property_identifier"):
                    self.exports[text(name)] = f"module.exports: {text(name)}"
        elif re.match(r"^(module\.)?exports\.\w+$", target):
            self.exports[target.rsplit(".", 1)[-1]] = first_line(text(node))

    def _try(self, node: Node, within: str) -> None:
        body, clause = node.child_by_field_name("body"), node.child_by_field_name("handler")
        last = node.child_by_field_name("finalizer")
        if last is not None and any(n.type == "return_statement" for n in walk(last)):
            self.forgotten(["finally"], last, within)
        if body is None or clause is None:
            return
        block, parameter = clause.child_by_field_name("body"), clause.child_by_field_name("parameter")
        forgets = block is not None and self._lost(block, text(parameter) if parameter is not None else "")
        self.forgotten([text(c) for c in body.named_children], clause, within, forgets=forgets)

    def _lost(self, block: Node, name: str) -> bool:
        """Whether nothing of an error is passed on, told or kept."""
        for inner in walk(block):
            if inner.type == "throw_statement" or (name and inner.type == "identifier" and text(inner) == name):
                return False
            if inner.type == "call_expression" and LOGGING.search(text(inner).split("(", 1)[0]):
                return False
        return True

    def _promise(self, node: Node, within: str) -> None:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return
        name = text(function)
        if name.endswith(".catch") and arguments.named_children:
            callback = arguments.named_children[0]
            body = callback.child_by_field_name("body")
            parameter = callback.child_by_field_name("parameter") or callback.child_by_field_name("parameters")
            if callback.type in _FUNCTIONS and body is not None:
                lost = self._lost(body, text(parameter).strip("()") if parameter is not None else "")
                self.forgotten([name.removesuffix(".catch")], node, within, forgets=lost)
        if name in ("Object.defineProperty", "Reflect.defineProperty", "Object.assign", "vi.stubGlobal"):
            target = text(arguments.named_children[0]) if arguments.named_children else ""
            key = literal(arguments.named_children[1]) if len(arguments.named_children) > 1 else None
            shown = first_line(text(node))
            self.assignments.append(
                Assignment(target=f"{target}.{key or '*'}", value=shown, within=within, line=line(node), text=shown)
            )


def _type(node: Node) -> str:
    return text(node.named_children[-1]) if node.named_children else ""
