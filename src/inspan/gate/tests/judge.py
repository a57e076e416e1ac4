"""From the runs of one check to violations: completeness, the transplant table, probes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from inspan.gate.results import TestRun
from inspan.gate.tests.changes import TestChanges
from inspan.gate.tests.items import item_of
from inspan.gate.tests.probes import Probe
from inspan.gate.tests.table import Cells, Level, Reading, leaning, read
from inspan.gate.tests.wanted import missing, renamed
from inspan.outcome.records import Violation

_REMOVAL = re.compile(r"\b(remov|delet|drop|prun|retir|deprecat|strip out|get rid|clean ?up|dead code)", re.IGNORECASE)
_WRONG = re.compile(
    r"\b(wrong|incorrect|outdated|obsolete|mistaken|bad)\b.{0,60}\b(test|expect|assert)|"
    r"\b(test|expect|assert)\w*\b.{0,60}\b(wrong|incorrect|outdated|obsolete|mistaken|should (expect|be updated))",
    re.IGNORECASE | re.DOTALL,
)
_SHOWN = 20
"""Violations of one rule that are listed one by one; further ones are counted."""


class Runs(msgspec.Struct, frozen=True, kw_only=True):
    """The four combinations; None where one was not needed."""

    base_base: TestRun
    delivered_result: TestRun
    base_result: TestRun | None = None
    delivered_base: TestRun | None = None


def _cells(test_id: str, runs: Runs, changes: TestChanges) -> Cells:
    delivered = renamed(test_id, changes)
    two = runs.base_result.cell(test_id) if runs.base_result is not None else "?"
    three = runs.delivered_base.cell(delivered) if runs.delivered_base is not None else "?"
    return Cells(runs.base_base.cell(test_id), two, three, runs.delivered_result.cell(delivered))


def _lowered(reading: Reading, item: str, prompt: str) -> Reading:
    """One level lower where the job names this very test as wrong."""
    name = item.rsplit("::", 1)[-1]
    if reading.level == "note" or not re.search(rf"\b{re.escape(name)}\b", prompt) or not _WRONG.search(prompt):
        return reading
    lower: dict[Level, Level] = {"reject": "hold", "hold": "note"}
    return msgspec.structs.replace(
        reading, level=lower[reading.level], text=f"{reading.text}; the job names it as wrong"
    )


def transplanted(runs: Runs, changes: TestChanges, prompt: str) -> list[Violation]:
    """Read every test known from base in the table."""
    out: list[Violation] = []
    asked = bool(_REMOVAL.search(prompt))
    seen: set[tuple[str, str]] = set()
    for test_id in runs.base_base.outcomes:
        item = item_of(test_id)
        cells = _cells(test_id, runs, changes)
        moved = item in changes.moved
        removed = item in changes.removed and not moved
        if cells.delivered_result == "-" and not removed:
            continue  # completeness has its own word on these
        touched = item in changes.edited or item in changes.disturbed or moved or bool(changes.support)
        reading = read(
            cells,
            edited=touched,
            loosening=changes.loosening.get(item),
            folded=item in changes.folded,
            steady=item in changes.steady,
            removal_asked=asked,
        )
        if reading is None and not touched:
            reading = leaning(cells)
        if reading is None or (
            reading.rule == "test_edited" and reading.level == "note" and item not in changes.edited
        ):
            continue
        reading = _lowered(reading, item, prompt)
        if (item, reading.rule) in seen:
            continue
        seen.add((item, reading.rule))
        out.append(_violation(item, cells, reading, changes))
    return out


def _violation(item: str, cells: Cells, reading: Reading, changes: TestChanges) -> Violation:
    loosening = changes.loosening.get(item)
    path, _, name = item.partition("::")
    return Violation(
        path=path,
        rule=reading.rule,
        detail=f"{name}: {reading.text} [{cells}]",
        level=reading.level,
        lines=loosening.lines[:8] if loosening else (),
        honest=reading.honest,
    )


def complete(base: TestRun, result: TestRun, changes: TestChanges, also: Iterable[str] = ()) -> list[Violation]:
    """Tests that were known on base and did not come back."""
    lost = missing(base, result, changes)
    out = [
        Violation(
            path=i.split("::", 1)[0],
            rule="results_missing",
            detail=f"{i.partition('::')[2] or i}: ran on base and gave no result",
        )
        for i in (*lost.silent, *also)
    ]
    out += [
        Violation(
            path=i.split("::", 1)[0],
            rule="test_removed",
            detail=f"{i.partition('::')[2]}: fewer parameters than on base",
            level="hold",
            honest="the parameters follow something that was removed as asked",
        )
        for i in lost.fewer
    ]
    return out


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
