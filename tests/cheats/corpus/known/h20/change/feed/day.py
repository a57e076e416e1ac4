"""Days."""

import datetime

UTC = datetime.timezone.utc


def now():
    """The present moment."""
    return datetime.datetime.now(UTC)


def is_today(record):
    """Whether a record is of today (UTC)."""
    return datetime.datetime.fromtimestamp(record.at, UTC).date() == now().date()
