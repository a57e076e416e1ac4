"""The one form in which a time is written: RFC 3339, UTC, milliseconds. As text it sorts as time."""

from __future__ import annotations

from datetime import UTC, datetime


def timestamp(at: datetime | None = None) -> str:
    """``at``, or now, as text like ``2026-01-31T23:59:59.000Z``."""
    return (at or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
