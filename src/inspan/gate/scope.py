"""The scope facet: is everything that changed allowed to change? Pure over the collected changeset."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from inspan.gate.deciders import Decider, Touched, changed
from inspan.outcome.decide import Finding
from inspan.outcome.records import FacetState, Violation
from inspan.spec.globs import Globs
from inspan.spec.job import Job
from inspan.workspace.changeset import Changeset

Read = Callable[[str], bytes | None]

_TOO_LARGE = ("too_big", "too_many", "too_deep", "too_large", "change_too_large")
_TAMPER = ("dotgit", "meta_alias", "decider", "baseline", "gitattributes", "gitmodules")


def _reason(rule: str) -> str:
    """The reason word a rule of the scope gate ends in."""
    if rule.startswith(_TOO_LARGE):
        return "change_too_large"
    if rule.startswith(_TAMPER):
        return "gate_tampered"
    return "out_of_scope"


def _outside(paths: Iterable[str], job: Job, permitted: Globs) -> list[Violation]:
    if job.read_only:
        return [Violation(path=p, rule="read_only", detail="the job may not change anything") for p in paths]
    if not job.scope:
        return []
    scope = Globs(job.scope)
    detail = f"outside {', '.join(job.scope)}"
    return [
        Violation(path=p, rule="out_of_scope", detail=detail)
        for p in paths
        if not scope.match(p) and not permitted.match(p)
    ]


def _decided(found: Sequence[Decider], permitted: Globs) -> list[Violation]:
    out = []
    for decider in found:
        allowed = permitted.match(decider.path)
        out.append(
            Violation(
                path=decider.path,
                rule=decider.rule,
                detail=f"{decider.key}: {decider.why}" + (" (permitted by the job)" if allowed else ""),
                level="note" if allowed else "reject",
                honest=None if allowed else "a change the job needs: permit it with --may-change",
            )
        )
    return out


def judge_scope(
    changeset: Changeset,
    job: Job,
    harness_deciders: Sequence[str] = (),
    *,
    before: Read,
    after: Read,
    base_paths: Iterable[str],
    result_paths: Iterable[str],
    taken: Collection[str] = (),
) -> tuple[Finding, tuple[Violation, ...]]:
    """Judge the scope of a change.

    An empty change passes. ``may_change`` permits deciders, and a permitted path need not be named in ``scope`` again.

    Args:
        harness_deciders: globs of settings files that harness programs discover and obey.
        before, after: bytes of a path on base and on the result, None where it does not exist.
        base_paths, result_paths: all paths of the two trees.
        taken: names of modules installed in the environment of the checks.

    Returns:
        The finding and every violation, those of the changeset first; ``note`` ones decide nothing.
    """
    paths = [c.path for c in changeset.change.files]
    permitted = Globs(job.may_change)
    violations = list(changeset.violations)
    violations += _outside(paths, job, permitted)
    touched = (Touched(path=p, before=before(p), after=after(p)) for p in paths)
    deciders = changed(
        touched,
        base_paths=base_paths,
        result_paths=result_paths,
        commands=[c.command for c in job.checks],
        harness_globs=harness_deciders,
        before=before,
        taken=taken,
    )
    violations += _decided(deciders, permitted)
    rejected = [v for v in violations if v.level == "reject"]
    held = [v for v in violations if v.level == "hold"]
    if rejected:
        reasons = tuple(dict.fromkeys(_reason(v.rule) for v in rejected))
        return Finding(state=FacetState.FAILED, reasons=reasons), tuple(violations)
    if held:
        return Finding(state=FacetState.NOT_EVIDENCED, reasons=("out_of_scope",)), tuple(violations)
    return Finding(state=FacetState.PASSED), tuple(violations)
