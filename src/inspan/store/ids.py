"""Identifiers: short, sortable by time, safe in file names, in refs and on a command line."""

from __future__ import annotations

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, lower case: nothing looks like another letter
_EPOCH = 1_767_225_600  # 2026-01-01T00:00:00Z
_TICKS = 8  # per second


def _base32(value: int, digits: int) -> str:
    out = ""
    for _ in range(digits):
        value, digit = divmod(value, 32)
        out = _ALPHABET[digit] + out
    return out


def new_job_id(now: float | None = None) -> str:
    """``j``, seven digits of time (eighths of a second, good until 2162) and four random ones.

    Two jobs of the same eighth of a second collide once in a million; the primary key refuses that one.
    """
    ticks = max(0, int(((time.time() if now is None else now) - _EPOCH) * _TICKS))
    return "j" + _base32(ticks % 32**7, 7) + _base32(secrets.randbelow(32**4), 4)


def attempt_id(job: str, n: int) -> str:
    """The id of the ``n``-th attempt of a job, counted from 1: row, directory and fencing token at once."""
    return f"{job}.a{n}"


def new_executor_id() -> str:
    """One per driver, never used again."""
    return "x" + new_job_id()[1:]
