"""The states a job passes and which may follow which. Pure.

A job ends in the state named by its verdict. Every state that is not an end can reach every end: whatever happens,
there is somebody who can write the last word.
"""

from __future__ import annotations

from typing import Final

from inspan.outcome.reasons import Verdict

QUEUED, PREPARING, RUNNING, GATING, DELIVERING = "queued", "preparing", "running", "gating", "delivering"

STAGES: Final = (QUEUED, PREPARING, RUNNING, GATING, DELIVERING)
"""States of a job that has not ended, in the order of its life."""

ENDS: Final = frozenset(verdict.value for verdict in Verdict)
"""States of a job that has ended. Nothing follows them; a retry is a new job."""

LEGAL: Final[dict[str, frozenset[str]]] = {
    QUEUED: frozenset({PREPARING}) | ENDS,
    PREPARING: frozenset({RUNNING}) | ENDS,
    RUNNING: frozenset({GATING}) | ENDS,
    GATING: frozenset({DELIVERING}) | ENDS,
    DELIVERING: ENDS,
    **{end: frozenset() for end in ENDS},
}
"""What may follow each state. Staying is always legal: a step that is run again enters its state again."""
