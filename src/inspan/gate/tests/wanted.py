"""Completeness: every test that was known on base comes back, or its absence is explained. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import msgspec

from inspan.gate.results import TestRun
from inspan.gate.tests.changes import TestChanges
from inspan.gate.tests.items import Item, item_of


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """Tests of base without an outcome on the result.

    Attributes:
        silent: ids whose item still exists, or exists under another name, but said nothing: never explained.
        fewer: ids of items that came back with fewer parameters than on base: to be read in the table.
        gone: ids whose item was removed: to be read in the table.
    """

    silent: tuple[str, ...] = ()
    fewer: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def renamed(test_id: str, changes: TestChanges) -> str:
    """The id a base test has on the result."""
    item = item_of(test_id)
    target = changes.moved.get(item)
    return target + test_id[len(item) :] if target else test_id


def _by_item(run: TestRun) -> dict[str, list[str]]:
    out: dict[str, list[str]] = defaultdict(list)
    for test_id in run.outcomes:
        out[item_of(test_id)].append(test_id)
    return out


def missing(base: TestRun, result: TestRun, changes: TestChanges) -> Missing:
    """What base's run knew and the result's run does not tell."""
    silent: list[str] = []
    fewer: list[str] = []
    gone: list[str] = []
    came = _by_item(result)
    for item, ids in _by_item(base).items():
        target = changes.moved.get(item, item)
        # What was skipped together with its module is read in the table.
        absent = [i for i in ids if result.cell(renamed(i, changes)) == "-"]
        if not absent:
            continue
        if item in changes.removed and item not in changes.moved:
            gone += absent
        elif target not in came:
            silent += absent
        elif len(came[target]) < len(ids):
            fewer += absent
    return Missing(silent=tuple(silent), fewer=tuple(fewer), gone=tuple(gone))


def uncollected(
    base: TestRun, result: TestRun, modules: Mapping[str, Mapping[str, Item]], changes: TestChanges
) -> list[str]:
    """Items of modules that could not be collected on base and can be now, but said nothing on the result."""
    came = _by_item(result)
    out: list[str] = []
    for path, items in modules.items():
        if base.collect.get(path, ("", ""))[0] != "failed" or not any(i in came for i in items):
            continue
        for item in items.values():
            plain = item.owner is None or item.owner.startswith("Test")
            if plain and item.id not in came and item.id not in changes.removed:
                out.append(item.id)
    return out
