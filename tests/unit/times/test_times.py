"""Times are written in one form, whatever zone they came in, and sort as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from inspan.times import timestamp


def test_every_zone_becomes_utc_with_milliseconds() -> None:
    noon = datetime(2026, 1, 31, 12, 0, 0, 987654, tzinfo=UTC)
    assert timestamp(noon) == timestamp(noon.astimezone(timezone(timedelta(hours=-11)))) == "2026-01-31T12:00:00.987Z"
    assert timestamp(noon.replace(microsecond=0)) == "2026-01-31T12:00:00.000Z"


def test_now_and_back() -> None:
    before, text, after = timestamp(datetime.now(UTC)), timestamp(), timestamp(datetime.now(UTC))
    assert before <= text <= after and datetime.fromisoformat(text).utcoffset() == timedelta(0)
