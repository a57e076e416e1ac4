"""The kinds of events a job has. The page ``docs/reference/events.md`` says the same; a test compares them."""

from __future__ import annotations

from typing import Final

KINDS: Final[dict[str, str]] = {
    "queued": "The job is stored. `backend`, `level`.",
    "taken_over": "A driver goes on with the job of one that died. `from`, `by`.",
    "preparing": "Base, layers and workspace are made. `base`.",
    "setup": "A set-up command begins. `command`, `number`, `of`.",
    "setup_widened": "Set-up commands that were run with their inputs alone in view are run again on the whole base."
    " `why`.",
    "setup_connections": "A set-up command to which egress was granted has ended. `command`, `connections`.",
    "warning": "Something a person should know; it stands in the outcome's `warnings` too. `text`.",
    "attempt_started": "The attempt's runner is there. `attempt`.",
    "cancel_requested": "A person asked for the end of the job.",
    "attempt_ended": "The terminal record is there. `attempt`, `end`, `detail`.",
    "collected": "The change was read and kept. `files`: how many differ, null when it could not be read.",
    "check": "What the gate is doing. `text`.",
    "gated": "Scope and checks were judged. `scope`, `checks`: facet states, null for checks that did not run.",
    "decided": "The decision, before delivery. `verdict`, `reason`.",
    "delivered": "The result was delivered. `kind`, `ref`, `commit`, `path`.",
    "delivery_failed": "The result could not be delivered. `text`.",
    "ended": "The outcome stands. `verdict`, `reason`.",
}
"""Every kind of a stored event, and what it says."""
