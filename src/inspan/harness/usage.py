"""Token usage in normal form: ``input`` is uncached, ``reasoning`` is a part of ``output``.

Vendors count differently: some include cached tokens in the input, some do not; some print a running total, some the
share of each turn. Each adapter says which, and everything above sees only the normal form.
"""

from __future__ import annotations

FIELDS = ("input", "cache_read", "cache_write", "output", "reasoning")


def exclusive(
    input: int | None,
    cache_read: int | None,
    cache_write: int | None,
    output: int | None,
    reasoning: int | None = None,
) -> dict[str, int] | None:
    """Normal form of counts whose input leaves cached tokens out. None when there is neither input nor output."""
    if input is None and output is None:
        return None
    return {
        "input": input or 0,
        "cache_read": cache_read or 0,
        "cache_write": cache_write or 0,
        "output": output or 0,
        "reasoning": reasoning or 0,
    }


def inclusive(
    input: int | None,
    cache_read: int | None,
    cache_write: int | None,
    output: int | None,
    reasoning: int | None = None,
) -> dict[str, int] | None:
    """Normal form of counts whose input includes cached tokens. None also when the parts exceed the whole."""
    uncached = None if input is None else input - (cache_read or 0) - (cache_write or 0)
    if uncached is not None and uncached < 0:
        return None
    return exclusive(uncached, cache_read, cache_write, output, reasoning)


def added(total: dict[str, int] | None, turn: dict[str, int] | None) -> dict[str, int] | None:
    """The sum of two usages in normal form; an unknown one leaves the other as it is."""
    if total is None or turn is None:
        return total if turn is None else turn
    return {field: total[field] + turn[field] for field in FIELDS}


def latest(total: dict[str, int] | None, seen: dict[str, int] | None) -> dict[str, int] | None:
    """The later reading of a running total; a total never falls, so a lower reading is not believed."""
    if total is None or seen is None:
        return total if seen is None else seen
    return seen if sum(seen.values()) >= sum(total.values()) else total
