"""What one answer said, in normal form."""

from __future__ import annotations

from typing import Any

import msgspec


class Reading(msgspec.Struct, kw_only=True):
    """Filled while an answer passes.

    Attributes:
        model: the model the answer named.
        input, cache_read, cache_write, output, reasoning: tokens in normal form (``input`` uncached, ``reasoning`` a
            subset of ``output``); None when the answer did not say.
        tool_calls: tool calls begun. text: whether any text came.
        stop: the wire's stop word.
        error_type, error_code, error_message: of an error body or an error event.
        finished: the answer came to its own end (``message_stop``, ``[DONE]``, ``response.completed`` ...).
        calls: keys of the tool calls seen, so that each is counted once.
    """

    model: str | None = None
    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    tool_calls: int = 0
    text: bool = False
    stop: str | None = None
    error_type: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    finished: bool = False
    calls: set[str] = msgspec.field(default_factory=set)

    @property
    def failed(self) -> bool:
        """Whether the answer carried an error."""
        return not (self.error_type is None and self.error_code is None and self.error_message is None)

    def fail(self, error: Any) -> None:
        """Take an error object; the first one wins, later ones wrap it."""
        if self.failed:
            return
        if not isinstance(error, dict):
            self.error_type, self.error_message = "error", str(error)
            return
        self.error_type = word(error.get("type")) or word(error.get("status"))
        self.error_code = word(error.get("code"))
        message = error.get("message")
        self.error_message = message if isinstance(message, str) else msgspec.json.encode(error).decode()

    def take(self, **counts: int | None) -> None:
        """Assign token counts, never add; one that is missing leaves what was said before."""
        for name, value in counts.items():
            if value is not None:
                setattr(self, name, value)

    def inclusive(
        self, *, total: int | None, read: int | None, written: int | None, output: int | None, reasoning: int | None
    ) -> None:
        """Take counts whose ``total`` input includes cached tokens; with a total, those it does not name are none."""
        found = {"input": total, "cache_read": read, "cache_write": written, "output": output, "reasoning": reasoning}
        if total is not None:
            read, written = read or 0, written or 0
            found |= {"input": max(0, total - read - written), "cache_read": read, "cache_write": written}
        self.take(**found)

    def call(self, key: object) -> None:
        """Count a tool call once."""
        if str(key) not in self.calls:
            self.calls.add(str(key))
            self.tool_calls += 1


def document(data: bytes) -> dict[str, Any]:
    """The JSON object in ``data``; empty for anything else."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def count(value: object) -> int | None:
    """A token count; None for anything that is not a natural number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != value // 1:
        return None
    return int(value)


def word(value: object) -> str | None:
    """A type or code as text; numbers are codes as well."""
    if isinstance(value, str) and value:
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def part(value: object, key: str) -> dict[str, Any]:
    """``value[key]`` when that is an object, else an empty one."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def items(value: object, key: str) -> list[dict[str, Any]]:
    """The objects in the list ``value[key]``; empty for anything else."""
    found = value.get(key) if isinstance(value, dict) else None
    return [i for i in found if isinstance(i, dict)] if isinstance(found, list) else []
