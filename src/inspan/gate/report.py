"""What the gate saw, as it is stored with the job, and the receipt that binds it."""

from __future__ import annotations

import msgspec

from inspan.gate.receipt import receipt
from inspan.outcome.decide import Finding
from inspan.outcome.records import CheckResult, Violation
from inspan.spec.job import Job
from inspan.workspace.changeset import Changeset


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate saw.

    Attributes:
        scope, checks: findings of the two facets; None for the checks when they were not to be run.
        violations: of both, those that decide first.
        results: one per check that was run.
        base_passed: whether every check passes on base; None when not known.
        setup: keys of the set-up layers the checks stood on.
        receipt: binds all of it to base and result; None when the gate failed.
        error: what went wrong in the gate itself, None when nothing did.
    """

    scope: Finding
    checks: Finding | None = None
    violations: tuple[Violation, ...] = ()
    results: tuple[CheckResult, ...] = ()
    base_passed: bool | None = None
    setup: tuple[str, ...] = ()
    receipt: str | None = None
    error: str | None = None


def receipt_of(report: GateReport, job: Job, changeset: Changeset) -> str:
    """The receipt of what was seen: computed when it is judged, and again before anything is delivered."""
    return receipt(
        base=changeset.base,
        result_tree=changeset.tree,
        job=job,
        setup=report.setup,
        checks=report.results,
        violations=report.violations,
    )
