"""The first stage: base, layers and workspace, ready for an agent."""

from __future__ import annotations

import json

from inspan.engine.context import Context, Stopwatch, changed, seconds_between, timed
from inspan.engine.places import owner_at, tools_of
from inspan.engine.records import Prepared, Progress, Resolved
from inspan.engine.setup import ensure_setup
from inspan.engine.stages import stage
from inspan.sandbox.tools import by_another_name
from inspan.spec.job import Job
from inspan.spec.levels import promises
from inspan.store.ids import attempt_id
from inspan.store.states import PREPARING
from inspan.workspace.build import ensure_gate, ensure_pristine, missing, plan_attempt
from inspan.workspace.fingerprint import fingerprint
from inspan.workspace.place import ancestor_settings
from inspan.workspace.repository import Repository, uncommitted
from inspan.workspace.seed import seed
from inspan.workspace.snapshot import Snapshot, take

_NAMED = 10  # paths in one warning


@stage("prepare")
def prepare(context: Context, progress: Progress) -> Progress:
    """Fix the base, make its layers, run set-up once, and plan the workspace."""
    watch = Stopwatch()
    job, row = progress.job, context.row(progress.job)
    queued = seconds_between(row.created)
    context.store.enter(job, PREPARING)
    context.say(job, "preparing", {"base": row.base}, once="preparing")
    if context.cancelled(job):
        return changed(progress, cancelled=True)
    spec, resolved = row.spec, context.resolved(job)
    repo = resolved.repository
    ensure_gate(context.state, repo)
    checkout = _checkout(context, job, resolved)
    base, warnings = _base(context, job, spec, repo, row.base)
    owner, toolset = owner_at(resolved.level), tools_of(resolved, context.environ, spec.share)
    ensure_pristine(context.state, repo, base, owner)
    setup = ensure_setup(context, job, base, spec.setup, toolset)
    attempt = attempt_id(job, 1)
    plan = plan_attempt(
        context.state,
        repo,
        base,
        attempt,
        kind=resolved.workspace,
        owner=owner,
        share=spec.share,
        setup=setup,
        read_only=spec.read_only,
        level=resolved.level,
    )
    if resolved.continue_result is not None:
        seed(context.state, repo, plan, base, resolved.continue_result, setup)
    prepared = Prepared(base=base, attempt=attempt, plan=plan, toolset=toolset, checkout=checkout, setup=setup)
    warnings += [f"not available here: {text}" for text in missing(context.state, repo, base, owner)]
    level = promises(resolved.level)
    if not level.own_mounts and (above := ancestor_settings(plan.directory, resolved.deciders)):
        what = "that are closed, at which a program may stop," if level.hides_host else "that nothing hides"
        warnings.append(f"settings above the workspace {what} at level {resolved.level}: {_some(above)}")
    if spec.share and not level.own_mounts:
        warnings.append(f"not shown at level {resolved.level}: {_some(list(spec.share))}")
    if level.own_mounts and (aliases := by_another_name(resolved.path, repo.toplevel)):
        warnings.append(f"the checkout is {repo.toplevel} inside, and PATH names it by a link: {_some(aliases)}")
    if resolved.writable:
        places = _some([bind.target for bind in resolved.writable])
        warnings.append(f"the agent could write outside the change, as granted: {places}")
    if setup is not None and setup.changed_tracked:
        warnings.append(f"changed by set-up, and not part of the result: {_some(list(setup.changed_tracked))}")
    for number, warning in enumerate(warnings):
        context.say(job, "warning", {"text": warning}, once=f"warning-{number}")
    done = changed(progress, prepared=prepared, warnings=tuple(warnings))
    return timed(done, queued=queued, prepare=watch())


def _checkout(context: Context, job: str, resolved: Resolved) -> str | None:
    if promises(resolved.level).keeps_checkout:
        return None
    return context.store.keep(job, "checkout", json.dumps(fingerprint(resolved.repository)).encode(), exact=True)


def _base(context: Context, job: str, spec: Job, repo: Repository, base: str) -> tuple[str, list[str]]:
    """The base in force and what a person should know about it."""
    if spec.dirty and spec.continue_from is None:
        snapshot = take(context.state, repo)
        context.store.set_base(job, snapshot.commit)
        return snapshot.commit, _about(snapshot)
    found = uncommitted(repo)
    warnings = []
    if found.tracked:
        warnings.append(f"not committed and so not part of the base: {_some(found.tracked)}")
    if found.untracked:
        warnings.append(f"untracked and so not part of the base: {_some(found.untracked)}")
    return base, warnings


def _about(snapshot: Snapshot) -> list[str]:
    """What a person should know about a base nobody has committed: it becomes the parent of what is delivered."""
    left = [f"{path} ({why})" for path, why in snapshot.left_out]
    said = (
        ("not committed and taken into the base", list(snapshot.taken)),
        ("left out of the snapshot", left),
        ("ignored and so left out of the snapshot", list(snapshot.ignored)),
    )
    return [f"{what}: {_some(names)}" for what, names in said if names]


def _some(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"
