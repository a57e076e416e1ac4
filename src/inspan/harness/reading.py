"""What every reader of a harness's output shares: typed looks into records, errors and statuses, the ending."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

from inspan.harness.contract import Ending, Event, EventKind
from inspan.harness.documents import Documents

EVENT_TEXT = 300
"""Most characters of text in one event."""
MESSAGE_LIMIT = 1 << 20
"""Most characters kept of the agent's final message."""


def string(record: dict[str, Any], *keys: str) -> str:
    """The first of ``keys`` that holds a non-empty string, else the empty string."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def mapping(record: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under ``key``; an empty one when there is none."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def items(record: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects in the array under ``key``."""
    value = record.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count(record: dict[str, Any], key: str) -> int | None:
    """The non-negative whole number under ``key``, None for anything else."""
    value = record.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def status_code(record: dict[str, Any], key: str) -> int | None:
    """The HTTP status under ``key``, None when it is not one."""
    value = count(record, key)
    return value if value is not None and 100 <= value <= 599 else None


_STATUS = re.compile(r"\b(?:status(?: code)?:?|Error:|HTTP)\s*([45]\d\d)\b|\(([45]\d\d)\)", re.IGNORECASE)


def status_in(text: str) -> int | None:
    """The HTTP status that an error text names (``unexpected status 401``, ``API Error: 500``, ``(429)``)."""
    found = _STATUS.search(text[:2000])
    return int(found.group(1) or found.group(2)) if found else None


def short(text: str) -> str:
    """``text`` on one line, cut to what fits an event."""
    line = " ".join(text[: 4 * EVENT_TEXT].split())
    return line if len(line) <= EVENT_TEXT else line[: EVENT_TEXT - 1] + "…"


def event(kind: EventKind, text: str = "", **data: Any) -> Event:
    """An event with its text cut to size and without empty facts."""
    return Event(kind=kind, text=short(text), data={k: v for k, v in data.items() if v is not None})


class OutputReader(ABC):
    """What every reader keeps; a subclass says in ``read`` what one record of its program means.

    Args:
        terminal_record: whether the program ends its output with a terminal record. Without one, exit status 0 is the
            end and says nothing about success.
    """

    def __init__(self, *, terminal_record: bool = True) -> None:
        self.skipped = 0
        self.complete = False
        self.ok: bool | None = None
        self.message: str | None = None
        self.error: str | None = None
        self.status: int | None = None
        self.denied: list[str] = []
        self.asked: str | None = None
        self.session: str | None = None
        self.tools = 0
        self.texts = 0
        self._terminal_record = terminal_record
        self._documents = Documents()
        self._last_stderr = ""

    @abstractmethod
    def read(self, record: dict[str, Any]) -> list[Event]:
        """What one record means. Must accept any object."""

    def usage(self) -> dict[str, int] | None:
        """Usage in normal form, None when the program reported none."""
        return None

    def feed(self, line: bytes) -> list[Event]:
        """One line of standard output, without its newline."""
        return self._read_all(self._documents.feed(line))

    def feed_stderr(self, line: bytes) -> list[Event]:
        """One line of standard error; the last one explains a run that left no record."""
        text = line.decode("utf-8", "replace").strip()
        if not text:
            return []
        self._last_stderr = text[:2000]
        return [event("notice", text, stream="stderr")]

    def terminal(self) -> bool:
        """Whether the terminal record has been seen."""
        return self._terminal_record and self.complete

    def finish(self, exit_status: int | None) -> Ending:
        """The ending, once the output is complete."""
        self._read_all(self._documents.finish())
        if not self._terminal_record:
            self.complete = exit_status == 0
        if not self.complete and self.error is None:
            self.error = self._last_stderr or None
        if self.ok is True and self.complete:
            self.error = self.status = None  # the program recovered from what it reported on the way
        return Ending(
            complete=self.complete,
            ok=self.ok if self.complete else None,
            message=self.message,
            error=self.error,
            status=self.status,
            denied=tuple(self.denied),
            asked=self.asked,
            usage=self._reported_usage(),
            session=self.session,
            tools=self.tools,
            texts=self.texts,
        )

    def saw_text(self, text: str) -> Event:
        """Count one message of the agent; the last one is its final message."""
        self.texts += 1
        self.message = text[:MESSAGE_LIMIT]
        return event("text", text)

    def saw_tool(self, name: str, detail: str = "") -> Event:
        """Count one tool call."""
        self.tools += 1
        return event("tool", detail or name, name=name or None)

    def saw_error(self, text: str, status: int | None = None) -> Event:
        """Note an error. One that names a status is more specific than one that does not; else the later one counts."""
        status = status if status is not None else status_in(text)
        if status is not None or self.status is None:
            self.error, self.status = text[:2000] or self.error, status
        return event("error", text, status=status)

    def _reported_usage(self) -> dict[str, int] | None:
        usage = self.usage()
        if usage is not None and not any(usage.values()) and (self.tools or self.texts):
            return None  # zeros in spite of activity: the program did not count
        return usage

    def _read_all(self, records: list[dict[str, Any]]) -> list[Event]:
        events = [event for record in records for event in self.read(record)]
        self.skipped = self._documents.skipped
        return events
