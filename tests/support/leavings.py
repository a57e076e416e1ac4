"""What jobs leave on disk, made for real: a repository, planned workspaces, changes collected as the engine does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from tests.support import workspace_kit as kit

from inspan.attempt.contract import AttemptRequest
from inspan.engine.records import Resolved
from inspan.gateway.contract import Upstream
from inspan.outcome.reasons import REASONS
from inspan.outcome.records import BackendRecord, Change, DeliveryRecord, Facets, Outcome
from inspan.spec.job import Job
from inspan.spec.paths import AttemptPaths, State
from inspan.store.ids import attempt_id
from inspan.store.records import NewJob
from inspan.store.store import Store
from inspan.workspace.build import plan_attempt
from inspan.workspace.changeset import collect, patch
from inspan.workspace.plan import MountPlan
from inspan.workspace.repository import open_repository

_UPSTREAM = Upstream(kind="rehearsal", provider="rehearsal", model="m", wire="anthropic")


class Leavings:
    """One state with one repository, and jobs whose attempts left something."""

    def __init__(self, root: Path, *, kind: str = "overlay") -> None:
        self.state = State(root / "state")
        self.store = Store.open(self.state)
        self.checkout = kit.sample(root / "repo")
        self.repo = open_repository(str(self.checkout))
        self.base = self.git("rev-parse", "HEAD")
        self.kind: Any = kind

    def git(self, *args: str) -> str:
        return kit.sh("git " + " ".join(f"'{a}'" for a in args), self.checkout).strip()

    def paths(self, job: str) -> AttemptPaths:
        return self.state.attempt(attempt_id(job, 1))

    def tree(self, plan: MountPlan) -> Path:
        """Where the agent's changes are on the host."""
        return Path(plan.upper or plan.directory)

    def job(
        self, job: str, files: dict[str, str] | None = None, *, ended: bool = True, patched: bool = True, **outcome: Any
    ) -> MountPlan:
        """A job whose agent wrote ``files``; its workspace is still there."""
        resolved = Resolved(
            harness="bare", provider="rehearsal", model="m", upstream=_UPSTREAM, level="none", path="",
            workspace=self.kind, repository=self.repo,
        )  # fmt: skip
        new = NewJob(
            id=job, spec=Job(prompt="x"), repo=str(self.checkout), base=self.base, backend="bare@rehearsal/m",
            resolved=msgspec.to_builtins(resolved), executor="e",
        )  # fmt: skip
        self.store.insert_job(new)
        plan = self.workspace(job)
        self.write(plan, files or {})
        found = collect(self.state, self.repo, self.base, plan, attempt_id(job, 1))
        artifacts = {"transcript": self.store.keep(job, "transcript", f"said {job}".encode())}
        if found.change.files and found.result and patched:
            made = patch(self.state, self.repo, self.base, found.result)
            artifacts["patch"] = self.store.keep(job, "patch", made, exact=True)
        if ended:
            self.end(job, found.change, artifacts, **outcome)
        return plan

    def workspace(self, job: str) -> MountPlan:
        plan = plan_attempt(
            self.state, self.repo, self.base, attempt_id(job, 1),
            kind=self.kind, owner=kit.SELF, level="none" if self.kind == "clone" else "sandbox",
        )  # fmt: skip
        request = AttemptRequest(
            attempt=attempt_id(job, 1), harness="bare", model="m", prompt="x", plan=plan, upstream=_UPSTREAM,
            deadline="2030-01-01T00:00:00.000Z", stall=1.0, level="none",
        )  # fmt: skip
        self.paths(job).request.write_bytes(msgspec.json.encode(request))
        self.paths(job).lock.touch()
        return plan

    def write(self, plan: MountPlan, files: dict[str, str]) -> None:
        for name, text in files.items():
            place = self.tree(plan) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    def end(self, job: str, change: Change | None, artifacts: dict[str, str], **more: Any) -> None:
        row = REASONS[more.pop("reason", "verified")]
        reason = next(word for word, found in REASONS.items() if found is row)
        self.store.record_outcome(
            Outcome(
                job=job, verdict=row.verdict, reason=reason, reasons=(reason,), required_action=row.action,
                facets=Facets(), backend=BackendRecord(harness="bare", provider="rehearsal", model="m"),
                change=change, artifacts=artifacts, **more,
            )
        )  # fmt: skip

    def delivered(self, job: str) -> DeliveryRecord:
        """A delivered branch with the commit somebody may merge."""
        self.git("branch", f"inspan/{job}", self.base)
        return DeliveryRecord(kind="branch", ref=f"refs/heads/inspan/{job}", commit=self.base)
