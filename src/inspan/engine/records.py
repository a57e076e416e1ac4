"""What the steps of a job hand to each other, as text that a later version of this program can read."""

from __future__ import annotations

import json
from typing import Any, Literal, TypeVar

import msgspec

from inspan.attempt.contract import TerminalRecord
from inspan.gate.report import GateReport
from inspan.gateway.contract import Upstream
from inspan.outcome.decide import Decision, Finding
from inspan.outcome.records import Claims, DeliveryRecord, IsolationRecord, Timing, Usage, Violation
from inspan.routing.failure import Cause
from inspan.sandbox.tools import Toolset
from inspan.spec.limits import Limits
from inspan.workspace.build import SetupLayer
from inspan.workspace.changeset import Changeset
from inspan.workspace.plan import Bind, MountPlan
from inspan.workspace.repository import Repository

T = TypeVar("T")


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided before a job was stored; frozen with it, so that whoever takes over decides nothing anew.

    Attributes:
        harness, provider, model: the backend; ``provider`` is ``rehearsal`` in a rehearsal.
        harness_config: the user's ``[harnesses.NAME]`` table of a configured harness.
        harness_version: of the program found at submission.
        deciders: globs of settings files that harness obeys.
        upstream: where model traffic goes.
        credential_env: name of the variable that holds the credential, None when none is needed.
        level: the sandbox level, decided and probed.
        path: PATH of the command that asked.
        pass_env: names of further environment variables let in.
        setup_inputs: globs of the files set-up reads, where its commands are the configured ones.
        egress: destinations granted by the job and by the configuration of its backend.
        private: those of them that may lead to an address that is not global.
        writable: granted directories of the host, for the agent alone.
        minimum: the weakest level that the user or the backend's configuration demands, None without a demand.
        workspace: kind of workspace.
        limits: of every process tree of the job: set-up, agent and checks.
        repository: the checkout, as found.
        rehearsal: name of the scenario played, None with a real provider.
        continue_result: for ``retry --continue``: the earlier job's result.
        config_digest: of the repository's own configuration file, None without one.
    """

    harness: str
    provider: str
    model: str
    upstream: Upstream
    level: str
    path: str
    workspace: Literal["overlay", "clone"]
    repository: Repository
    harness_config: dict[str, Any] | None = None
    harness_version: str | None = None
    limits: Limits = Limits()
    deciders: tuple[str, ...] = ()
    credential_env: str | None = None
    pass_env: tuple[str, ...] = ()
    setup_inputs: tuple[str, ...] = ()
    egress: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    writable: tuple[Bind, ...] = ()
    minimum: str | None = None
    rehearsal: str | None = None
    continue_result: str | None = None
    config_digest: str | None = None


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """The workspace, ready.

    Attributes:
        base: the commit the workspace starts from and the change is charged against.
        checkout: artifact digest of the checkout's fingerprint; None where the checkout is out of the job's reach.
        toolset: the tools table as computed for this job.
    """

    base: str
    attempt: str
    plan: MountPlan
    toolset: Toolset
    checkout: str | None = None
    setup: SetupLayer | None = None


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """What the attempt left: read by the trusted side after the tree was dead."""

    executor: Finding
    cause: Cause | None = None
    changeset: Changeset | None = None
    activity: Literal["none", "text", "tools"] | None = None
    answered: bool = False
    claims: Claims = Claims()
    usage: Usage = Usage()
    isolation: IsolationRecord = IsolationRecord()
    contradictions: tuple[str, ...] = ()
    model_served: str | None = None
    harness_version: str | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a stage could not do its work. ``reason`` is a word of the reasons table."""

    stage: str
    reason: str
    detail: str


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a job has come. Each stage fills its own part; a part that is None was not reached.

    Attributes:
        failures: in the order they happened; the first cause stands before later ones.
        cancelled: a person cancelled, seen by a stage.
        artifacts: digests by kind.
        checkout: tracked files of the user's checkout that changed while the job ran.
        keep: the workspace is kept because its content could not be collected.
    """

    job: str
    prepared: Prepared | None = None
    ended: TerminalRecord | None = None
    collected: Collected | None = None
    gated: GateReport | None = None
    decision: Decision | None = None
    delivery: DeliveryRecord = DeliveryRecord()
    failures: tuple[Failure, ...] = ()
    cancelled: bool = False
    warnings: tuple[str, ...] = ()
    artifacts: dict[str, str] = msgspec.field(default_factory=dict)
    timing: Timing = Timing()
    checkout: tuple[Violation, ...] = ()
    keep: bool = False

    @property
    def stopped(self) -> bool:
        """No further work is begun; what is there is collected, recorded and freed."""
        return self.cancelled or bool(self.failures)


def dump(record: msgspec.Struct) -> str:
    """A record as ASCII JSON: paths that are not UTF-8 survive as escapes."""
    return json.dumps(msgspec.to_builtins(record))


def load(text: str, kind: type[T]) -> T:
    """The record back."""
    return msgspec.convert(json.loads(text), kind)
