"""The receipt: one digest that binds the evidence to base and result. Pure.

Times, costs and claims are not part of it: the same work judged again has the same receipt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from inspan.outcome.canonical import digest
from inspan.outcome.records import CheckResult, Violation
from inspan.spec.job import Job


def receipt(
    *,
    base: str,
    result_tree: str | None,
    job: Job,
    setup: Sequence[str],
    checks: Sequence[CheckResult],
    judgements: Sequence[Any] = (),
    violations: Sequence[Violation] = (),
) -> str:
    """``sha256:...`` over base, result tree, policy, set-up layers, checks, judgements and violations."""
    policy = {
        "checks": [{"name": c.name, "command": c.command, "timeout": c.timeout} for c in job.checks],
        "scope": list(job.scope),
        "may_change": list(job.may_change),
        "read_only": job.read_only,
        "unchecked": job.unchecked,
        "setup": list(job.setup),
    }
    bound = {
        "schema": "inspan.receipt/1",
        "base": base,
        "result_tree": result_tree,
        "policy": policy,
        "layers": list(setup),
        "checks": [
            {
                "name": c.name,
                "command": c.command,
                "state": c.state.value,
                "evidence": c.evidence,
                "base": c.base,
                "exit": c.exit,
                "counts": c.counts,
            }
            for c in checks
        ],
        "judgements": [msgspec.to_builtins(j) for j in judgements],
        "violations": sorted([v.path, v.rule, v.level, v.detail] for v in violations),
    }
    return digest(bound)
