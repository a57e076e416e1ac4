"""The share of functions in shop/ that some test names."""

import ast
import pathlib
import sys

root = pathlib.Path(__file__).parent.parent
skip = (root / "tools" / "skip.txt").read_text().split()
tests = "".join(p.read_text() for p in (root / "tests").glob("*.py"))
names = [
    node.name
    for path in (root / "shop").glob("*.py")
    if path.name not in skip
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
]
share = 100 * sum(name in tests for name in names) / len(names)
print(f"{share:.0f} of 100")
sys.exit(share < float(sys.argv[1]))
