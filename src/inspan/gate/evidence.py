"""The gate as a whole: scope, then checks, then the receipt. Any failure of its own proves nothing."""

from __future__ import annotations

import msgspec

from inspan.errors import InspanError
from inspan.gate.checks import ChecksVerdict, run_checks
from inspan.gate.context import GateContext, installed, trees
from inspan.gate.receipt import receipt
from inspan.gate.scope import judge_scope
from inspan.outcome.decide import Finding
from inspan.outcome.reasons import REASONS, Verdict
from inspan.outcome.records import CheckResult, FacetState, Violation


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate saw.

    Attributes:
        scope, checks: findings of the two facets.
        violations: of both, those that decide first.
        results: one per check that was run.
        base_passed: whether every check passes on base; None when not known.
        receipt: binds all of it to base and result; None when the gate failed.
        contradictions: sentences about claims that the evidence contradicts.
        error: what went wrong in the gate itself, None when nothing did.
    """

    scope: Finding
    checks: Finding
    violations: tuple[Violation, ...] = ()
    results: tuple[CheckResult, ...] = ()
    base_passed: bool | None = None
    receipt: str | None = None
    contradictions: tuple[str, ...] = ()
    error: str | None = None


_ORDER = {"reject": 0, "hold": 1, "note": 2}


def run_gate(context: GateContext) -> GateReport:
    """Judge one changeset. Never raises for a failure of its own: both facets are then without evidence.

    Checks are run even when the scope is violated: the person who reads a rejection wants to know both. They are not
    run when the change is of a kind that must not be laid out at all (forged names, escaping links, special files).
    """
    try:
        return _run(context)
    except Exception as error:
        # Fail closed on anything: a gate that fell over has seen nothing.
        reason = error.reason if isinstance(error, InspanError) else "gate_error"
        if reason not in REASONS or REASONS[reason].verdict in (Verdict.ACCEPTED, Verdict.NO_CHANGE):
            reason = "gate_error"
        found = Finding(state=FacetState.NOT_EVIDENCED, reasons=(reason,))
        return GateReport(scope=found, checks=found, error=context.redactor.text(f"{type(error).__name__}: {error}"))


def _run(context: GateContext) -> GateReport:
    context.say("scope")
    both = trees(context)
    scope, violations = judge_scope(
        context.changeset,
        context.job,
        context.harness_globs,
        before=both.before,
        after=both.after,
        base_paths=both.base,
        result_paths=both.result,
        taken=installed(context),
    )
    unfit = any(v.level == "reject" for v in context.changeset.violations)
    checks = _unrun(context) if unfit else run_checks(context)
    every = tuple(sorted((*violations, *checks.violations), key=lambda v: _ORDER[v.level]))
    setup = context.setup_for_checks or context.setup
    return GateReport(
        scope=scope,
        checks=checks.finding,
        violations=every,
        results=checks.results,
        base_passed=checks.base_passed,
        receipt=receipt(
            base=context.base,
            result_tree=context.changeset.tree,
            job=context.job,
            setup_key=setup.key if setup else None,
            checks=checks.results,
            violations=every,
        ),
    )


def _unrun(context: GateContext) -> ChecksVerdict:
    """The checks of a change that is not laid out: without evidence."""
    if not context.job.checks:
        return run_checks(context)
    results = tuple(CheckResult(name=c.name, command=c.command) for c in context.job.checks)
    return ChecksVerdict(finding=Finding(state=FacetState.NOT_EVIDENCED, reasons=("out_of_scope",)), results=results)
