"""The third stage: what the attempt left, read by the trusted side and kept before anything is freed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from inspan.attempt.collect import activity, claims, contradictions, executor_finding, isolation, model_served
from inspan.attempt.files import read_request
from inspan.engine.context import Context, changed
from inspan.engine.records import Collected, Prepared, Progress
from inspan.engine.stages import failed, stage
from inspan.errors import InspanError
from inspan.gateway.contract import WireRecord
from inspan.gateway.journal import read_journal, usage
from inspan.outcome.records import Usage
from inspan.spec.paths import AttemptPaths
from inspan.workspace.changeset import Changeset, patch
from inspan.workspace.changeset import collect as collect_changeset
from inspan.workspace.repository import Repository


@stage("collect")
def collect(context: Context, progress: Progress) -> Progress:
    """Read change, wire and claims; keep patch, change list and transcript, whatever the attempt's end was."""
    prepared, record = progress.prepared, progress.ended
    if prepared is None or record is None:
        return progress
    job, paths = progress.job, context.state.attempt(prepared.attempt)
    repo = context.resolved(job).repository
    wire = read_journal(paths.wire)
    request = read_request(paths)
    finding, cause = executor_finding(record, wire, datetime.now(UTC), request=request)
    artifacts = _transcript(context, job, paths)
    if record.message:
        artifacts["answer"] = context.store.keep(job, "answer", record.message.encode("utf-8", "replace"))
    progress = changed(progress, artifacts={**progress.artifacts, **artifacts})
    changeset: Changeset | None = None
    try:
        changeset, kept = _change(context, job, repo, prepared)
        progress = changed(progress, artifacts={**progress.artifacts, **kept})
    except InspanError as error:
        progress = changed(failed(progress, "collect", error.reason, str(error)), keep=True)
    differs = None if changeset is None else changeset.result != changeset.base
    said = claims(record)
    collected = Collected(
        executor=finding,
        cause=cause,
        changeset=changeset,
        activity=activity(record, wire, differs),
        answered=bool((record.message or "").strip()),
        claims=said,
        usage=_usage(wire, record.ending.usage if record.ending else None),
        isolation=isolation(record, request),
        contradictions=contradictions(record, said, changeset.change if changeset else None),
        model_served=model_served(wire),
        harness_version=record.harness_version,
    )
    context.say(job, "collected", {"files": len(changeset.change.files) if changeset else None}, once="collected")
    return changed(progress, collected=collected)


def _change(context: Context, job: str, repo: Repository, prepared: Prepared) -> tuple[Changeset, dict[str, str]]:
    found = collect_changeset(context.state, repo, prepared.base, prepared.plan, prepared.attempt, setup=prepared.setup)
    kept = {"changes": context.store.keep(job, "changes", msgspec.json.encode(_listed(found)))}
    if found.result is not None and found.result != found.base:
        text = patch(context.state, repo, found.base, found.result)
        kept["patch"] = context.store.keep(job, "patch", text, exact=True)
    return found, kept


def _listed(found: Changeset) -> dict[str, object]:
    """The change list as a document; names that are not UTF-8 are spelled out."""
    files = [f"{f.status} {f.path}".encode("utf-8", "backslashreplace").decode() for f in found.change.files]
    ignored = [path.encode("utf-8", "backslashreplace").decode() for path in found.ignored]
    return {"base": found.base, "result": found.result, "digest": found.digest, "files": files, "ignored": ignored}


def _transcript(context: Context, job: str, paths: AttemptPaths) -> dict[str, str]:
    sources = {"transcript": paths.stdout, "stderr": paths.stderr, "events": paths.events, "wire": paths.wire}
    return {kind: context.store.keep(job, kind, data) for kind, path in sources.items() if (data := _read(path))}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _usage(wire: list[WireRecord], reported: dict[str, int] | None) -> Usage:
    return msgspec.structs.replace(usage(wire), harness_reported=dict(reported) if reported else None)
