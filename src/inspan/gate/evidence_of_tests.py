"""The extra runs of a known runner's check: base's tests on the result, delivered tests on base, and probes."""

from __future__ import annotations

import posixpath

import msgspec

from inspan.gate.command import CommandRun, run_command
from inspan.gate.context import GateContext, Trees
from inspan.gate.results import TestRun
from inspan.gate.runners import Runner
from inspan.gate.tests.changes import TestChanges, compare_tests
from inspan.gate.tests.conventions import is_test_file
from inspan.gate.tests.items import Module
from inspan.gate.tests.judge import Runs, complete, probed, regressed, transplanted
from inspan.gate.tests.languages.contract import language, parse
from inspan.gate.tests.probes import Planted, Probe, plant
from inspan.gate.tests.trees import Blob, stored, swapped, variant
from inspan.gate.tests.wanted import paired, uncollected
from inspan.outcome.records import Violation
from inspan.spec.globs import Globs
from inspan.spec.job import Check

_PROBES = 3
_PROBE_FILES = 12
"""Test files looked into for tests that make good probes."""


def _supports(path: str) -> bool:
    return is_test_file(path) or _hooks(path)


def _hooks(path: str) -> bool:
    return posixpath.basename(path) == "conftest.py"


def test_changes(both: Trees) -> tuple[TestChanges, list[str]]:
    """What happened to the tests, and every changed path that belongs to them."""
    paths = [p for p in both.changed if _supports(p)]
    base: dict[str, Module | None] = {}
    result: dict[str, Module | None] = {}
    support: list[str] = []
    for path in paths:
        before, after = both.before(path), both.after(path)
        if not path.endswith(".py"):
            if before is not None:
                support.append(path)
            continue
        if before is not None:
            base[path] = parse(path, before)
        if after is not None:
            result[path] = parse(path, after)
    return compare_tests(base, result, tuple(support)), paths


def unconventional(both: Trees, before: TestRun) -> list[Violation]:
    """Tests that changed in files no convention takes for tests: swapping those would swap the product along."""
    paths = {i.split("::", 1)[0] for i in before.outcomes} & set(both.changed)
    out = []
    for path in sorted(p for p in paths if p.endswith(".py") and not _supports(p)):
        result = {path: parse(path, both.after(path) or b"")}
        found = compare_tests({path: parse(path, both.before(path) or b"")}, result)
        for item in sorted((found.edited | found.removed) - found.moved.keys()):
            loosening = found.loosening.get(item)
            out.append(
                Violation(
                    path=path,
                    rule="test_edited",
                    level="hold",
                    detail=f"{item.partition('::')[2]}: an existing test changed beside other code",
                    lines=loosening.lines[:8] if loosening else (),
                )
            )
    return out


def judge_tests(
    context: GateContext, both: Trees, check: Check, runner: Runner, base: CommandRun, run: CommandRun
) -> list[Violation]:
    """Judge one check of a known runner by its tests.

    A command that leaves no results on base and none on the result counts by its exit status.
    """
    before, after = base.tests or TestRun(), run.tests or TestRun()
    if not before.loaded and not after.loaded:
        return []  # the runner never took our module: its exit status decides
    if run.exit == 0 and not after.complete:
        return [_silent(check, after)]
    changes, paths = test_changes(both)
    permitted = Globs(context.job.may_change)
    paths = [p for p in paths if both.before(p) is not None or not _hooks(p) or not permitted.match(p)]
    failed_modules = {p for p, (outcome, _) in before.collect.items() if outcome == "failed" and p in both.base}
    modules = {p: m.items for p in failed_modules if (m := parse(p, both.before(p) or b"")) is not None}
    out = complete(before, after, changes, uncollected(before, after, modules, changes))
    if run.exit != 0:
        return out
    out += regressed(before, after, tolerated=base.exit == 0) + unconventional(both, before)
    second, planted = _base_tests_on_result(context, both, check, runner, before, after, changes, paths)
    third = None
    if paths:
        third = _run(context, both, check, runner, start="base", swap=paths, planted=[])
    # Where nothing of the tests changed, base's tests on the result are the delivered ones.
    runs = Runs(
        base_base=before,
        delivered_result=after,
        base_result=(second.tests if second is not None else None) if paths else after,
        delivered_base=third.tests if third is not None else before,
    )
    out += _confirmed(context, check, runner, runs, changes)
    if second is not None and not (second.tests is not None and second.tests.complete):
        out.append(_unread(check, second))
    elif second is not None and second.tests is not None:
        out += _judge_probes(context, both, check, runner, second.tests, planted, moved=bool(paths))
    return out


def _confirmed(context: GateContext, check: Check, runner: Runner, runs: Runs, changes: TestChanges) -> list[Violation]:
    """The table's readings. Before anybody is accused, base is run once more: a test that differs there is flaky."""
    seen = transplanted(runs, changes, context.job.prompt)
    if not any(v.level == "reject" for v in seen):
        return seen
    again = (
        run_command(
            context, context.base, check.command, runner=runner, timeout=check.timeout, setup=context.setup
        ).tests
        or TestRun()
    )
    flaky = {i for i in runs.base_base.outcomes if again.cell(i) != runs.base_base.cell(i)}
    if not flaky or not again.complete:
        return seen
    steady = {i: o for i, o in runs.base_base.outcomes.items() if i not in flaky}
    base = msgspec.structs.replace(runs.base_base, outcomes=steady)
    notes = [
        Violation(path=i.split("::", 1)[0], rule="flaky", level="note", detail=f"{i}: differs between two runs on base")
        for i in sorted(flaky)
    ]
    return transplanted(msgspec.structs.replace(runs, base_base=base), changes, context.job.prompt) + notes


def _silent(check: Check, after: TestRun) -> Violation:
    detail = "the command ended with status 0 and left no complete test results"
    if after.sessions > after.finished:
        detail = "a test session began and never ended, though the command's status is 0"
    return Violation(path="", rule="results_missing", detail=f"{check.name}: {detail}")


def _unread(check: Check, run: CommandRun) -> Violation:
    """The run that would have shown whether the change stands without its own tests came to no regular end."""
    how = "did not end in time" if run.ended == "timeout" else "left no complete test results"
    detail = f"{check.name}: base's tests on the result, with copies that must fail among them, {how}"
    return Violation(path="", rule="results_missing", level="hold", detail=detail)


def _base_tests_on_result(
    context: GateContext,
    both: Trees,
    check: Check,
    runner: Runner,
    before: TestRun,
    after: TestRun,
    changes: TestChanges,
    paths: list[str],
) -> tuple[CommandRun | None, list[Planted]]:
    """Base's tests with probes among them, on the result's code; only the probes where nothing of the tests changed.

    What was only added is left out as well: a new test module, or the package file of the tests, can replace what the
    others test.
    """
    planted = _plant(both, before, after, changes, paths)
    only = ""
    if not paths:
        if not planted:
            return None, []
        only = "\n".join(sorted({i for p in planted for probe in p.probes for i in (probe.id, probe.original)}))
    return _run(context, both, check, runner, start="result", swap=paths, planted=planted, only=only), planted


def _run(
    context: GateContext,
    both: Trees,
    check: Check,
    runner: Runner,
    *,
    start: str,
    swap: list[str],
    planted: list[Planted],
    only: str = "",
) -> CommandRun:
    """Run the check on a mixed tree: ``start`` with the tests of the other one."""
    ours, theirs = (both.base, both.result) if start == "base" else (both.result, both.base)
    changes: dict[str, Blob | None] = swapped(ours, theirs, swap)
    for file in planted:
        changes[file.path] = stored(both.git, file.data, both.base[file.path].mode)
    origin = context.base if start == "base" else context.result
    commit = variant(both.git, origin, changes) if changes else origin
    context.say(f"check {check.name}: tests on {'base' if start == 'base' else 'the result'} again")
    layer = context.setup_for_checks or context.setup
    return run_command(context, commit, check.command, runner=runner, timeout=check.timeout, setup=layer, only=only)


def _plant(
    both: Trees, before: TestRun, after: TestRun, changes: TestChanges, swapped_back: list[str]
) -> list[Planted]:
    """Probes from tests that pass on the result: the repaired ones first, then those that passed all along."""
    names = paired(before, after, changes)
    good = [i for i in before.outcomes if after.outcomes.get(names[i]) == "passed" and "[" not in i]
    good.sort(key=lambda i: before.outcomes[i] == "passed")
    by_path: dict[str, list[str]] = {}
    for test_id in good:
        by_path.setdefault(test_id.split("::", 1)[0], []).append(changes.base.locate(test_id))
    out: list[Planted] = []
    left = _PROBES
    for path in list(by_path)[:_PROBE_FILES]:
        data = both.before(path)
        module = parse(path, data) if data is not None and path.endswith(".py") else None
        if module is None or data is None or left <= 0:
            continue
        if path not in swapped_back and both.after(path) != data:
            data = both.after(path) or b""
            module = parse(path, data)
        speech = language(path)
        found = plant(speech, module, data, by_path[path], left) if module is not None and speech else None
        if found is not None:
            out.append(found)
            left -= len(found.probes)
    return out


def _judge_probes(
    context: GateContext,
    both: Trees,
    check: Check,
    runner: Runner,
    tests: TestRun,
    planted: list[Planted],
    *,
    moved: bool,
) -> list[Violation]:
    """A probe that passes on the result, and fails on base as it must, shows that the suite's word is worth nothing."""
    probes = [p for file in planted for p in file.probes]
    # Base's version of a test module may not even load on the result; the change itself is then judged by other means.
    if probes and not any(p.original in tests.outcomes or (moved and tests.cell(p.original) == "X") for p in probes):
        detail = f"{check.name}: tests that passed say nothing once copies that must fail stand beside them"
        return [Violation(path=planted[0].path, rule="results_missing", level="hold", detail=detail)]
    passed = probed(tests, probes)
    if not passed:
        return []
    only = "\n".join(sorted({i for p in passed for i in (p.id, p.original)}))
    control = _run(context, both, check, runner, start="base", swap=[], planted=planted, only=only)
    outcomes = (control.tests or TestRun()).outcomes
    bad: list[Probe] = [p for p in passed if outcomes.get(p.id) in ("failed", "error")]
    return [
        Violation(
            path=p.original.split("::", 1)[0],
            rule="runner_patched",
            detail=f"{p.original.partition('::')[2]}: a copy with one inverted expectation passes as well",
            lines=(p.line,),
        )
        for p in bad
    ]
