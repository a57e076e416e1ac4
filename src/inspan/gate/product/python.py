"""Facts of Python source, by the standard library's own syntax tree. Pure."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator

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

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_BROAD = frozenset(("Exception", "BaseException", "builtins.Exception", "builtins.BaseException"))
_LOOKUPS = frozenset(("get", "keys", "items", "str", "repr", "tuple", "int", "float", "lower", "strip"))


def facts(data: bytes, tests: bool = False) -> Facts | None:
    """The facts of one file, of a test file its rows too; None when it cannot be read."""
    try:
        tree = ast.parse(data)
        reader = _Reader()
        reader.visit_body(tree.body, "")
    except (SyntaxError, ValueError, RecursionError):
        return None
    return Facts(
        functions=tuple(reader.functions),
        pairs=tuple(reader.pairs),
        branches=tuple(reader.branches),
        calls=tuple(reader.calls),
        assignments=tuple(reader.assignments),
        caught=tuple(reader.caught),
        remarks=(*_comments(data), *_strings(tree)),
        imports=reader.imports,
        exports=_exports(tree),
        bindings=reader.bindings,
        mutated=frozenset(reader.mutated & _module_variables(tree)),
        rows=tuple(_rows(tree)) if tests else (),
        literals=_all_literals(tree) if tests else frozenset(),
        casts=tuple(reader.casts),
    )


def dotted(node: ast.AST) -> str:
    """The dotted name of an expression; ``""`` for one that is no name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = dotted(node.value)
        return f"{head}.{node.attr}" if head else f".{node.attr}"
    if isinstance(node, ast.Call):
        return dotted(node.func) + "()"
    return ""


def literal(node: ast.AST) -> str | None:
    """A literal as plain text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None if node.value is ... else str(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = literal(node.operand)
        return None if inner is None else f"-{inner}"
    if isinstance(node, ast.Call) and dotted(node.func) in ("float", "int", "str", "bytes"):
        return literal(node.args[0]) if len(node.args) == 1 else None
    return None


def literals(node: ast.AST | None) -> frozenset[str] | None:
    """The literals of an expression made of nothing else; None for another one."""
    if node is None:
        return None
    one = literal(node)
    if one is not None:
        return frozenset([one])
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = [literals(e) for e in node.elts]
    elif isinstance(node, ast.Dict):
        parts = [literals(e) for e in (*node.keys, *node.values)]
    elif isinstance(node, ast.Call) and _constructs(dotted(node.func)):
        parts = [literals(a) for a in (*node.args, *(k.value for k in node.keywords))]
    else:
        return None
    return frozenset().union(*(p for p in parts if p)) if all(p is not None for p in parts) else None


def _constructs(name: str) -> bool:
    """Whether a called name is that of a class that keeps what it is given."""
    last = name.rsplit(".", 1)[-1]
    return last[:1].isupper() and not last.endswith(("Error", "Exception", "Warning"))


def _all_literals(node: ast.AST) -> frozenset[str]:
    return frozenset(v for n in ast.walk(node) if (v := literal(n)) is not None)


def _plain(node: ast.AST) -> bool:
    """Whether an expression names something without computing: ``x``, ``x.y``, ``str(x)``, ``(x, y)``."""
    if isinstance(node, ast.Name | ast.Attribute):
        return True
    if isinstance(node, ast.Tuple | ast.List):
        return all(map(_plain, node.elts))
    if isinstance(node, ast.Call):
        return all(map(_plain, node.args)) and _plain(node.func)
    return isinstance(node, ast.Subscript)


def _compared(test: ast.expr) -> frozenset[str] | None:
    """The literals a condition demands by equality or membership; None for another condition."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And | ast.Or):
        parts = [found for v in test.values if (found := _compared(v))]
        return frozenset().union(*parts) if parts else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(operator, ast.Eq | ast.In | ast.Is):
            for name, value in ((left, right), (right, left)):
                if _plain(name) and (found := literals(value)):
                    return found
        near = left.args[0] if isinstance(left, ast.Call) and dotted(left.func) == "abs" and left.args else None
        if isinstance(operator, ast.Lt | ast.LtE) and isinstance(near, ast.BinOp) and isinstance(near.op, ast.Sub):
            return literals(near.right) or literals(near.left)
    if isinstance(test, ast.Call) and dotted(test.func).rsplit(".", 1)[-1] in ("startswith", "endswith", "isclose"):
        return frozenset().union(*(found for a in test.args if (found := literals(a)))) or None
    return None


class _Reader(ast.NodeVisitor):
    """One walk over a file."""

    def __init__(self) -> None:
        self.functions: list[Function] = []
        self.pairs: list[Pair] = []
        self.branches: list[Branch] = []
        self.calls: list[Call] = []
        self.assignments: list[Assignment] = []
        self.caught: list[Caught] = []
        self.imports: dict[str, str] = {}
        self.bindings: dict[str, str] = {}
        self.mutated: set[str] = set()
        self.casts: list[str] = []
        self.within = ""

    def visit_body(self, body: list[ast.stmt], within: str) -> None:
        outer, self.within = self.within, within
        for node in body:
            self.visit(node)
        self.within = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for outer in (*node.decorator_list, *node.bases):
            self.visit(outer)
        self.visit_body(node.body, f"{self.within}.{node.name}" if self.within else node.name)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: FunctionNode) -> None:
        if any(dotted(d).rsplit(".", 1)[-1] == "overload" for d in node.decorator_list):
            return
        name = f"{self.within}.{node.name}" if self.within else node.name
        self.functions.append(_function(node, name))
        for decorator in node.decorator_list:
            self.visit(decorator)
        shared = {n for s in ast.walk(node) if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
        self.mutated |= shared
        self.visit_body(node.body, name)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.imports[alias.asname or alias.name.split(".")[0]] = alias.name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            module = "." * node.level + (node.module or "")
            self.imports[alias.asname or alias.name] = f"{module}.{alias.name}" if node.module else module

    def visit_If(self, node: ast.If) -> None:
        if not self.within and ast.unparse(node.test) in ("__name__ == '__main__'", "'__main__' == __name__"):
            self.visit_body(node.body, "__main__")
            return
        self._branch(node.test, node.body, node.orelse, node)
        self._pair(node.test, node.body, node)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._branch(node.test, node.body, [], node)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        told = LOGGING.search(ast.unparse(node.body) + ast.unparse(node.orelse))
        self._condition(node.test, "quiet" if told else "value", node)
        inputs, outputs = _compared(node.test), literals(node.body)
        if inputs and outputs:
            self._add_pair(inputs, outputs, False, node)
        self.generic_visit(node)

    def visit_Match(self, node: ast.Match) -> None:
        for case in node.cases:
            values = [literals(p.value) for p in ast.walk(case.pattern) if isinstance(p, ast.MatchValue)]
            inputs = frozenset().union(*(v for v in values if v))
            outputs = _outcome(case.body)
            if inputs and outputs:
                self._add_pair(inputs, outputs, False, case.body[0])
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            inputs, outputs = literals(key), literals(value)
            if inputs and outputs and key is not None:
                self._add_pair(inputs, outputs, True, value, text=f"{ast.unparse(key)}: {ast.unparse(value)}")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = dotted(node.func)
        keywords = [literal(k.value) for k in node.keywords]
        arguments = [a for a in (*(literal(a) for a in node.args), *keywords) if a is not None]
        self._call(name, tuple(arguments), node)
        if name == "setattr" and len(node.args) == 3 and (attribute := literal(node.args[1])):
            self._assign(f"{dotted(node.args[0])}.{attribute}", node.args[2], node)
        if name.rsplit(".", 1)[-1] == "cast" and node.args and ast.unparse(node.args[0]).endswith("Any"):
            self.casts.append(squeezed(ast.unparse(node)))
        if (
            name.rsplit(".", 1)[-1] in ("append", "add", "update", "pop", "setdefault", "extend", "clear")
            and self.within
        ):
            self.mutated.add(name.split(".")[0])
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        raised = node.exc
        if isinstance(raised, ast.Name | ast.Attribute):
            self._call(f"raise {dotted(raised)}", (), node)
        elif isinstance(raised, ast.Call):
            self._call(f"raise {dotted(raised.func)}", tuple(_all_literals(raised)), node)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._target(target, node.value, node)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._target(node.target, node.value, node)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if self.within and isinstance(node.target, ast.Subscript | ast.Attribute):
            self.mutated.add(dotted(node.target).split(".")[0] or ast.unparse(node.target).split("[")[0])
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        guarded = frozenset(squeezed(ast.unparse(s)) for s in node.body)
        for handler in node.handlers:
            broad = handler.type is None or any(dotted(t) in _BROAD for t in _types(handler.type))
            self.caught.append(
                Caught(guarded=guarded, broad=broad, forgets=_forgets(handler, guarded), within=self.within,
                       line=handler.lineno, text=first_line(ast.unparse(handler).replace("\n", " ")))
            )  # fmt: skip
        if any(isinstance(n, ast.Return) for s in node.finalbody for n in ast.walk(s)):
            self.caught.append(
                Caught(guarded=frozenset(("finally",)), broad=True, forgets=True, within=self.within,
                       line=node.finalbody[0].lineno, text=first_line(ast.unparse(node.finalbody[-1])))
            )  # fmt: skip
        self.generic_visit(node)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            call = item.context_expr
            if isinstance(call, ast.Call) and dotted(call.func).rsplit(".", 1)[-1] == "suppress":
                guarded = frozenset(squeezed(ast.unparse(s)) for s in node.body)
                broad = any(dotted(a) in _BROAD for a in call.args)
                forgets = not CLEAN_UP.search(" ".join(guarded))
                self.caught.append(
                    Caught(guarded=guarded, broad=broad, forgets=forgets, within=self.within, line=node.lineno,
                           text=first_line(ast.unparse(node)))
                )  # fmt: skip
        self.generic_visit(node)

    def _target(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> None:
        if isinstance(target, ast.Name):
            self.bindings[target.id] = squeezed(ast.unparse(value))
            if target.id in EQUALITY and isinstance(value, ast.Lambda) and literal(value.body) is not None:
                self.functions.append(
                    Function(
                        name=f"{self.within}.{target.id}", line=node.lineno, body=ast.unparse(node), equalizes=True
                    )
                )
        elif isinstance(target, ast.Subscript):
            name = dotted(target.value)
            if self.within:
                self.mutated.add(name.split(".")[0])
            self._assign(f"{name}[{ast.unparse(target.slice)}]", value, node)
        elif isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                self._target(element, value, node)
        if isinstance(target, ast.Name | ast.Attribute):
            self._assign(dotted(target), value, node)

    def _assign(self, target: str, value: ast.expr, node: ast.AST) -> None:
        self.assignments.append(
            Assignment(target=target, value=squeezed(ast.unparse(value)), within=self.within,
                       line=getattr(node, "lineno", 0), text=_shown(node))
        )  # fmt: skip

    def _call(self, name: str, arguments: tuple[str, ...], node: ast.AST) -> None:
        line, text = getattr(node, "lineno", 0), _shown(node)
        self.calls.append(Call(name=name, arguments=arguments, within=self.within, line=line, text=text))

    def _branch(self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], node: ast.AST) -> None:
        effects = {_effect(body), _effect(orelse)}
        effect: Effect = "value" if "value" in effects else "raise" if "raise" in effects else "quiet"
        self._condition(test, effect, node)

    def _condition(self, test: ast.expr, effect: Effect, node: ast.AST) -> None:
        self.branches.append(
            Branch(condition=squeezed(ast.unparse(test)), effect=effect, within=self.within,
                   line=getattr(node, "lineno", 0), text=_shown(node))
        )  # fmt: skip

    def _pair(self, test: ast.expr, body: list[ast.stmt], node: ast.If) -> None:
        inputs, outputs = _compared(test), _outcome(body)
        if inputs and outputs:
            text = f"if {ast.unparse(test)}: {first_line(ast.unparse(body[-1]))}"
            self._add_pair(inputs, outputs, False, node, text=text)

    def _add_pair(
        self, inputs: frozenset[str], outputs: frozenset[str], table: bool, node: ast.AST, text: str | None = None
    ) -> None:
        shown = text if text is not None else first_line(ast.unparse(node))
        self.pairs.append(
            Pair(inputs=inputs, outputs=outputs, table=table, within=self.within, line=getattr(node, "lineno", 0),
                 text=shown[:160])
        )  # fmt: skip


def _shown(node: ast.AST) -> str:
    """One line for people; of a compound statement its head, so that nothing is written out twice."""
    if isinstance(node, ast.If | ast.While):
        return first_line(f"{type(node).__name__.lower()} {ast.unparse(node.test)}: {ast.unparse(node.body[0])}")
    return first_line(ast.unparse(node))


def _types(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _outcome(body: list[ast.stmt]) -> frozenset[str] | None:
    """The literals a block gives or assigns, when it does nothing else of note."""
    for node in body if len(body) <= 2 else ():
        if isinstance(node, ast.Return | ast.Assign | ast.AnnAssign) and (found := literals(node.value)):
            return found
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield) and (found := literals(node.value.value)):
            return found
    return None


def _effect(body: list[ast.stmt]) -> Effect:
    for node in (n for s in body for n in ast.walk(s)):
        if isinstance(node, ast.Raise):
            return "raise"
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None and literal(node.value) != "None":
            return "value"
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and not LOGGING.search(ast.unparse(node)):
            return "value"
        if isinstance(node, FunctionNode | ast.ClassDef | ast.Import | ast.ImportFrom):
            return "value"
    return "quiet"


def _forgets(handler: ast.ExceptHandler, guarded: frozenset[str]) -> bool:
    """Whether nothing of the error is passed on, told or kept."""
    inner = [n for s in handler.body for n in ast.walk(s)]
    if any(isinstance(n, ast.Raise) for n in inner):
        return False
    if handler.name and any(isinstance(n, ast.Name) and n.id == handler.name for n in inner):
        return False
    if any(isinstance(n, ast.Call) and LOGGING.search(dotted(n.func)) for n in inner):
        return False
    return not (all(CLEAN_UP.search(s) for s in guarded) and guarded)


def _function(node: FunctionNode, name: str) -> Function:
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    walked = [n for s in body for n in ast.walk(s)]
    returns = [n.value for n in walked if isinstance(n, ast.Return) and n.value is not None]
    decorators = " ".join(ast.unparse(d) for d in node.decorator_list)
    constant = len(body) == 1 and isinstance(body[0], ast.Return) and bool(literals(body[0].value))
    computes = any(isinstance(n, ast.BinOp | ast.For | ast.While | ast.comprehension | ast.JoinedStr) for n in walked)
    computes = computes or any(
        isinstance(n, ast.Call) and dotted(n.func).rsplit(".", 1)[-1] not in _LOOKUPS
        for r in returns
        for n in ast.walk(r)
    )
    return Function(
        name=name,
        line=node.lineno,
        body=squeezed(ast.unparse(ast.Module(body=body, type_ignores=[]))),
        computes=computes,
        constant=constant,
        equalizes=node.name in EQUALITY and bool(returns) and (_answers_alike(body, returns) or _ignores(node, walked)),
        unfinished=None if "abstract" in decorators or "overload" in decorators else _unfinished(walked),
        parameters=ast.unparse(node.args),
        literals=sum(1 for n in walked if isinstance(n, ast.Constant)),
    )


def _ignores(node: FunctionNode, walked: list[ast.AST]) -> bool:
    """Whether a comparison never looks at what it is compared with."""
    others = [a.arg for a in node.args.args[1:]]
    calls = any(isinstance(n, ast.Name) and n.id in ("super", "NotImplemented") for n in walked)
    return bool(others) and not calls and not any(isinstance(n, ast.Name) and n.id in others for n in walked)


def _answers_alike(body: list[ast.stmt], returns: list[ast.expr]) -> bool:
    values = {literal(r) for r in returns}
    return len(values) == 1 and None not in values and "NotImplemented" not in values and len(body) <= 2


def _unfinished(walked: list[ast.AST]) -> str | None:
    for node in walked:
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = ast.unparse(node.exc)
            if raised.startswith("NotImplemented") or UNFINISHED.search(raised):
                return first_line(ast.unparse(node))
    return None


def _comments(data: bytes) -> Iterator[Remark]:
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                yield Remark(text=token.string, line=token.start[0], comment=True)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return


def _strings(tree: ast.Module) -> Iterator[Remark]:
    documents = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield Remark(text=node.value, line=node.lineno, comment=id(node) in documents)


def _module_variables(tree: ast.Module) -> set[str]:
    targets = [t for n in tree.body if isinstance(n, ast.Assign) for t in n.targets]
    targets += [n.target for n in tree.body if isinstance(n, ast.AnnAssign | ast.AugAssign)]
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}


def _exports(tree: ast.Module) -> dict[str, str]:
    out: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, FunctionNode | ast.ClassDef) and not node.name.startswith("_"):
            out[node.name] = f"{'class' if isinstance(node, ast.ClassDef) else 'def'} {node.name}"
        elif isinstance(node, ast.ImportFrom):
            out |= {a.asname: f"import {a.name}" for a in node.names if a.asname and a.asname == a.name}
    return out


_SHORT = 10


def _rows(tree: ast.Module) -> Iterator[frozenset[str]]:
    """Literals of each simple statement, each row of a table, and each function that holds few."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and not isinstance(node.test, ast.Compare):
            negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
            yield from _kept(_all_literals(node) | {str(not negated)}, 24)
        elif isinstance(node, ast.Assert | ast.Expr | ast.Assign | ast.Tuple | ast.List | ast.Call):
            yield from _kept(_all_literals(node), 24)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    yield from _kept(_all_literals(key) | _all_literals(value), 24)
        elif isinstance(node, FunctionNode):
            yield from _kept(frozenset().union(*(_all_literals(s) for s in node.body)), _SHORT)


def _kept(found: frozenset[str], most: int) -> Iterator[frozenset[str]]:
    if 2 <= len(found) <= most:
        yield found
