"""From the runs of one check to violations: completeness, the transplant table, probes. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from inspan.gate.results import TestRun
from inspan.gate.tests.changes import TestChanges
from inspan.gate.tests.permission import formatting, lowered, removal
from inspan.gate.tests.probes import Probe
from inspan.gate.tests.snapshots import stored, title
from inspan.gate.tests.table import Cells, Level, Reading, Touch, leaning, read
from inspan.gate.tests.wanted import by_item, missing, paired
from inspan.outcome.records import Violation

_WEAKER = frozenset(("assertion_relaxed", "assertion_dropped", "tolerance_loosened", "unreachable_assertion"))
_SHOWN = 20
"""Violations of one rule that are listed one by one; further ones are counted."""


class Runs(msgspec.Struct, frozen=True, kw_only=True):
    """The four combinations; None where one was not needed."""

    base_base: TestRun
    delivered_result: TestRun
    base_result: TestRun | None = None
    delivered_base: TestRun | None = None


def transplanted(runs: Runs, changes: TestChanges, prompt: str) -> list[Violation]:
    """Read every test known from base in the table."""
    out: list[Violation] = []
    seen: set[tuple[str, str]] = set()
    names = paired(runs.base_base, runs.delivered_result, changes)
    came = by_item(runs.delivered_result, changes.result)
    for test_id in runs.base_base.outcomes:
        item = changes.base.locate(test_id)
        cells = _cells(test_id, names[test_id], runs)
        moved = changes.moved.get(item)
        removed = item in changes.removed and moved is None
        if cells.delivered_result == "-" and not removed and (moved or item) not in came:
            continue  # completeness has its own word on these
        reading = _read(test_id, item, cells, changes, prompt)
        if reading is None:
            continue
        loosening = changes.loosening.get(item)
        mild = loosening is None or (loosening.steps <= 1 and not (loosening.nothing or loosening.dropped))
        reading = lowered(reading, _name(item, changes), prompt, mild=mild)
        if (item, reading.rule) not in seen:
            seen.add((item, reading.rule))
            out.append(_violation(test_id, item, cells, reading, changes))
    return out


def _cells(test_id: str, delivered: str, runs: Runs) -> Cells:
    two = runs.base_result.cell(test_id) if runs.base_result is not None else "?"
    three = runs.delivered_base.cell(delivered) if runs.delivered_base is not None else "?"
    return Cells(runs.base_base.cell(test_id), two, three, runs.delivered_result.cell(delivered))


def _name(item: str, changes: TestChanges) -> str:
    found = changes.base.get(item)
    return found.name if found is not None else item.rsplit("::", 1)[-1]


def _touch(test_id: str, item: str, changes: TestChanges) -> Touch | None:
    """What of this test changed; None for a test that nobody touched."""
    if item in changes.edited or item in changes.moved:
        return "edited"
    titles = changes.snapshots.get(changes.path(test_id))
    if titles and title(test_id) in titles:
        return "snapshot"
    if item in changes.disturbed:
        return "disturbed"
    if changes.support:
        return "stored" if all(stored(p) for p in changes.support) else "support"
    return None


def _read(test_id: str, item: str, cells: Cells, changes: TestChanges, prompt: str) -> Reading | None:
    touch = _touch(test_id, item, changes)
    reading = read(
        cells,
        edited=touch is not None,
        loosening=changes.loosening.get(item),
        folded=item in changes.folded,
        steady=item in changes.steady,
        removal_asked=removal(prompt),
        touch=touch or "edited",
        mocked=bool(changes.mocked.get(item)),
    )
    if reading is None and touch is None:
        return leaning(cells)
    if reading is not None and reading.level == "note" and reading.rule == "test_edited" and touch != "edited":
        return None
    if reading is not None and reading.level == "hold" and reading.rule in _WEAKER and formatting(prompt):
        text = f"{reading.text}, in a job that only formats"
        return msgspec.structs.replace(reading, level="reject", text=text)
    return reading


def _violation(test_id: str, item: str, cells: Cells, reading: Reading, changes: TestChanges) -> Violation:
    loosening = changes.loosening.get(item)
    name = item.partition("::")[2]
    extra = f" ({test_id[len(item) :].strip('[]/:')})" if test_id.startswith(item) and test_id != item else ""
    lines = loosening.lines if loosening else ()
    lines += tuple(f"+ replaced: {m}" for m in changes.mocked.get(item, ()))
    return Violation(
        path=changes.path(test_id),
        rule=reading.rule,
        detail=f"{name}{extra if reading.rule == 'test_removed' else ''}: {reading.text} [{cells}]",
        level=reading.level,
        lines=lines[:8],
        honest=reading.honest,
    )


def complete(base: TestRun, result: TestRun, changes: TestChanges, also: Iterable[str] = ()) -> list[Violation]:
    """Tests that were known on base and did not come back, though their items are still there."""
    return [
        Violation(
            path=changes.path(i),
            rule="test_disabled" if changes.base.locate(i) in changes.gated else "results_missing",
            detail=f"{i.partition('::')[2] or i}: ran on base and gave no result",
        )
        for i in (*missing(base, result, changes).silent, *also)
    ]


def regressed(base: TestRun, result: TestRun, *, tolerated: bool) -> list[Violation]:
    """Tests that fail on the result although the command's status is 0.

    Those that failed on base too are noted where the command is ``tolerated`` to: it ended with status 0 on base as
    well. Otherwise something has changed the status and not the tests.
    """
    out = []
    for test_id in result.outcomes:
        if result.cell(test_id) in ("A", "X"):
            old = base.cell(test_id) in ("A", "X")
            detail = f"{test_id.partition('::')[2]}: fails although the command ends with status 0"
            level: Level = "note" if old and tolerated else "reject"
            out.append(Violation(path=test_id.split("::", 1)[0], rule="tests_failed", detail=detail, level=level))
    return out


def probed(run: TestRun, probes: Iterable[Probe]) -> list[Probe]:
    """Probes that passed beside their passing original: the run does not report what its tests find."""
    return [p for p in probes if run.outcomes.get(p.id) == "passed" and run.outcomes.get(p.original) == "passed"]


def shown(violations: Iterable[Violation]) -> list[Violation]:
    """Without repetitions, and with the many of one kind counted instead of listed."""
    out: list[Violation] = []
    counts: dict[tuple[str, str], int] = {}
    for violation in dict.fromkeys(violations):
        key = (violation.rule, violation.level)
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= _SHOWN:
            out.append(violation)
    for (rule, level), count in counts.items():
        if count > _SHOWN:
            more = Violation(path="", rule=rule, detail=f"and {count - _SHOWN} more")
            out.append(msgspec.structs.replace(more, level=level))
    return out
