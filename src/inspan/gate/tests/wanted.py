"""Completeness: every test that was known on base comes back, or its absence is explained. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import msgspec

from inspan.gate.results import TestRun
from inspan.gate.tests.changes import TestChanges
from inspan.gate.tests.items import Items


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


def by_item(run: TestRun, items: Items) -> dict[str, list[str]]:
    """The ids of a run by the item they belong to."""
    out: dict[str, list[str]] = defaultdict(list)
    for test_id in run.outcomes:
        out[items.locate(test_id)].append(test_id)
    return out


def paired(base: TestRun, result: TestRun, changes: TestChanges) -> dict[str, str]:
    """The id that each test of base has on the result.

    Parameters that were renamed are paired in order; an id without a partner keeps its own, which the result lacks.
    """
    came = by_item(result, changes.result)
    out: dict[str, str] = {}
    for item, ids in by_item(base, changes.base).items():
        target = changes.moved.get(item, item)
        for test_id in ids:
            out[test_id] = target + test_id[len(item) :] if test_id.startswith(item) else test_id
        absent = [i for i in ids if result.cell(out[i]) == "-"]
        taken = {out[i] for i in ids}
        fresh = [i for i in came.get(target, ()) if i not in taken]
        out |= dict(zip(absent, fresh, strict=False))
    return out


def missing(base: TestRun, result: TestRun, changes: TestChanges) -> Missing:
    """What base's run knew and the result's run does not tell."""
    silent: list[str] = []
    fewer: list[str] = []
    gone: list[str] = []
    came = by_item(result, changes.result)
    names = paired(base, result, changes)
    for item, ids in by_item(base, changes.base).items():
        # What was skipped together with its module is read in the table.
        absent = [i for i in ids if result.cell(names[i]) == "-"]
        if not absent:
            continue
        if item in changes.removed and item not in changes.moved:
            gone += absent
        elif changes.moved.get(item, item) not in came:
            silent += absent
        else:
            fewer += absent
    return Missing(silent=tuple(silent), fewer=tuple(fewer), gone=tuple(gone))


def uncollected(base: TestRun, result: TestRun, failed: Mapping[str, Items], changes: TestChanges) -> list[str]:
    """Items of modules that could not be collected on base and can be now, but said nothing on the result.

    Args:
        failed: base's items of what failed to collect there, by what the runner names.
    """
    came = by_item(result, changes.result)
    out: list[str] = []
    for where, items in failed.items():
        if base.collect.get(where, ("", ""))[0] != "failed" or not any(i in came for i in items):
            continue
        for item in items.values():
            plain = not item.path.endswith(".py") or item.owner is None or item.owner.startswith("Test")
            silent = plain and item.pattern is None and item.disabled is None and item.owner != "doc"
            if silent and changes.moved.get(item.id, item.id) not in came and item.id not in changes.removed:
                out.append(item.id)
    return out
