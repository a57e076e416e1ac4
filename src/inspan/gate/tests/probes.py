"""Probes that must fail: copies of real tests with one inverted expectation and an ordinary name. Pure.

A suite that reports such a copy as passed does not report what its tests found. The copy stands right behind its
original in the same file, so that whatever selects the one selects the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from inspan.gate.tests.items import Edit, Item, Items, Module
from inspan.gate.tests.languages.contract import Language


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """One probe: its item id and that of the test it was copied from."""

    id: str
    original: str
    line: str


class Planted(msgspec.Struct, frozen=True, kw_only=True):
    """A test file with probes in it."""

    path: str
    data: bytes
    probes: tuple[Probe, ...]


def applied(data: bytes, edits: Sequence[Edit]) -> bytes:
    """The bytes with every edit made; edits do not overlap."""
    for edit in sorted(edits, reverse=True):
        data = data[: edit.start] + edit.text + data[edit.stop :]
    return data


def _copy(item: Item, data: bytes, name: str) -> tuple[bytes, str]:
    """The inverted copy, and its changed line."""
    inversion = item.inversions[0]
    source = data[item.start : item.stop]
    edits = [Edit(*item.named, name.encode()), inversion]
    copy = applied(source, [Edit(e.start - item.start, e.stop - item.start, e.text) for e in edits])
    line = data[: inversion.start].rpartition(b"\n")[2] + inversion.text
    line += data[inversion.stop :].partition(b"\n")[0]
    return copy, line.decode("utf-8", "replace").strip()


def plant(language: Language, module: Module, data: bytes, wanted: Sequence[str], most: int) -> Planted | None:
    """Put up to ``most`` probes into a test file, copied from the tests with the wanted ids; None when none of them is
    suitable."""
    taken = {i.name for i in module.items.values()} | module.helpers
    items = Items([module])
    made: list[tuple[Edit, Probe, str]] = []
    for test_id in wanted:
        item = items.get(items.locate(test_id))
        if item is None or len(made) >= most or not suitable(item) or not test_id.endswith(item.name):
            continue
        name = next((item.name + s for s in language.SUFFIXES if item.name + s not in taken), None)
        if name is None:
            continue
        taken.add(name)
        copy, line = _copy(item, data, name)
        probe = Probe(id=test_id.removesuffix(item.name) + name, original=test_id, line=line)
        made.append((Edit(item.stop, item.stop, b"\n" + copy), probe, item.id.removesuffix(item.name) + name))
    if not made:
        return None
    planted = applied(data, [edit for edit, *_ in made])
    again = language.parse(module.path, planted)
    if again is None or not {item_id for *_, item_id in made} <= again.items.keys():
        return None
    return Planted(path=module.path, data=planted, probes=tuple(probe for _, probe, _ in made))


def suitable(item: Item) -> bool:
    """Whether a copy of this item can be made that surely fails."""
    return item.plain and bool(item.inversions) and item.named[1] > item.named[0] and item.id.endswith(item.name)
