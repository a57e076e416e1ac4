"""What a change did to the tests' files, and mixed trees made of both sides: whole files, or the tests inside one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

from inspan.gate.context import Trees
from inspan.gate.tests.changes import TestChanges, compare_tests
from inspan.gate.tests.conventions import is_hook, is_test_file
from inspan.gate.tests.items import Module
from inspan.gate.tests.languages.contract import language, parse, swap
from inspan.gate.tests.snapshots import Snapshots, entries, owner
from inspan.gate.tests.trees import Blob, stored, swapped

_BYTES = 32 << 20
"""How much of a change is read by its syntax, both sides together."""
_INSIDE = re.compile(rb"#\[(\w+::)*test\b|cfg\(.*\btest\b|import\.meta\.vitest")


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """The tests of both trees.

    Attributes:
        changes: what happened to them.
        base, result: the changed files that hold tests, parsed.
        whole: changed files that belong to the tests.
        inside: changed files of the product with tests beside it.
        unread: changed files with tests that could not be read on one side, or would be too much to read.
    """

    changes: TestChanges
    base: Mapping[str, Module | None]
    result: Mapping[str, Module | None]
    whole: tuple[str, ...]
    inside: tuple[str, ...]
    unread: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every changed file with tests in it."""
        return (*self.whole, *self.inside)


def of_tests(path: str) -> bool:
    """Whether a whole file belongs to the tests."""
    return is_test_file(path) or is_hook(path)


class _Reader:
    """Reads the versions of changed files, up to a bound."""

    def __init__(self, both: Trees) -> None:
        self.both = both
        self.base: dict[str, Module | None] = {}
        self.result: dict[str, Module | None] = {}
        self.unread: list[str] = []
        self.left = _BYTES

    def read(self, path: str, before: bytes | None, after: bytes | None) -> bool:
        """Read both versions of one file; whether there is anything of tests in either."""
        self.left -= len(before or b"") + len(after or b"")
        found: list[Module | None] = []
        for data, side in ((before, self.base), (after, self.result)):
            if data is not None:
                side[path] = parse(path, data) if self.left >= 0 else None
                found.append(side[path])
        if (
            None in found
            and not path.endswith(".py")
            and (of_tests(path) or _INSIDE.search((before or b"") + (after or b"")))
        ):
            self.unread.append(path)
        return any(m is None or m.items or m.context for m in found)


def material(both: Trees) -> Material:
    """Read what the change did to the tests."""
    reader = _Reader(both)
    support: list[str] = []
    snapshots: dict[str, tuple[Snapshots, Snapshots]] = {}
    whole = tuple(p for p in both.changed if of_tests(p))
    for path in whole:
        before, after = both.before(path), both.after(path)
        test = owner(path)
        if test is not None:
            snapshots[test] = (entries(before), entries(after))
        elif language(path) is None:
            support += [path] if before is not None else []
        else:
            reader.read(path, before, after)
    mixed = [p for p in both.changed if _mixed(p, both)]
    inside = tuple(p for p in mixed if reader.read(p, both.before(p), both.after(p)))
    changes = compare_tests(reader.base, reader.result, tuple(support), snapshots)
    return Material(
        changes=changes,
        base=reader.base,
        result=reader.result,
        whole=whole,
        inside=inside,
        unread=tuple(reader.unread),
    )


def _mixed(path: str, both: Trees) -> bool:
    """Whether a file of the product may hold tests that run."""
    if of_tests(path):
        return False
    mark = b"import.meta.vitest" if path.endswith((".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs")) else None
    if path.endswith(".rs"):
        return True
    return mark is not None and any(mark in (side(path) or b"") for side in (both.before, both.after))


def placed(
    both: Trees, found: Material, start: str, keep: Callable[[str], bool] | None = None
) -> dict[str, Blob | None]:
    """The replacements that give one tree the tests of the other.

    Args:
        start: ``base`` or ``result``: whose product stays.
        keep: paths that are left as they are.
    """
    ours, theirs = (both.base, both.result) if start == "base" else (both.result, both.base)
    mine, other = (both.before, both.after) if start == "base" else (both.after, both.before)
    whole = [p for p in found.whole if keep is None or not keep(p)]
    out: dict[str, Blob | None] = swapped(ours, theirs, whole)
    for path in found.inside:
        product = mine(path)
        mixed = swap(path, product, other(path) or b"") if product is not None else None
        if mixed is not None and mixed != product:
            out[path] = stored(both.git, mixed, ours[path].mode)
    return out
