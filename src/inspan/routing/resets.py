"""When a provider or harness says it will serve again, read from its words. Pure.

Forms seen: ``resets at 3pm (America/New_York)``, ``resets 10:30am``, ``resets Oct 9 at 5am``, ``try again in 2h 30m``,
``try again at 4:05 PM``, ``regain access on 2026-01-01 at 00:00 UTC``, ``limit reached|1767225600``, ISO 8601 times.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

_LEAD: Final = r"(?:reset(?:s|ting)?|regain access|try again|retry|available again|renews?)"
_EPOCH: Final = re.compile(r"(?:limit reached\||reset(?:s|s_at|_at)?\D{1,6})(\d{10})(?:\d{3})?\b", re.I)
_ISO: Final = re.compile(
    _LEAD + r"\D{0,12}(\d{4}-\d\d-\d\d)(?:(?:T| at | )(\d\d:\d\d(?::\d\d)?)(?:\.\d+)?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?", re.I
)
_SPAN: Final = re.compile(_LEAD + r"\s+(?:in|after)\s+((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*(?:and\s+)?)+)", re.I)
_PART: Final = re.compile(
    r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
)
_CLOCK: Final = re.compile(
    _LEAD + r"\s*(?:on|at|:)?\s*"
    r"(?:(?P<month>[a-z]{3})[a-z]*\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s*(?P<year>20\d\d)?,?\s*(?:at\s*)?)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s*(?P<half>am|pm)?\b\s*(?:\(?(?P<zone>UTC|GMT|[A-Z][A-Za-z_]+/[A-Za-z_/+-]+)\)?)?",
    re.I,
)
_MONTHS: Final = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_UNITS: Final = {"m": 60.0, "h": 3600.0, "d": 86400.0, "s": 1.0}


def reset_time(text: str, now: datetime) -> datetime | None:
    """The time a text names, in UTC; None when it names none or one that cannot be.

    Args:
        now: a time with a zone; a clock time without a zone is meant in this one.
    """
    if (found := _EPOCH.search(text)) is not None:
        return datetime.fromtimestamp(int(found[1]), UTC)
    if (found := _ISO.search(text)) is not None:
        return _iso(found[1], found[2], found[3])
    if (found := _SPAN.search(text)) is not None:
        seconds = sum(float(n) * _unit(u) for n, u in _PART.findall(found[1].lower()))
        return (now + timedelta(seconds=seconds)).astimezone(UTC) if seconds else None
    return _clock(found, now) if (found := _CLOCK.search(text)) is not None else None


def _unit(word: str) -> float:
    return 0.001 if word.startswith(("ms", "milli")) else _UNITS[word[0]]


def _iso(day: str, clock: str | None, zone: str | None) -> datetime | None:
    offset = "+00:00" if zone is None or zone.upper() in ("Z", "UTC") else zone
    try:
        return datetime.fromisoformat(f"{day}T{clock or '00:00'}{offset}").astimezone(UTC)
    except ValueError:
        return None


def _local(name: str | None, now: datetime) -> datetime | None:
    """``now`` in the named zone, in its own without a name; None for a zone this machine does not know."""
    if name is None:
        return now
    try:
        return now.astimezone(UTC if name.upper() in ("UTC", "GMT") else ZoneInfo(name))
    except (KeyError, OSError, ValueError):
        return None


def _clock(found: re.Match[str], now: datetime) -> datetime | None:
    half, minute, month = found["half"], found["minute"], found["month"]
    if half is None and minute is None:
        return None  # a lone number after "resets" is no time
    hour = int(found["hour"])
    if half is not None:
        hour = hour % 12 + (12 if half.lower() == "pm" else 0)
    local = _local(found["zone"], now)
    if local is None:
        return None
    try:
        at = local.replace(hour=hour, minute=int(minute or 0), second=0, microsecond=0)
        if month is not None:
            at = at.replace(month=_MONTHS.index(month.lower()) + 1, day=int(found["day"]))
            at = at.replace(year=int(found["year"])) if found["year"] else at
    except ValueError:
        return None
    if at <= local and found["year"] is None:
        at = at.replace(year=at.year + 1) if month is not None else at + timedelta(days=1)
    return at.astimezone(UTC)
