"""What a change did to the tests' files, and mixed trees made of both sides: whole files, or the tests inside one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from inspan.gate.context import Trees
from inspan.gate.tests.changes import TestChanges, compare_tests
from inspan.gate.tests.conventions import is_hook, is_test_file
from inspan.gate.tests.items import Module
from inspan.gate.tests.languages.contract import language, parse, swap
from inspan.gate.tests.snapshots import Snapshots, entries, owner
from inspan.gate.tests.trees import Blob, stored, swapped


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """The tests of both trees.

    Attributes:
        changes: what happened to them.
        base, result: the changed files that hold tests, parsed.
        whole: changed files that belong to the tests.
        inside: changed files of the product with tests beside it.
    """

    changes: TestChanges
    base: Mapping[str, Module | None]
    result: Mapping[str, Module | None]
    whole: tuple[str, ...]
    inside: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Every changed file with tests in it."""
        return (*self.whole, *self.inside)


def of_tests(path: str) -> bool:
    """Whether a whole file belongs to the tests."""
    return is_test_file(path) or is_hook(path)


def material(both: Trees) -> Material:
    """Read what the change did to the tests."""
    base: dict[str, Module | None] = {}
    result: dict[str, Module | None] = {}
    support: list[str] = []
    snapshots: dict[str, tuple[Snapshots, Snapshots]] = {}
    whole = tuple(p for p in both.changed if of_tests(p))
    inside: list[str] = []
    for path in whole:
        before, after = both.before(path), both.after(path)
        test = owner(path)
        if test is not None:
            snapshots[test] = (entries(before), entries(after))
        elif language(path) is None:
            support += [path] if before is not None else []
        else:
            _read(path, before, base)
            _read(path, after, result)
    for path in (p for p in both.changed if _mixed(p, both)):
        ours = {}, {}  # type: tuple[dict[str, Module | None], dict[str, Module | None]]
        for side, data in zip(ours, (both.before(path), both.after(path)), strict=True):
            _read(path, data, side)
        if any(m is None or m.items or m.context for side in ours for m in side.values()):
            base |= ours[0]
            result |= ours[1]
            inside.append(path)
    changes = compare_tests(base, result, tuple(support), snapshots)
    return Material(changes=changes, base=base, result=result, whole=whole, inside=tuple(inside))


def _read(path: str, data: bytes | None, into: dict[str, Module | None]) -> None:
    if data is not None:
        into[path] = parse(path, data)


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
