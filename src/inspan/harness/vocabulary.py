"""Inspan's own small event vocabulary, one JSON object a line: what ``bare`` and ``output = "jsonl"`` harnesses print.

Documented in ``docs/reference/harness.md``. A record of an unknown type becomes ``other`` and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from inspan.harness.contract import Event
from inspan.harness.reading import MESSAGE_LIMIT, OutputReader, count, event, status_code, string
from inspan.harness.usage import added, exclusive, latest

Counters = Literal["per_turn", "cumulative", "none"]


class VocabularyReader(OutputReader):
    """Reads the vocabulary. ``counters`` says how the numbers of ``usage`` records are to be added."""

    def __init__(self, *, terminal_record: bool = True, counters: Counters = "per_turn") -> None:
        super().__init__(terminal_record=terminal_record)
        self._counters = counters
        self._used: dict[str, int] | None = None

    def usage(self) -> dict[str, int] | None:
        """The sum or the last total, as ``counters`` says."""
        return self._used

    def read(self, record: dict[str, Any]) -> list[Event]:
        """One record of the vocabulary."""
        kind = string(record, "type")
        read = _READ.get(kind)
        self.session = string(record, "session") or self.session
        return [read(self, record) if read else event("other", type=kind[:80])]

    def _start(self, record: dict[str, Any]) -> Event:
        return event("start", string(record, "text"), session=self.session)

    def _text(self, record: dict[str, Any]) -> Event:
        text = string(record, "text")
        return self.saw_text(text) if text else event("other", type="text")

    def _tool(self, record: dict[str, Any]) -> Event:
        return self.saw_tool(string(record, "name"), string(record, "text"))

    def _tool_result(self, record: dict[str, Any]) -> Event:
        name = string(record, "name")
        if record.get("denied") is True:
            self.denied.append(name)
        return event("tool_result", string(record, "text"), name=name or None, is_error=record.get("ok") is False)

    def _error(self, record: dict[str, Any]) -> Event:
        return self.saw_error(string(record, "message", "text"), status_code(record, "status"))

    def _spent(self, record: dict[str, Any]) -> Event:
        fields = ("input", "cache_read", "cache_write", "output", "reasoning")
        seen = exclusive(*(count(record, field) for field in fields))
        if self._counters == "per_turn":
            self._used = added(self._used, seen)
        elif self._counters == "cumulative":
            self._used = latest(self._used, seen)
        return event("usage", usage=seen)

    def _turn(self, record: dict[str, Any]) -> Event:
        self.ok = None if record.get("ok") is True else False  # a later good turn makes up for a failed one
        return event("turn", ok=record.get("ok") is True)

    def _notice(self, record: dict[str, Any]) -> Event:
        return event("notice", string(record, "text", "message"))

    def _ask(self, record: dict[str, Any]) -> Event:
        self.asked = string(record, "text", "message")[:2000]
        return event("ask", self.asked)

    def _end(self, record: dict[str, Any]) -> Event:
        """The terminal record. A second one, or a failed turn before it, can lower what it says and never raise it."""
        success = record.get("ok") is True
        said = string(record, "message")
        if said and success:
            self.message = said[:MESSAGE_LIMIT]
        elif said or not success:
            self.saw_error(said, status_code(record, "status"))
        self.ok = success and self.ok is not False
        self.complete = True
        return event("end", said, ok=self.ok)


_READ: dict[str, Callable[[VocabularyReader, dict[str, Any]], Event]] = {
    "start": VocabularyReader._start,
    "text": VocabularyReader._text,
    "tool": VocabularyReader._tool,
    "tool_result": VocabularyReader._tool_result,
    "error": VocabularyReader._error,
    "usage": VocabularyReader._spent,
    "turn": VocabularyReader._turn,
    "notice": VocabularyReader._notice,
    "ask": VocabularyReader._ask,
    "end": VocabularyReader._end,
}
TYPES = tuple(_READ)
"""The record types of the vocabulary."""
