"""The house's own habits, held by tests: size budget, one exception tree, no words that do not belong."""

from __future__ import annotations

import ast
import re
import statistics
from pathlib import Path

import inspan.errors

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "inspan").rglob("*.py"))
# Modules over 600 lines that a decision record names; at most two, ever.
NAMED_EXCEPTIONS: tuple[str, ...] = ()


def _lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


def test_modules_stay_small() -> None:
    sizes = {str(p.relative_to(ROOT)): _lines(p) for p in SOURCES if p.name != "__init__.py"}
    over = {name: n for name, n in sizes.items() if n > 600 and name not in NAMED_EXCEPTIONS}
    print(f"{len(sizes)} modules, median {statistics.median(sizes.values())}, largest {max(sizes.values())}")
    assert not over
    assert statistics.median(sizes.values()) <= 150
    assert len(NAMED_EXCEPTIONS) <= 2


def _functions() -> list[tuple[str, int]]:
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.append(
                    (f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", (node.end_lineno or 0) - node.lineno + 1)
                )
    return found


def test_functions_stay_short() -> None:
    found = _functions()
    sizes = sorted(n for _, n in found)
    p95 = sizes[int(len(sizes) * 0.95)]
    print(f"{len(sizes)} functions, median {statistics.median(sizes)}, 95th percentile {p95}, longest {sizes[-1]}")
    assert p95 <= 50
    assert not [f for f in found if f[1] > 100]


def test_one_exception_tree() -> None:
    defined = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(
                re.search(r"(Error|Exception)$", ast.unparse(base)) for base in node.bases
            ):
                defined.append(f"{path.relative_to(ROOT)}:{node.name}")
    tree = [c for c in vars(inspan.errors).values() if isinstance(c, type) and issubclass(c, inspan.errors.InspanError)]
    print(f"{len(tree)} exception classes in the tree")
    assert len(tree) <= 20
    assert [d for d in defined if not d.startswith("src/inspan/errors.py")] == []


def test_names_are_the_fields_own() -> None:
    bad = []
    for path in SOURCES:
        if re.search(r"(manager|handler|util|helper)", path.stem):
            bad.append(str(path.relative_to(ROOT)))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and re.search(r"(Manager|Handler|Util|Helper)", node.name):
                bad.append(f"{path.relative_to(ROOT)}:{node.name}")
    assert bad == []


def test_nothing_is_left_for_later() -> None:
    pattern = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError")
    places = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert places == []


def test_these_rules_can_fail(tmp_path: Path) -> None:
    """Negative control: the size and name rules see what they are meant to see."""
    big = tmp_path / "big.py"
    big.write_text("x = 1\n" * 601)
    assert _lines(big) > 600
    assert re.search(r"(manager|handler|util|helper)", "job_manager")
