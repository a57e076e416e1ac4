"""Exit statuses. Defined here and nowhere else; ``docs/reference/cli.md`` is held to it by a test."""

from __future__ import annotations

from typing import Final

from inspan.outcome.reasons import Verdict

EXIT: Final[dict[Verdict, int]] = {
    Verdict.ACCEPTED: 0,
    Verdict.NO_CHANGE: 0,
    Verdict.FAILED: 1,
    Verdict.REJECTED: 3,
    Verdict.UNVERIFIED: 4,
    Verdict.PARKED: 5,
    Verdict.CANCELLED: 130,
}
"""The exit status of ``run`` and ``retry`` by verdict."""

USAGE: Final = 2
"""A usage or configuration error; nothing was started."""
