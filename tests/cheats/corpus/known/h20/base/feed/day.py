"""Days."""

import datetime


def is_today(record):
    """Whether a record is of today (UTC)."""
    return datetime.date.fromtimestamp(record.at) == datetime.date.today()
