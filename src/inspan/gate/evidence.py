"""The gate as a whole: scope, then checks, then the receipt. Any failure of its own proves nothing."""

from __future__ import annotations

import traceback

import msgspec

from inspan.errors import InspanError
from inspan.gate.checks import ChecksVerdict, run_checks
from inspan.gate.context import GateContext, Trees, installed, trees
from inspan.gate.report import GateReport, receipt_of
from inspan.gate.scope import judge_scope
from inspan.outcome.decide import Finding
from inspan.outcome.reasons import REASONS, Verdict
from inspan.outcome.records import CheckResult, FacetState

TAMPERED = "gate_tampered"
"""The scope gate's reason under which a check that passes proves nothing."""

_ORDER = {"reject": 0, "hold": 1, "note": 2}


def run_gate(context: GateContext, *, check: bool = True) -> GateReport:
    """Judge one changeset. Never raises for a failure of its own: what it had not seen by then is without evidence.

    Checks are run even when the scope is violated: the person who reads a rejection wants to know both. They are not
    run when the change is of a kind that must not be laid out at all (forged names, escaping links, special files).

    Args:
        check: whether the checks are worth running.
    """
    try:
        both = trees(context)
        report = _scope(context, both)
    except Exception as error:
        found, why = _nothing(context, error)
        return GateReport(scope=found, checks=found, error=why)
    if check:
        try:
            report = _checked(report, _unrun(context, report) if _unfit(context) else run_checks(context, both))
        except Exception as error:
            found, why = _nothing(context, error)
            return msgspec.structs.replace(report, checks=found, error=why)
    return msgspec.structs.replace(report, receipt=receipt_of(report, context.job, context.changeset))


def _nothing(context: GateContext, error: Exception) -> tuple[Finding, str]:
    """Fail closed on anything: a gate that fell over has seen nothing."""
    reason, text = "gate_error", str(error)
    if isinstance(error, InspanError):
        row = REASONS.get(error.reason)
        reason = error.reason if row and row.verdict not in (Verdict.ACCEPTED, Verdict.NO_CHANGE) else reason
    else:
        kept = context.keep(traceback.format_exc().encode("utf-8", "replace")) if context.keep is not None else None
        text = f"{type(error).__name__}: {error}" + (f" (traceback {kept})" if kept else "")
    return Finding(state=FacetState.NOT_EVIDENCED, reasons=(reason,)), context.redactor.text(text)


def _scope(context: GateContext, both: Trees) -> GateReport:
    context.say("scope of the change")
    finding, violations = judge_scope(
        context.changeset,
        context.job,
        context.harness_globs,
        before=both.before,
        after=both.after,
        base_paths=both.base,
        result_paths=both.result,
        taken=installed(context),
    )
    layers = [layer.key for layer in (context.setup, context.setup_for_checks) if layer is not None]
    return GateReport(scope=finding, violations=violations, setup=tuple(layers))


def _checked(report: GateReport, verdict: ChecksVerdict) -> GateReport:
    """The report with what the checks showed; a check that passes by tampered rules shows nothing."""
    finding, results = verdict.finding, verdict.results
    if TAMPERED in report.scope.reasons:
        results = tuple(map(_doubted, results))
        if finding.state is FacetState.PASSED:
            finding = Finding(state=FacetState.NOT_EVIDENCED, reasons=(TAMPERED,))
    return msgspec.structs.replace(
        report,
        checks=finding,
        violations=tuple(sorted((*report.violations, *verdict.violations), key=lambda v: _ORDER[v.level])),
        results=results,
        base_passed=verdict.base_passed,
    )


def _doubted(result: CheckResult) -> CheckResult:
    passed = result.state is FacetState.PASSED
    return msgspec.structs.replace(result, state=FacetState.NOT_EVIDENCED) if passed else result


def _unfit(context: GateContext) -> bool:
    """Whether the change is of a kind that is not laid out anywhere."""
    return any(v.level == "reject" for v in context.changeset.violations)


def _unrun(context: GateContext, report: GateReport) -> ChecksVerdict:
    """The checks of a change that is not laid out: without evidence, for what the scope gate found."""
    if not context.job.checks:
        return ChecksVerdict(finding=Finding(state=FacetState.NOT_REQUIRED))
    results = tuple(CheckResult(name=c.name, command=c.command) for c in context.job.checks)
    return ChecksVerdict(finding=Finding(state=FacetState.NOT_EVIDENCED, reasons=report.scope.reasons), results=results)
