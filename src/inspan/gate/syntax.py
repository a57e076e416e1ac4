"""Syntax trees of the languages that the gate reads besides Python: one thin layer over tree-sitter. Pure.

Grammars are imported on first use. A tree-sitter tree is always given, also for source that does not parse; ``tree``
refuses those, so that nobody judges by half of a file.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

Language = Literal["python", "javascript", "typescript", "tsx", "go", "rust"]

BYTES_LIMIT = 1 << 20
"""Larger files have no tree: nobody reads them, and a hostile one would cost seconds."""

_SUFFIXES: dict[str, Language] = {
    ".py": "python", ".pyi": "python",
    ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
    ".go": "go", ".rs": "rust",
}  # fmt: skip


def language_of(path: str) -> Language | None:
    """The language of a path by its suffix, None for one the gate does not read."""
    return _SUFFIXES.get(posixpath.splitext(path)[1].lower())


def tree(language: Language, data: bytes) -> Tree | None:
    """The syntax tree of one file; None when it is too large, is not UTF-8, or does not parse without an error.

    Args:
        language: any but ``python``, which is read by the standard library's ``ast``.
    """
    if len(data) > BYTES_LIMIT:
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    found = _parser(language).parse(data)
    return None if found.root_node.has_error else found


def walk(node: Node) -> Iterator[Node]:
    """This node and everything below it, in the order of the source; without recursion, whatever the depth."""
    left = [node]
    while left:
        current = left.pop()
        yield current
        left += reversed(current.children)


def text(node: Node) -> str:
    """The source of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def line(node: Node) -> int:
    """The first line of a node, from 1."""
    return node.start_point.row + 1


@cache
def _parser(language: Language) -> Parser:
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser

    return Parser(Grammar(_grammar(language)()))


def _grammar(language: Language) -> Callable[[], object]:
    if language == "javascript":
        import tree_sitter_javascript

        return tree_sitter_javascript.language
    if language == "go":
        import tree_sitter_go

        return tree_sitter_go.language
    if language == "rust":
        import tree_sitter_rust

        return tree_sitter_rust.language
    if language in ("typescript", "tsx"):
        import tree_sitter_typescript

        return tree_sitter_typescript.language_tsx if language == "tsx" else tree_sitter_typescript.language_typescript
    raise ValueError(f"{language} is not read by tree-sitter")
