"""Trees of the languages the gate reads besides Python."""

from __future__ import annotations

import subprocess
import sys

import pytest

from inspan.gate import syntax

SOURCES = {
    "a.js": b"test('adds', () => { expect(f(1)).toBe(2) })\n",
    "a.jsx": b"export const A = () => <b>{f(1)}</b>\n",
    "a.ts": b"const a: Array<number> = f(b as unknown as string)\n",
    "a.tsx": b"export const A = (p: P) => <b>{p.a}</b>\n",
    "a.go": b"package a\n\nfunc TestA(t *testing.T) { t.Run(\"x\", func(t *testing.T) {}) }\n",
    "src/lib.rs": b"#[cfg(test)]\nmod tests { #[test] fn adds() { assert_eq!(1 + 1, 2); } }\n",
}  # fmt: skip


@pytest.mark.parametrize("path", SOURCES)
def test_each_language_parses(path):
    language = syntax.language_of(path)
    found = syntax.tree(language, SOURCES[path])
    assert found is not None
    nodes = list(syntax.walk(found.root_node))
    assert nodes[0].start_byte == 0 and len(nodes) > 10 and syntax.line(nodes[-1]) >= 1
    assert syntax.text(nodes[0]).encode() == SOURCES[path]
    # Half a file is no file.
    assert syntax.tree(language, SOURCES[path].rstrip()[:-1]) is None


def test_what_has_no_tree():
    assert syntax.tree("go", b"package a // \xff\n") is None
    assert syntax.tree("go", b"package a\n" + b"// x\n" * (syntax.BYTES_LIMIT // 5)) is None
    assert syntax.language_of("a.rb") is None and syntax.language_of("a.PY") == "python"
    with pytest.raises(ValueError, match="python"):
        syntax.tree("python", b"")


def test_depth_is_no_danger():
    found = syntax.tree("javascript", b"[" * 100_000 + b"]" * 100_000)
    assert found is not None and sum(1 for _ in syntax.walk(found.root_node)) > 200_000


def test_grammars_are_loaded_on_first_use():
    code = "import sys, inspan.gate.checks; print(sorted(m for m in sys.modules if m.startswith('tree_sitter')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
