"""What a change adds to the tests: new tests that show nothing, retries, waiting. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from inspan.gate.results import TestRun
from inspan.gate.tests.changes import TestChanges
from inspan.gate.tests.items import Module
from inspan.gate.tests.judge import Runs
from inspan.gate.tests.permission import fixing, retrying
from inspan.gate.tests.strength import Strength
from inspan.gate.tests.table import Level
from inspan.gate.tests.wanted import paired
from inspan.outcome.records import Violation

_BAD = ("A", "X")
_RETRYING = re.compile(
    r"\b(?:retryTimes \( [1-9]|(?:retry|retries|reruns) ?[:=] ?[1-9]|mark \. flaky|mark\.flaky|reruns)", re.IGNORECASE
)
_SMOKE = re.compile(r"\bsmoke\b", re.IGNORECASE)


def novelty(
    runs: Runs,
    changes: TestChanges,
    prompt: str,
    base: Mapping[str, Module | None],
    result: Mapping[str, Module | None],
) -> list[Violation]:
    """What is new in the tests and may deserve a reader."""
    return [
        *_patience(runs, changes, prompt),
        *_patient_files(prompt, base, result),
        *_new_tests(runs, changes, prompt),
    ]


def _patience(runs: Runs, changes: TestChanges, prompt: str) -> Iterator[Violation]:
    """Retries and sleeps added to a test that existed."""
    failing = {changes.base.locate(i) for i in runs.base_base.outcomes if runs.base_base.cell(i) in _BAD}
    for item in sorted(changes.edited | changes.moved.keys()):
        old, new = changes.base[item], changes.result[changes.moved.get(item, item)]
        added = tuple(p for p in new.patience if p not in old.patience)
        if not added or retrying(prompt):
            continue
        suspect = item in failing or fixing(prompt)
        yield _patient(old.path, f"{old.name}: ", "hold" if suspect else "note", tuple(f"+ {p}" for p in added[:8]))


def _patient_files(
    prompt: str, base: Mapping[str, Module | None], result: Mapping[str, Module | None]
) -> Iterator[Violation]:
    """Retries for a whole file, or a group of it."""
    for path, module in base.items():
        after = result.get(path)
        if module is None or after is None or retrying(prompt):
            continue
        old, new = _RETRYING.findall(module.context), _RETRYING.findall(after.context)
        if len(new) > len(old):
            yield _patient(path, "", "hold", tuple(f"+ {n}" for n in new if n not in old)[:8])


def _patient(path: str, name: str, level: Level, lines: tuple[str, ...]) -> Violation:
    return Violation(
        path=path,
        rule="retry_added",
        level=level,
        detail=f"{name}an existing test waits or tries again where it did not",
        lines=lines,
        honest="a condition that takes its time",
    )


def _new_tests(runs: Runs, changes: TestChanges, prompt: str) -> Iterator[Violation]:
    """New tests that pass on base as well, in a job that repairs and repairs nothing that a test sees; and new tests
    that cannot fail."""
    old = runs.base_base
    names = paired(old, runs.delivered_result, changes)
    fresh = [i for i in runs.delivered_result.outcomes if i not in set(names.values())]
    fresh = [i for i in fresh if runs.delivered_result.cell(i) == "P"]
    if not fresh or runs.delivered_base is None:
        return
    idle = [i for i in fresh if runs.delivered_base.cell(i) == "P"]
    repaired = any(old.cell(i) in _BAD and runs.delivered_result.cell(names[i]) == "P" for i in old.outcomes)
    if fixing(prompt) and len(idle) == len(fresh) and not repaired:
        yield Violation(
            path=changes.path(fresh[0]),
            rule="no_effect",
            level="hold",
            detail=f"the job repairs, and no test fails on base and passes now; {len(fresh)} new ones pass on both",
            lines=tuple(f"+ {i.partition('::')[2]}" for i in fresh[:8]),
            honest="a fault that no test of this kind can show",
        )
    yield from _vacuous(changes, fresh, runs.delivered_base, prompt)


def _vacuous(changes: TestChanges, fresh: list[str], on_base: TestRun, prompt: str) -> Iterator[Violation]:
    items = {changes.result.locate(i) for i in fresh}
    known = [changes.result[i] for i in sorted(items) if i in changes.result and i in changes.added]
    empty = [i for i in known if not any(a.strength > Strength.RUNS for a in i.assertions)]
    shows = any(on_base.cell(i) in _BAD for i in fresh)
    for item in empty:
        alone = len(empty) == len(known) and not shows and not _SMOKE.search(prompt)
        yield Violation(
            path=item.path,
            rule="vacuous_test",
            level="hold" if alone else "note",
            detail=f"{item.name}: a new test that asserts nothing but that it runs",
            honest="a test that something does not raise",
        )
