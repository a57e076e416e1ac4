"""The extra runs of a known runner's check: base's tests on the result, delivered tests on base, and probes."""

from __future__ import annotations

import msgspec

from inspan.gate.command import CommandRun, run_command
from inspan.gate.context import GateContext, Trees
from inspan.gate.mixed_runs import Mixer
from inspan.gate.results import TestRun
from inspan.gate.runners import Runner
from inspan.gate.tests.changes import compare_tests
from inspan.gate.tests.conventions import files_of, is_hook
from inspan.gate.tests.items import Items, Module
from inspan.gate.tests.judge import Runs, complete, probed, regressed, transplanted
from inspan.gate.tests.languages.contract import language, parse, swap
from inspan.gate.tests.material import Material, material, of_tests
from inspan.gate.tests.novelty import novelty
from inspan.gate.tests.probes import Planted, Probe, plant
from inspan.gate.tests.wanted import paired, uncollected
from inspan.outcome.records import Violation
from inspan.spec.globs import Globs
from inspan.spec.job import Check

_AGAIN = 2
"""How often base is run again before a test's readings reject."""
_PROBES = 3
_PROBE_FILES = 12
"""Test files looked into for tests that make good probes."""


def unconventional(both: Trees, before: TestRun, found: Material) -> list[Violation]:
    """Tests that changed in files no convention takes for tests: swapping those would swap the product along."""
    paths = {i.split("::", 1)[0] for i in before.outcomes} & set(both.changed) - set(found.inside)
    out = []
    for path in sorted(p for p in paths if language(p) is not None and not of_tests(p)):
        result = {path: parse(path, both.after(path) or b"")}
        changes = compare_tests({path: parse(path, both.before(path) or b"")}, result)
        for item in sorted((changes.edited | changes.removed) - changes.moved.keys()):
            loosening = changes.loosening.get(item)
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
    found = material(both)
    out = complete(before, after, found.changes, uncollected(before, after, _failed(both, before), found.changes))
    if run.exit != 0:
        return out
    out += [_unreadable(path) for path in found.unread]
    out += regressed(before, after, tolerated=base.exit == 0) + unconventional(both, before, found)
    permitted = Globs(context.job.may_change)
    mixer = Mixer(
        context=context,
        both=both,
        check=check,
        runner=runner,
        found=found,
        keep=lambda p: is_hook(p) and both.before(p) is None and permitted.match(p),
        known=frozenset((*before.outcomes, *after.outcomes)),
    )
    second, planted = _base_tests_on_result(mixer, before, after)
    third = mixer.run("base") if mixer.paths else None
    # Where nothing of the tests changed, base's tests on the result are the delivered ones.
    runs = Runs(
        base_base=before,
        delivered_result=after,
        base_result=_whole(second) if mixer.paths else after,
        delivered_base=_whole(third) if third is not None else before,
    )
    out += _confirmed(mixer, runs) + novelty(runs, found.changes, context.job.prompt, found.base, found.result)
    if second is not None and not (second.tests is not None and second.tests.complete):
        out.append(_unread(check, second))
    elif second is not None and second.tests is not None:
        out += _judge_probes(mixer, second.tests, planted)
    return out


def _whole(run: CommandRun | None) -> TestRun | None:
    """The results of a run that came to its end, None where a missing result would say nothing."""
    if run is None or run.tests is None or run.ended != "exit":
        return None
    return run.tests if run.tests.complete or run.tests.collect else None


def _failed(both: Trees, before: TestRun) -> dict[str, Items]:
    """The items of the modules and packages that could not be collected on base, by what the runner names."""
    out: dict[str, Items] = {}
    for where, (outcome, _) in before.collect.items():
        if outcome == "failed" and where:
            files = [p for p in files_of(f"{where}::", both.base) if language(p) is not None]
            out[where] = Items(parse(p, both.before(p) or b"") for p in files)
    return out


def _confirmed(mixer: Mixer, runs: Runs) -> list[Violation]:
    """The table's readings. Before anybody is accused, base is run again: a test that differs there is flaky."""
    prompt, changes = mixer.context.job.prompt, mixer.found.changes
    seen = transplanted(runs, changes, prompt)
    flaky: set[str] = set()
    for _ in range(_AGAIN):
        if not any(v.level == "reject" for v in seen):
            break
        again = _base_again(mixer)
        if not again.complete:
            break
        flaky |= {i for i in runs.base_base.outcomes if again.cell(i) != runs.base_base.cell(i)}
        steady = {i: o for i, o in runs.base_base.outcomes.items() if i not in flaky}
        base = msgspec.structs.replace(runs.base_base, outcomes=steady)
        seen = transplanted(msgspec.structs.replace(runs, base_base=base), changes, prompt)
    notes = [
        Violation(path=changes.path(i), rule="flaky", level="note", detail=f"{i}: differs between two runs on base")
        for i in sorted(flaky)
    ]
    return seen + notes


def _base_again(mixer: Mixer) -> TestRun:
    context, check = mixer.context, mixer.check
    layer, timeout = context.setup, check.timeout
    run = run_command(context, context.base, check.command, runner=mixer.runner, timeout=timeout, setup=layer)
    return run.tests or TestRun()


def _unreadable(path: str) -> Violation:
    return Violation(
        path=path,
        rule="test_edited",
        level="hold",
        detail="a file with tests changed and cannot be read, so nothing of it was compared",
        honest="syntax newer than what the gate reads",
    )


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


def _base_tests_on_result(mixer: Mixer, before: TestRun, after: TestRun) -> tuple[CommandRun | None, list[Planted]]:
    """Base's tests with probes among them, on the result's code; only the probes where nothing of the tests changed.

    What was only added is left out as well: a new test module, or the package file of the tests, can replace what the
    others test.
    """
    planted = _plant(mixer, before, after)
    only = ""
    if not mixer.paths:
        if not planted:
            return None, []
        only = "\n".join(sorted({i for p in planted for probe in p.probes for i in (probe.id, probe.original)}))
    return mixer.run("result", planted=planted, only=only), planted


def _plant(mixer: Mixer, before: TestRun, after: TestRun) -> list[Planted]:
    """Probes from tests that pass on the result: the repaired ones first, then those that passed all along."""
    both, changes = mixer.both, mixer.found.changes
    names = paired(before, after, changes)
    good = [i for i in before.outcomes if after.outcomes.get(names[i]) == "passed"]
    good.sort(key=lambda i: before.outcomes[i] == "passed")
    seen: dict[str, tuple[bytes, Module | None]] = {}
    wanted: dict[str, list[str]] = {}
    for test_id in good:
        for path in files_of(test_id, both.base):
            if path not in seen:
                if len(seen) >= _PROBE_FILES:
                    break
                seen[path] = _version(mixer, path)
            module = seen[path][1]
            if module is not None and Items([module]).locate(test_id) in module.items:
                wanted.setdefault(path, []).append(test_id)
                break
    out: list[Planted] = []
    left = _PROBES
    for path, ids in wanted.items():
        data, module = seen[path]
        speech = language(path)
        if module is None or speech is None or left <= 0:
            continue
        found = plant(speech, module, data, ids, left)
        if found is not None:
            out.append(found)
            left -= len(found.probes)
    return out


def _version(mixer: Mixer, path: str) -> tuple[bytes, Module | None]:
    """A file as the run of base's tests on the result has it."""
    before, after = mixer.both.before(path), mixer.both.after(path)
    data = before if path in mixer.found.whole and path in mixer.paths else after
    if path in mixer.found.inside and after is not None:
        data = swap(path, after, before or b"")
    return data or b"", parse(path, data or b"")


def _judge_probes(mixer: Mixer, tests: TestRun, planted: list[Planted]) -> list[Violation]:
    """A probe that passes on the result, and fails on base as it must, shows that the suite's word is worth nothing."""
    probes = [p for file in planted for p in file.probes]
    moved = bool(mixer.paths)
    # Base's version of a test module may not even load on the result; the change itself is then judged by other means.
    if probes and not any(p.original in tests.outcomes or (moved and tests.cell(p.original) == "X") for p in probes):
        detail = f"{mixer.check.name}: tests that passed say nothing once copies that must fail stand beside them"
        return [Violation(path=planted[0].path, rule="results_missing", level="hold", detail=detail)]
    passed = probed(tests, probes)
    if not passed:
        return []
    only = "\n".join(sorted({i for p in passed for i in (p.id, p.original)}))
    outcomes = (mixer.run("base", swap=False, planted=planted, only=only).tests or TestRun()).outcomes
    bad: list[Probe] = [p for p in passed if outcomes.get(p.id) in ("failed", "error")]
    return [
        Violation(
            path=mixer.found.changes.path(p.original),
            rule="runner_patched",
            detail=f"{p.original.partition('::')[2]}: a copy with one inverted expectation passes as well",
            lines=(p.line,),
        )
        for p in bad
    ]
