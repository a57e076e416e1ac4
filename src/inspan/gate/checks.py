"""The checks facet: every required check on the result, judged against the same check on base."""

from __future__ import annotations

import msgspec

from inspan.gate.baseline import run_on_base
from inspan.gate.command import CommandRun, run_command
from inspan.gate.context import GateContext, Trees
from inspan.gate.digest import digest
from inspan.gate.evidence_of_product import judge_product
from inspan.gate.evidence_of_tests import judge_tests
from inspan.gate.exit_evidence import judge_exit
from inspan.gate.other_tree import elsewhere, links, references
from inspan.gate.runners import Runner, detect, either
from inspan.gate.tests.judge import shown
from inspan.outcome.decide import Finding
from inspan.outcome.records import CheckResult, FacetState, Violation
from inspan.spec.job import Check

_FAILING = frozenset(("results_missing", "tests_failed"))
"""Rules of the checks gate that mean ``checks_failed``; every other rejecting one means ``checks_weakened``."""


class ChecksVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks showed.

    Attributes:
        finding: of the facet; ``not_required`` without checks.
        results: one per check, in order.
        violations: what was seen in the tests, ``note`` ones included.
        base_passed: whether every check passes on base; None when that is not known.
    """

    finding: Finding
    results: tuple[CheckResult, ...] = ()
    violations: tuple[Violation, ...] = ()
    base_passed: bool | None = None


def run_checks(context: GateContext, both: Trees) -> ChecksVerdict:
    """Run and judge every check of the job.

    Raises:
        GateError, SandboxError, WorkspaceError: a check could not be run; nothing is proved then.
    """
    if not context.job.checks:
        return _unasked(judge_product(context, both, ()))
    if elsewhere(context):
        foreign = (*references(context), *links(both, context.repo.toplevel))
        if foreign:
            return _other_tree(context, foreign)
    results: list[CheckResult] = []
    violations: list[Violation] = []
    for check in context.job.checks:
        result, seen = _judged(context, both, check)
        results.append(result)
        violations += seen
    violations += judge_product(context, both, results)
    return ChecksVerdict(
        finding=_finding(results, violations),
        results=tuple(results),
        violations=tuple(shown(violations)),
        base_passed=_base_passed(results),
    )


def _unasked(violations: list[Violation]) -> ChecksVerdict:
    """The verdict of a job without checks: nothing is proved, and what must not be is still refused."""
    finding = Finding(state=FacetState.NOT_REQUIRED)
    if any(v.level == "reject" for v in violations):
        finding = Finding(state=FacetState.FAILED, reasons=("checks_weakened",))
    return ChecksVerdict(finding=finding, violations=tuple(shown(violations)))


def _other_tree(context: GateContext, foreign: tuple[str, ...]) -> ChecksVerdict:
    results = tuple(CheckResult(name=c.name, command=c.command) for c in context.job.checks)
    violations = tuple(
        Violation(
            path="",
            rule="tests_other_tree",
            detail=f"the environment refers to the checkout: {where}",
            level="hold",
            honest="an editable install; at level sandbox the workspace stands at the checkout's own path",
        )
        for where in foreign[:5]
    )
    finding = Finding(state=FacetState.NOT_EVIDENCED, reasons=("tests_other_tree",))
    return ChecksVerdict(finding=finding, results=results, violations=violations)


def _judged(context: GateContext, both: Trees, check: Check) -> tuple[CheckResult, list[Violation]]:
    """One check on base and on the result."""
    runner = either(*(detect(check.command, read, report=check.junit) for read in (both.before, both.after)))
    context.say(f"check {check.name} on base")
    base = run_on_base(context, check, runner)
    if context.result == context.base:
        run, seen = base, []
    else:
        context.say(f"check {check.name} on the result")
        layer = context.setup_for_checks or context.setup
        run = run_command(context, context.result, check.command, runner=runner, timeout=check.timeout, setup=layer)
        seen = _seen(context, both, check, runner, base, run)
    return _result(context, check, runner, base, run, seen), seen


def _seen(
    context: GateContext, both: Trees, check: Check, runner: Runner | None, base: CommandRun, run: CommandRun
) -> list[Violation]:
    """What the change did to the tests, by their own results where there are any."""
    told = any(r.tests is not None and r.tests.loaded for r in (base, run))
    if runner is not None and told:
        return judge_tests(context, both, check, runner, base, run)
    return judge_exit(context, both, check, base, run)


def _passed(run: CommandRun) -> bool:
    return run.ended == "exit" and run.exit == 0


def _result(
    context: GateContext, check: Check, runner: Runner | None, base: CommandRun, run: CommandRun, seen: list[Violation]
) -> CheckResult:
    tests = run.tests if run.tests is not None and run.tests.sessions else None
    levels = {v.level for v in seen}
    if not _passed(run) or "reject" in levels:
        state = FacetState.FAILED
    else:
        state = FacetState.NOT_EVIDENCED if "hold" in levels else FacetState.PASSED
    note = {
        "timeout": f"did not end within {check.timeout:g} s",
        "output": "wrote more output than allowed",
        "limit": f"was ended: it exceeded the limit {run.exceeded} ([limits] in the user's configuration)",
    }.get(run.ended)
    rejected = list(dict.fromkeys(map(_told, (v for v in seen if v.level == "reject"))))[:6]
    digested = None
    if state is FacetState.FAILED:
        head = "\n".join([*([note] if note else []), *rejected])
        digested = digest(run.output, runner=runner, run=tests, redactor=context.redactor, note=head)
    return CheckResult(
        name=check.name,
        command=check.command,
        state=state,
        evidence="tests" if tests is not None else "exit",
        results=tests.source if tests is not None else None,
        base="passed" if _passed(base) else "failed",
        exit=run.exit,
        seconds=round(run.seconds, 3),
        counts=tests.counts if tests is not None else None,
        digest=digested,
        artifact=context.keep(context.redactor.data(run.output)) if context.keep is not None else None,
    )


def _told(violation: Violation) -> str:
    """What a failure's digest says of a violation. A digest may be shown to whoever revises the change: it says what
    to repair, and not by which rule, cells or probes it was seen; the violations say that to people."""
    if violation.rule in _FAILING and not violation.detail.endswith("stand beside them"):
        return f"{violation.path}: {violation.detail}"
    return f"{violation.path or 'the tests'}: demand what they did on base, and change the code until they pass"


def _finding(results: list[CheckResult], violations: list[Violation]) -> Finding:
    reasons: list[str] = []
    rejecting = [v for v in violations if v.level == "reject"]
    if any(v.rule not in _FAILING for v in rejecting):
        reasons.append("checks_weakened")
    if any(r.exit != 0 for r in results) or any(v.rule in _FAILING for v in rejecting):
        reasons.append("checks_failed")
    if reasons:
        return Finding(state=FacetState.FAILED, reasons=tuple(reasons))
    if any(v.level == "hold" for v in violations):
        return Finding(state=FacetState.NOT_EVIDENCED, reasons=("tests_changed",))
    if all(r.state is FacetState.PASSED for r in results):
        return Finding(state=FacetState.PASSED)
    return Finding(state=FacetState.NOT_EVIDENCED, reasons=("gate_error",))


def _base_passed(results: list[CheckResult]) -> bool | None:
    if any(r.base == "failed" for r in results):
        return False
    return True if all(r.base == "passed" for r in results) else None
