"""What a driver hands to a runner and what it gets back. Both are files in the attempt's directory."""

from __future__ import annotations

from typing import Literal

import msgspec

from inspan.gateway.contract import Upstream
from inspan.harness.contract import Ending
from inspan.outcome.records import EgressRecord
from inspan.sandbox.contract import Limits
from inspan.workspace.plan import Bind, MountPlan

End = Literal[
    "exited",
    "finished",
    "stalled",
    "deadline",
    "cancelled",
    "output_capped",
    "limit",
    "disk_full",
    "spawn_failed",
    "sandbox_unavailable",
    "crashed",
]
"""How an attempt ended."""


class AttemptRequest(msgspec.Struct, frozen=True, kw_only=True):
    """``request.json``: everything the runner needs but the credential, which it reads from its standard input.

    Attributes:
        attempt: ``<job>.a<n>``.
        harness: registry name; ``harness_config`` holds the user's ``[harnesses.NAME]`` table for a configured one.
        upstream: where model traffic goes.
        deadline: RFC 3339 UTC; absolute, so that a restarted driver cannot extend it.
        stall, request_stall: seconds without progress; seconds a single model request may be in flight.
        level: the sandbox level to use (already decided and probed).
        minimum: the weakest level that is demanded, None without a demand.
        env: environment variables allowed through, already filtered.
        egress, private: see ``Confinement``.
    """

    attempt: str
    harness: str
    model: str
    prompt: str
    plan: MountPlan
    upstream: Upstream
    deadline: str
    stall: float
    level: str
    minimum: str | None = None
    harness_config: dict[str, object] | None = None
    request_stall: float = 1800.0
    tools: tuple[Bind, ...] = ()
    env: dict[str, str] = msgspec.field(default_factory=dict)
    path: str = ""
    limits: Limits = Limits()
    read_only: bool = False
    egress: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    session: str | None = None


class TerminalRecord(msgspec.Struct, frozen=True, kw_only=True):
    """``record.json``: how the attempt ended, as the runner saw it. Written once, by atomic rename.

    Attributes:
        end: ``exited`` (the tree ended by itself), ``finished`` (terminal record seen, tree reaped after the grace),
            ``stalled``, ``deadline``, ``cancelled``, ``output_capped``, ``limit`` (memory, processes, files),
            ``disk_full``, ``spawn_failed``, ``sandbox_unavailable``, ``crashed`` (the runner itself failed).
        detail: for people: the last event of a stall, the limit that was hit, the error of a failed start.
        exit_status: of the harness; negative for a signal; None when unknown. Protocol health only.
        ending: what the harness's output says.
        message: final text of the agent in full (``ending.message`` may be cut in events).
        report: the raw ``inspan.report/1`` document the agent left, at most 64 KiB, None without one.
        survivors: pids of the tree alive after the kill; always empty where there is a pid namespace.
        orphans: processes that had outlived the harness itself and were ended with the tree, by command name.
        proof: evidence of the confinement, taken inside before the first prompt.
        listener: how the harness reached the gateway.
        egress: what the egress proxy decided; None where nothing was granted.
        harness_version: as located.
        skipped: output lines the reader could not understand.
    """

    attempt: str
    end: End
    started: str
    ended: str
    detail: str | None = None
    exit_status: int | None = None
    ending: Ending | None = None
    message: str | None = None
    report: str | None = None
    survivors: tuple[int, ...] = ()
    orphans: tuple[str, ...] = ()
    proof: dict[str, object] = msgspec.field(default_factory=dict)
    held: dict[str, str] = msgspec.field(default_factory=dict)
    listener: str | None = None
    egress: EgressRecord | None = None
    harness_version: str | None = None
    output_bytes: int = 0
    skipped: int = 0
