"""What Codex prints with ``--json``. An item of type ``error`` is a warning; ``turn.failed`` is a failure."""

from __future__ import annotations

from typing import Any

from inspan.harness.contract import Event
from inspan.harness.reading import OutputReader, count, event, mapping, string
from inspan.harness.usage import inclusive, latest

TOOL_ITEMS = ("command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call")
_COUNTS = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
)


class CodexReader(OutputReader):
    """Reads thread, turn and item records."""

    def __init__(self) -> None:
        super().__init__()
        self._used: dict[str, int] | None = None
        self._begun: set[str] = set()

    def usage(self) -> dict[str, int] | None:
        """The running total of the thread; this vendor's input includes cached tokens."""
        return self._used

    def read(self, record: dict[str, Any]) -> list[Event]:
        """One record."""
        kind = string(record, "type")
        if kind == "thread.started":
            self.session = string(record, "thread_id") or self.session
            return [event("start", session=self.session)]
        if kind == "turn.started":
            self.complete, self.ok = False, None  # the end is the end of the last turn
            return [event("other", type=kind)]
        if kind in ("item.started", "item.updated", "item.completed"):
            return self._item(mapping(record, "item"), done=kind == "item.completed")
        if kind == "turn.completed":
            return self._completed(mapping(record, "usage"))
        if kind == "turn.failed":
            return self._failed(string(mapping(record, "error"), "message"))
        if kind == "error":
            return [self.saw_error(string(record, "message"))]
        return [event("other", type=kind[:80])]

    def _item(self, item: dict[str, Any], *, done: bool) -> list[Event]:
        kind = string(item, "type")
        if kind in TOOL_ITEMS:
            return self._tool(item, kind, done=done)
        if not done:
            return []
        if kind == "agent_message" and string(item, "text"):
            return [self.saw_text(string(item, "text"))]
        if kind == "error":
            return [event("notice", string(item, "message"))]
        return [event("other", type=kind[:80])]

    def _tool(self, item: dict[str, Any], kind: str, *, done: bool) -> list[Event]:
        events = []
        identity = string(item, "id")
        if not identity or identity not in self._begun:
            self._begun.add(identity)
            events.append(self.saw_tool(string(item, "tool") or kind, string(item, "command", "query")))
        if done:
            status, code = string(item, "status"), count(item, "exit_code")
            if status == "declined":
                self.denied.append(kind)
            failed = status in ("failed", "declined") or bool(code)
            events.append(event("tool_result", string(item, "aggregated_output"), name=kind, is_error=failed))
        return events

    def _completed(self, usage: dict[str, Any]) -> list[Event]:
        seen = inclusive(*(count(usage, key) for key in _COUNTS))
        self._used = latest(self._used, seen)
        self.complete, self.ok = True, True
        return [event("usage", usage=seen), event("end", ok=True)]

    def _failed(self, message: str) -> list[Event]:
        self.saw_error(message)
        self.complete, self.ok = True, False
        return [event("end", message, ok=False, status=self.status)]
