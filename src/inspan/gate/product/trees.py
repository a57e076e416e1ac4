"""Facts of a syntax tree by tree-sitter: what JavaScript, TypeScript, Go and Rust have in common. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from inspan.gate.product.facts import (
    CLEAN_UP,
    EQUALITY,
    LOGGING,
    UNFINISHED,
    Assignment,
    Branch,
    Call,
    Caught,
    Effect,
    Facts,
    Function,
    Pair,
    Remark,
    first_line,
    squeezed,
)
from inspan.gate.syntax import Language, line, text, tree, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_STRINGS = frozenset(
    ("string", "template_string", "interpreted_string_literal", "raw_string_literal", "string_literal", "char_literal",
     "rune_literal")
)  # fmt: skip
_NUMBERS = frozenset(("number", "int_literal", "float_literal", "integer_literal"))
_WORDS = frozenset(("true", "false", "null", "undefined", "nil", "boolean_literal"))
_COMPOSITE = frozenset(
    """
    array object pair composite_literal literal_value literal_element keyed_element tuple_expression array_expression
    expression_list parenthesized_expression reference_expression arguments as_expression satisfies_expression
    token_tree argument_list
    """.split()  # noqa: SIM905
)
_WRAPPED = re.compile(
    r"^(String::from|Promise\.resolve|Object\.freeze|vec|(\w+(::|\.))*(?!Err\b|Error\b)[A-Z]\w*(::(new|from))?)$"
)
_TURNED = frozenset(("to_string", "into", "to_owned", "to_vec", "as_str", "clone"))
_ROWS = frozenset(
    ("expression_statement", "call_expression", "array", "object", "literal_value", "literal_element", "keyed_element",
     "macro_invocation", "tuple_expression", "array_expression", "if_statement", "pair", "short_var_declaration")
)  # fmt: skip
_NAMES = frozenset(
    """
    identifier member_expression selector_expression field_expression this self subscript_expression index_expression
    scoped_identifier property_identifier field_identifier
    """.split()  # noqa: SIM905
)
_ASSIGNING = frozenset(("assignment_expression", "assignment_statement", "augmented_assignment_expression"))
_LOOPS = frozenset(("for_statement", "for_in_statement", "while_statement", "do_statement", "for_expression",
                    "while_expression", "loop_expression"))  # fmt: skip
_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "**", "<<", ">>", "^"))
_LOOKUPS = re.compile(
    r"(^|[.:])(get|has|hasOwnProperty|hasOwn|String|stringify|to_string|as_str|Some|Ok|copied|cloned|unwrap)$"
)
_DIGITS = re.compile(r"^-?(0[xob])?[0-9a-fA-F_.]+")
_ROW_BYTES = 4000


def literal(node: Node) -> str | None:
    """A literal as plain text; None for anything else."""
    kind = node.type
    if kind in _STRINGS:
        if kind == "template_string" and any(c.type == "template_substitution" for c in node.children):
            return None
        return re.sub(r'^(br?|r)?#*["\'`]|["\'`]#*$', "", text(node))
    if kind in _NUMBERS:
        return _number(text(node))
    if kind in _WORDS or (kind == "identifier" and text(node) in ("None", "NaN", "Infinity")):
        return {"true": "True", "false": "False", "null": "None", "nil": "None", "undefined": "None"}.get(
            text(node), text(node)
        )
    if kind in ("unary_expression", "negative_literal") and text(node).startswith("-") and node.named_children:
        inner = literal(node.named_children[0])
        return None if inner is None else f"-{inner}"
    return None


def _number(source: str) -> str:
    plain = source.replace("_", "")
    plain = re.sub(r"(?<=[0-9.])(u|i|f)(8|16|32|64|128|size)$", "", plain).rstrip("n")
    try:
        return str(int(plain, 0))
    except ValueError:
        pass
    try:
        return str(float(plain))
    except ValueError:
        return plain


def literals(node: Node | None) -> frozenset[str] | None:
    """The literals of an expression made of nothing else; None for another one."""
    if node is None:
        return None
    one = literal(node)
    if one is not None:
        return frozenset([one])
    if node.type in _COMPOSITE:
        parts = [literals(c) for c in _valued(node)]
        return frozenset().union(*(p for p in parts if p)) if all(p is not None for p in parts) else None
    if node.type in ("call_expression", "macro_invocation", "new_expression"):
        names = ("function", "macro", "constructor")
        function = next((c for f in names if (c := node.child_by_field_name(f)) is not None), None)
        arguments = node.child_by_field_name("arguments") or next(
            (c for c in node.children if c.type == "token_tree"), None
        )
        if function is not None and _WRAPPED.match(text(function)):
            return literals(arguments)
        if (
            function is not None
            and function.type == "field_expression"
            and text(function).rsplit(".", 1)[-1] in _TURNED
        ):
            return literals(function.named_children[0])
    return None


def _valued(node: Node) -> list[Node]:
    """The children that carry values: of a pair the value, of a typed literal its body."""
    if node.type == "pair":
        value = node.child_by_field_name("value")
        return [value] if value is not None else []
    if node.type == "keyed_element":
        return node.named_children[-1:]
    if node.type == "composite_literal":
        body = node.child_by_field_name("body")
        return [body] if body is not None else []
    if node.type in ("as_expression", "satisfies_expression"):
        return node.named_children[:1]
    return [c for c in node.named_children if c.type not in ("comment", "mutable_specifier")]


def all_literals(node: Node) -> frozenset[str]:
    """Every literal below a node."""
    return frozenset(v for n in walk(node) if (v := literal(n)) is not None)


def plain(node: Node) -> bool:
    """Whether an expression names something without computing."""
    if node.type in ("call_expression", "arguments", "argument_list", "parenthesized_expression", "tuple_expression",
                     "expression_list", "array", "array_expression", "reference_expression"):  # fmt: skip
        return all(plain(c) for c in node.named_children)
    return node.type in _NAMES


def compared(node: Node | None) -> frozenset[str] | None:
    """The literals a condition demands by equality or membership."""
    if node is None:
        return None
    if node.type == "parenthesized_expression" and node.named_children:
        return compared(node.named_children[0])
    if node.type == "binary_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = text(node.child_by_field_name("operator")) if node.child_by_field_name("operator") else ""  # type: ignore[arg-type]
        if left is None or right is None:
            return None
        if operator in ("&&", "||"):
            parts = [p for p in (compared(left), compared(right)) if p]
            return frozenset().union(*parts) if parts else None
        if operator in ("==", "==="):
            for name, value in ((left, right), (right, left)):
                if plain(name) and (found := literals(value)):
                    return found
    if node.type == "call_expression":
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is not None and text(function).rsplit(".", 1)[-1] in ("includes", "contains"):
            return literals(function.named_children[0])
        if function is not None and re.search(r"(startsWith|starts_with|HasPrefix)$", text(function)) and arguments:
            return literals(arguments.named_children[-1]) if arguments.named_children else None
    return None


class TreeReader:
    """One walk over a syntax tree. Languages say what their nodes mean by overriding what differs."""

    language: Language
    functions_at: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    comments: frozenset[str] = frozenset(("comment",))

    def __init__(self) -> None:
        self.functions: list[Function] = []
        self.pairs: list[Pair] = []
        self.branches: list[Branch] = []
        self.calls: list[Call] = []
        self.assignments: list[Assignment] = []
        self.caught: list[Caught] = []
        self.remarks: list[Remark] = []
        self.imports: dict[str, str] = {}
        self.exports: dict[str, str] = {}
        self.bindings: dict[str, str] = {}
        self.globals: set[str] = set()
        self.written: set[str] = set()
        self.silenced: list[str] = []
        self.demanded: list[str] = []
        self.casts: list[str] = []
        self.rows: list[frozenset[str]] = []
        self.literals: set[str] = set()

    def read(self, data: bytes, *, tests: bool = False, language: Language | None = None) -> Facts | None:
        """The facts of one file; None when it cannot be read.

        Args:
            tests: the file belongs to the tests as a whole: the rows of all of it are wanted.
        """
        found = tree(language or self.language, data)
        if found is None:
            return None
        left: list[tuple[Node, str, bool]] = [(found.root_node, "", False)]
        while left:
            node, within, testing = left.pop()
            testing = testing or self.is_test(node)
            if (tests or testing) and node.type in _ROWS and node.end_byte - node.start_byte < _ROW_BYTES:
                row = all_literals(node) | _answers(node)
                if 2 <= len(row) <= 24:
                    self.rows.append(row)
            if (tests or testing) and (value := literal(node)) is not None:
                self.literals.add(value)
            inner = within if testing else self.visited(node, within)
            left += [(child, inner, testing) for child in reversed(node.children)]
        return self._facts()

    def _facts(self) -> Facts:
        return Facts(
            functions=tuple(self.functions),
            pairs=tuple(self.pairs),
            branches=tuple(self.branches),
            calls=tuple(self.calls),
            assignments=tuple(self.assignments),
            caught=tuple(self.caught),
            remarks=tuple(self.remarks),
            imports=self.imports,
            exports=self.exports,
            bindings=self.bindings,
            mutated=frozenset(self.globals & self.written),
            rows=tuple(self.rows),
            literals=frozenset(self.literals),
            silenced=tuple(self.silenced),
            demanded=tuple(self.demanded),
            casts=tuple(self.casts),
        )

    def is_test(self, node: Node) -> bool:
        """Whether a node of a product file is a test."""
        return False

    def visited(self, node: Node, within: str) -> str:
        """Record one node; returns the name its children stand in."""
        kind = node.type
        if kind in self.comments:
            self.remarks.append(Remark(text=text(node), line=line(node), comment=True))
        elif kind in _STRINGS:
            self.remarks.append(Remark(text=literal(node) or text(node), line=line(node), comment=False))
        elif kind in ("if_statement", "if_expression"):
            self._if(node, within)
        elif kind in ("ternary_expression",):
            self._ternary(node, within)
        elif kind in ("call_expression", "new_expression", "macro_invocation"):
            self._call(node, within)
        elif kind in _ASSIGNING:
            self._assign(node, within)
        elif kind in ("update_expression", "inc_statement", "dec_statement", "compound_assignment_expr"):
            self.written.add(re.split(r"[.\[]", text(node).lstrip("+-"))[0].split()[0].rstrip("+-"))
        elif kind in ("pair", "keyed_element") and len(node.named_children) >= 2:
            key = node.named_children[0]
            named = frozenset([text(key)]) if key.type == "property_identifier" else literals(key)
            self._pair(named, literals(node.named_children[-1]), True, node, within)
        self.special(node, within)
        if kind in self.owners:
            return self.owner(node) or within
        if kind in self.functions_at:
            name = self.name(node, within)
            if name:
                self.functions.append(self.function(node, name))
                return name
        return within

    def special(self, node: Node, within: str) -> None:
        """What only this language has."""

    def owner(self, node: Node) -> str:
        """The name of a type whose methods stand below this node."""
        name = node.child_by_field_name("name")
        return text(name) if name is not None else ""

    def name(self, node: Node, within: str) -> str:
        """The full name of a function."""
        name = node.child_by_field_name("name")
        return "" if name is None else f"{within}.{text(name)}" if within else text(name)

    # The parts that languages share.

    def _if(self, node: Node, within: str) -> None:
        condition, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        otherwise = node.child_by_field_name("alternative")
        if condition is None or then is None:
            return
        effects = {self.effect(then), self.effect(otherwise) if otherwise is not None else "quiet"}
        effect: Effect = "value" if "value" in effects else "raise" if "raise" in effects else "quiet"
        self.branch(text(condition), effect, node, within)
        self._pair(compared(condition), self.outcome(then), False, node, within)

    def _ternary(self, node: Node, within: str) -> None:
        condition, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if condition is not None and then is not None:
            told = LOGGING.search(text(node.parent) if node.parent is not None else text(node))
            self.branch(text(condition), "quiet" if told else "value", node, within)
            self._pair(compared(condition), literals(then), False, node, within)

    def branch(self, condition: str, effect: Effect, node: Node, within: str) -> None:
        """Record a condition."""
        self.branches.append(
            Branch(
                condition=squeezed(condition),
                effect=effect,
                within=within,
                line=line(node),
                text=first_line(text(node)),
            )
        )

    def _pair(
        self, inputs: frozenset[str] | None, outputs: frozenset[str] | None, table: bool, node: Node, within: str
    ) -> None:
        if inputs and outputs:
            shown = squeezed(text(node))[:160]
            self.pairs.append(
                Pair(inputs=inputs, outputs=outputs, table=table, within=within, line=line(node), text=shown)
            )

    def _call(self, node: Node, within: str) -> None:
        function = next(
            (c for f in ("function", "constructor", "macro") if (c := node.child_by_field_name(f)) is not None), None
        )
        if function is None:
            return
        name = squeezed(text(function))[:200]
        if name.rsplit(".", 1)[-1] in ("push", "set", "add", "delete", "insert", "fetch_add", "store", "with", "lock"):
            self.written.add(name.split(".")[0])
        arguments = node.child_by_field_name("arguments") or next(
            (c for c in node.children if c.type == "token_tree"), None
        )
        values = [v for a in (arguments.named_children if arguments else []) if (v := literal(a)) is not None]
        shown = first_line(text(node))
        self.calls.append(Call(name=name, arguments=tuple(values), within=within, line=line(node), text=shown))

    def _assign(self, node: Node, within: str) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        target, value = squeezed(text(left)), squeezed(text(right))
        if within:
            self.written.add(re.split(r"[.\[]", target)[0])
        self.assignments.append(
            Assignment(target=target, value=value[:400], within=within, line=line(node), text=first_line(text(node)))
        )

    def forgotten(
        self, guarded: Iterable[str], node: Node, within: str, *, forgets: bool = True, broad: bool = True
    ) -> None:
        """Record a place where an error ends."""
        kept = frozenset(squeezed(g) for g in guarded if g.strip())
        cleans = bool(kept) and all(CLEAN_UP.search(g) for g in kept)
        self.caught.append(
            Caught(guarded=kept, broad=broad, forgets=forgets and not cleans, within=within, line=line(node),
                   text=first_line(text(node)))
        )  # fmt: skip

    def effect(self, block: Node) -> Effect:
        """What a block does."""
        for node in _shallow(block):
            if node.type == "throw_statement" or self.raises(node):
                return "raise"
            if node.type in ("return_statement", "return_expression") and node.named_children:
                if literal(node.named_children[0]) != "None" or len(node.named_children) > 1:
                    return "value"
            elif node.type in _ASSIGNING and not LOGGING.search(text(node)):
                return "value"
        return "value" if self.tail(block) is not None else "quiet"

    def raises(self, node: Node) -> bool:
        """Whether a node ends the function with an error."""
        if node.type not in ("call_expression", "macro_invocation"):
            return False
        head = text(node).split("(", 1)[0].split("!", 1)[0].strip()
        return head in ("panic", "unreachable", "log.Fatal", "log.Fatalf", "log.Panic", "assert")

    def tail(self, block: Node) -> Node | None:
        """The expression a block ends in, for languages whose blocks have values."""
        return None

    def outcome(self, block: Node) -> frozenset[str] | None:
        """The literals a block gives or assigns, when it does nothing else of note."""
        if len(block.named_children) > 2:
            return None
        for node in _shallow(block):
            if node.type in ("return_statement", "return_expression") and node.named_children:
                return literals(node.named_children[0])
            if node.type in ("assignment_expression", "assignment_statement"):
                found = literals(node.child_by_field_name("right"))
                if found:
                    return found
        return literals(self.tail(block))

    def function(self, node: Node, name: str) -> Function:
        """The facts of one function."""
        body = node.child_by_field_name("body")
        if body is None:
            return Function(name=name, line=line(node), body="")
        inner = list(walk(body))
        returns = [n for n in inner if n.type in ("return_statement", "return_expression")]
        values = [r.named_children[0] for r in returns if r.named_children]
        end = body if body.type not in ("statement_block", "block") else self.tail(body)
        values += [end] if end is not None else []
        statements = [c for c in body.named_children if c.type not in self.comments]
        constant = len(values) == 1 and bool(literals(values[0])) and (len(statements) <= 1 or end is body)
        return Function(
            name=name,
            line=line(node),
            body=squeezed(text(body)),
            computes=any(map(_computing, inner)) or any(_calls_in(v) for v in values),
            constant=constant,
            equalizes=re.split(r"[.:]", name)[-1] in EQUALITY and (constant or _ignores(node, body, values)),
            unfinished=next((first_line(text(n)) for n in inner if self.unfinished(n)), None),
            literals=len([n for n in inner if literal(n) is not None]),
            parameters=_parameters(node),
        )

    def unfinished(self, node: Node) -> bool:
        """Whether a node says that work is not done yet."""
        if node.type == "throw_statement" or self.raises(node):
            return bool(UNFINISHED.search(text(node)))
        head = text(node).split("(", 1)[0]
        if node.type == "call_expression" and head in ("errors.New", "fmt.Errorf"):
            return bool(UNFINISHED.search(text(node)))
        return node.type == "macro_invocation" and head.rstrip("!") in ("todo", "unimplemented")


def _ignores(node: Node, body: Node, values: list[Node]) -> bool:
    """Whether a comparison that gives something never looks at what it is compared with."""
    names = re.findall(r"[A-Za-z_]\w*", re.sub(r"\b(mut|self|Self|this)\b", "", _parameters(node)))
    used = set(re.findall(r"[A-Za-z_]\w*", text(body)))
    spoiled = used & {"todo", "unimplemented", "panic", "throw", "super", "arguments"}
    return bool(names) and bool(values) and not spoiled and names[0] not in used


def _parameters(node: Node) -> str:
    found = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    return text(found) if found is not None else ""


def _answers(node: Node) -> frozenset[str]:
    """Yes and no, where an assertion demands one of them without writing it."""
    head = text(node)[:2000]
    if re.match(r"^\s*(debug_)?assert!\(|^if\b", head) or re.search(r"\.(toBeTruthy|toBeFalsy|ok|notOk)\(", head):
        return frozenset(("True", "False"))
    return frozenset()


def _shallow(block: Node) -> Iterator[Node]:
    """The nodes of a block without those of functions in it."""
    left = [block]
    while left:
        node = left.pop()
        yield node
        if node is block or node.type not in (
            "arrow_function",
            "function_expression",
            "func_literal",
            "closure_expression",
        ):
            left += reversed(node.children)


def _computing(node: Node) -> bool:
    if node.type in _LOOPS:
        return True
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    return operator is not None and text(operator) in _ARITHMETIC


def _calls_in(node: Node) -> bool:
    for inner in walk(node):
        function = inner.child_by_field_name("function") if inner.type == "call_expression" else None
        if function is not None and not _LOOKUPS.search(text(function)):
            return True
        if inner.type == "template_substitution":
            return True
    return False
