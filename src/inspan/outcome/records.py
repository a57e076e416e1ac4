"""The outcome record, ``inspan.outcome/1``: the one record a job ends in.

Field names never change meaning; new fields are additive. Unknown is ``None`` with a source, never zero and never fine.
Times are RFC 3339 UTC, durations seconds, money decimal strings with currency, ids opaque strings.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, Final, Literal

import msgspec

from inspan.outcome.reasons import Action, Verdict

SCHEMA: Literal["inspan.outcome/1"] = "inspan.outcome/1"


class FacetState(StrEnum):
    """How one side of the work was judged. Anything doubtful is ``not_evidenced``, and that is never success."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_EVIDENCED = "not_evidenced"
    NOT_REQUIRED = "not_required"


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """Base of every stored record: immutable, keyword-only, every field written."""


class Facets(Record, frozen=True, kw_only=True):
    """The judged sides of one outcome."""

    executor: FacetState = FacetState.NOT_EVIDENCED
    scope: FacetState = FacetState.NOT_EVIDENCED
    checks: FacetState = FacetState.NOT_EVIDENCED
    judge: FacetState = FacetState.NOT_REQUIRED
    delivery: FacetState = FacetState.NOT_REQUIRED


class BackendRecord(Record, frozen=True, kw_only=True):
    """Which backend worked. ``model_served`` is what the wire said, None when the wire never named a model."""

    harness: str
    provider: str
    model: str
    harness_version: str | None = None
    model_served: str | None = None


class FileChange(Record, frozen=True, kw_only=True):
    """One changed path. ``path`` is the name as text (surrogate escapes for bytes that are not UTF-8)."""

    path: str
    status: Literal["added", "modified", "deleted", "type_changed", "mode_changed"]
    added: int | None = None
    removed: int | None = None


class Change(Record, frozen=True, kw_only=True):
    """What differs from base. ``result`` is the gate's commit, None when there is none.

    Attributes:
        base: the commit the workspace started from.
        digest: ``sha256:`` over the raw ``git diff-tree -r -z --full-index`` bytes, None when it was never computed.
        added, removed: line counts over text files.
        ignored: paths the base's ignore rules hide; listed, never part of the result.
    """

    base: str
    result: str | None = None
    digest: str | None = None
    added: int = 0
    removed: int = 0
    files: tuple[FileChange, ...] = ()
    ignored: tuple[str, ...] = ()


class Violation(Record, frozen=True, kw_only=True):
    """One thing the gate saw and does not allow, or allows and notes.

    ``level`` is ``reject`` (decides), ``hold`` (a reader is needed) or ``note`` (kept as evidence).
    ``lines`` are the accused lines as shown to people; ``honest`` is the innocent reading beside the accusation.
    """

    path: str
    rule: str
    detail: str = ""
    level: Literal["reject", "hold", "note"] = "reject"
    lines: tuple[str, ...] = ()
    honest: str | None = None


class CheckResult(Record, frozen=True, kw_only=True):
    """One required check on the result.

    Attributes:
        evidence: ``tests`` when a known runner gave per-test results, ``exit`` when only its status is known,
            ``none`` when it could not be run.
        results: how per-test results left the run, strongest first: ``reporter`` (the runner's own, through a reporter
            of ours), ``output`` (what a test program printed, held against its counts and its regular end),
            ``report`` (a file the command writes); None without any.
        base: what the same command did on base.
        exit: exit status on the result; negative for a signal; None when it never ended.
        counts: test outcomes by word (``passed``, ``failed``, ``skipped`` ...), None without per-test results.
        digest: at most 2 KiB of text that explains a failure; None for a check that passed.
        artifact: digest of the full output in the artifact store.
    """

    name: str
    command: str
    state: FacetState = FacetState.NOT_EVIDENCED
    evidence: Literal["tests", "exit", "none"] = "none"
    results: Literal["reporter", "output", "report"] | None = None
    base: Literal["passed", "failed", "unknown"] = "unknown"
    exit: int | None = None
    seconds: float | None = None
    counts: dict[str, int] | None = None
    digest: str | None = None
    artifact: str | None = None


class Claims(Record, frozen=True, kw_only=True):
    """What the harness said. Never evidence: it can lower a verdict and never raise it."""

    summary: str | None = None
    files: tuple[str, ...] = ()
    completed: bool | None = None
    blockers: tuple[str, ...] = ()
    no_change_reason: str | None = None
    notes_for_next: str | None = None


class Usage(Record, frozen=True, kw_only=True):
    """Tokens of one job in normal form: ``input`` is uncached input; ``reasoning`` is a subset of ``output``.

    Attributes:
        source: ``gateway`` (every request's usage was on the wire), ``partial`` (some requests reported none),
            ``none`` (nothing on the wire). With ``none`` all counts are None: unknown is never zero.
        requests: model requests that reached the provider, retries included.
        cost_usd: decimal string, None when the price is unknown.
        harness_reported: what the harness claimed, in the same normal form where it could be mapped.
    """

    source: Literal["gateway", "partial", "none"] = "none"
    requests: int = 0
    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cost_usd: str | None = None
    harness_reported: dict[str, Any] | None = None


EGRESS_WHY: Final[dict[str, str]] = {
    "granted": "allowed: the destination was granted and is reached",
    "not_granted": "refused: nobody granted this host and port",
    "not_global": "refused: one of the name's addresses is not of the public internet",
    "malformed": "refused: not a request for one host and port",
    "method": "refused: not CONNECT",
    "no_token": "refused: without the token of this job, where others can reach the proxy",
    "too_many": "refused: too many connections were open",
    "byte_limit": "refused or cut: the job had sent or received all it may",
    "timeout": "failed: the request's head was not complete in time",
    "unresolved": "failed: the name has no address",
    "unreachable": "failed: no address of the name took the connection",
    "idle": "failed: nothing passed for too long; the connection was closed",
}
"""Why the egress proxy decided as it did."""


class EgressDecision(Record, frozen=True, kw_only=True):
    """What the egress proxy decided about one destination, as often as it was asked the same.

    Attributes:
        host, port: as asked, normalised; None where the request named none.
        why: a word of ``EGRESS_WHY``.
        address: of the last time: what was connected to, or what the name was refused for.
        count: times. sent, received: bytes from and to the inside.
    """

    host: str | None
    port: int | None
    decision: Literal["allowed", "refused", "failed"]
    why: str
    address: str | None = None
    count: int = 0
    sent: int = 0
    received: int = 0


class EgressRecord(Record, frozen=True, kw_only=True):
    """Everything the egress proxy of one process tree decided.

    Attributes:
        granted: destinations, ``host:port``. private: those of them that may lead to an address that is not global.
        connections: connections from the inside, whatever became of them.
        decisions: one per destination and reason, in the order they came up.
        more: decisions that are not listed, because destinations nobody granted were too many.
    """

    granted: tuple[str, ...]
    private: tuple[str, ...] = ()
    connections: int = 0
    sent: int = 0
    received: int = 0
    decisions: tuple[EgressDecision, ...] = ()
    more: int = 0


class IsolationRecord(Record, frozen=True, kw_only=True):
    """How the work was confined. ``proved`` is True only when a probe inside confirmed it before the first prompt.

    Attributes:
        egress: ``gateway`` (the model gateway and nothing else), ``granted`` (further destinations, through the proxy),
            ``open`` (no network of its own).
        connections: what the egress proxy decided; None where none was granted or the runner died with its log.
        setup_connections: the same of each set-up command that ran for this job.
        writable: directories of the host, beside the workspace, that the agent could write to.
    """

    workspace: Literal["overlay", "clone"] | None = None
    sandbox: str | None = None
    egress: str | None = None
    connections: EgressRecord | None = None
    setup_connections: tuple[EgressRecord, ...] = ()
    tools: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    limits: dict[str, str] = msgspec.field(default_factory=dict)
    proved: bool = False
    proof: dict[str, Any] = msgspec.field(default_factory=dict)


class DeliveryRecord(Record, frozen=True, kw_only=True):
    """Where the result went."""

    kind: Literal["branch", "patch", "none"] = "none"
    ref: str | None = None
    commit: str | None = None
    path: str | None = None


class Timing(Record, frozen=True, kw_only=True):
    """Seconds spent per stage."""

    queued: float = 0.0
    prepare: float = 0.0
    execute: float = 0.0
    gate: float = 0.0
    deliver: float = 0.0


class Outcome(Record, frozen=True, kw_only=True):
    """``inspan.outcome/1``. See ``docs/reference/outcome.md`` for every field."""

    job: str
    verdict: Verdict
    reason: str
    reasons: tuple[str, ...]
    required_action: Action
    facets: Facets
    backend: BackendRecord
    schema: Literal["inspan.outcome/1"] = "inspan.outcome/1"
    mission: str | None = None
    phase: str | None = None
    attempt: int = 1
    detail: str | None = None
    change: Change | None = None
    violations: tuple[Violation, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    judgements: tuple[dict[str, Any], ...] = ()
    claims: Claims = Claims()
    contradictions: tuple[str, ...] = ()
    usage: Usage = Usage()
    isolation: IsolationRecord = IsolationRecord()
    delivery: DeliveryRecord = DeliveryRecord()
    timing: Timing = Timing()
    waivers: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    rehearsal: str | None = None
    retry_at: str | None = None
    receipt: str | None = None
    artifacts: dict[str, str] = msgspec.field(default_factory=dict)


def encode(outcome: Outcome) -> bytes:
    """The outcome as one JSON document (UTF-8, no trailing newline).

    Bytes of file names that are not UTF-8 are written as the JSON escapes of their surrogates.
    """
    try:
        return msgspec.json.encode(outcome)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(outcome), separators=(",", ":")).encode("ascii")


def decode(data: bytes | str) -> Outcome:
    """Read an outcome back. Unknown fields of a newer minor version are ignored.

    Raises:
        msgspec.ValidationError: for a document that is not an ``inspan.outcome/1``.
        msgspec.DecodeError: for something that is no JSON document.
    """
    try:
        return msgspec.json.decode(data, type=Outcome)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        try:
            return msgspec.convert(json.loads(data), Outcome)
        except ValueError:  # UnicodeEncodeError, when msgspec cannot say what is wrong, is one as well
            raise msgspec.DecodeError("not a JSON document of an outcome") from None
