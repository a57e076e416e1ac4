"""What Claude Code prints. ``subtype`` says "success" on errors too, so it is never read."""

from __future__ import annotations

from typing import Any

from inspan.harness.contract import Event
from inspan.harness.reading import MESSAGE_LIMIT, OutputReader, count, event, items, mapping, status_code, string
from inspan.harness.usage import added, exclusive

ASKING_TOOLS = ("AskUserQuestion",)
"""Tools by which the program asks a person."""


class ClaudeReader(OutputReader):
    """Reads ``stream-json`` lines, the one document of ``--output-format json``, and arrays of either."""

    def __init__(self) -> None:
        super().__init__()
        self._used: dict[str, int] | None = None

    def usage(self) -> dict[str, int] | None:
        """Usage of the last result record; this vendor's input leaves cached tokens out."""
        return self._used

    def read(self, record: dict[str, Any]) -> list[Event]:
        """One record."""
        kind = string(record, "type")
        self.session = string(record, "session_id") or self.session
        if kind == "system":
            return [self._system(record)]
        if kind == "assistant":
            return self._assistant(record)
        if kind == "user":
            return self._results(mapping(record, "message"))
        if kind == "result":
            return [self._result(record)]
        return [event("other", type=kind[:80])]

    def _system(self, record: dict[str, Any]) -> Event:
        subtype = string(record, "subtype")
        if subtype == "init":
            version = string(record, "claude_code_version") or None
            return event("start", string(record, "model"), session=self.session, version=version)
        if subtype == "api_retry":
            return self.saw_error(string(record, "error") or "retrying", status_code(record, "error_status"))
        return event("notice", string(record, "content", "message") or subtype)

    def _assistant(self, record: dict[str, Any]) -> list[Event]:
        message = mapping(record, "message")
        invented = message.get("model") == "<synthetic>"  # an error that the program words as if the model had said it
        within = record.get("parent_tool_use_id") is not None
        events = []
        for block in items(message, "content"):
            kind = string(block, "type")
            if kind == "text" and invented:
                events.append(self.saw_error(string(block, "text")))
            elif kind == "text":
                final = self.message
                events.append(self.saw_text(string(block, "text")))
                self.message = final if within else self.message  # a sub-agent's words are not the answer
            elif kind == "tool_use":
                events.append(self._tool(block))
            else:
                events.append(event("other", type=kind[:80]))
        return events

    def _tool(self, block: dict[str, Any]) -> Event:
        name = string(block, "name")
        given = mapping(block, "input")
        detail = string(given, "file_path", "command", "path", "pattern", "description")
        if name not in ASKING_TOOLS:
            return self.saw_tool(name, f"{name} {detail}".strip())
        question = next((string(q, "question") for q in items(given, "questions")), "")
        self.tools += 1
        self.asked = (question or name)[:2000]
        return event("ask", self.asked, name=name)

    def _results(self, message: dict[str, Any]) -> list[Event]:
        return [
            event("tool_result", _text_of(block), is_error=block.get("is_error") is True)
            for block in items(message, "content")
            if block.get("type") == "tool_result"
        ]

    def _result(self, record: dict[str, Any]) -> Event:
        """The terminal record; a later one replaces an earlier one."""
        reason = string(record, "terminal_reason")
        self.status = status_code(record, "api_error_status")
        self.ok = record.get("is_error") is False and self.status is None and reason in ("", "completed")
        self.complete = True
        said = string(record, "result")
        self._used = _usage(record)
        self.denied = [string(denial, "tool_name") for denial in items(record, "permission_denials")]
        if not self.ok:
            self.error = (said or reason or string(record, "subtype") or "no reason given")[:2000]
        elif said:
            self.message = said[:MESSAGE_LIMIT]
            self.texts = max(self.texts, 1)
        return event("end", said, ok=self.ok, status=self.status, reason=reason or None)


_PER_MODEL = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens", "thinkingTokens")
_MAIN_LOOP = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
    "thinking_tokens",
)


def _text_of(block: dict[str, Any]) -> str:
    return string(block, "content") or " ".join(string(part, "text") for part in items(block, "content"))


def _usage(record: dict[str, Any]) -> dict[str, int] | None:
    """Per model where the record has it, for that includes sub-agents; else the main loop's."""
    total: dict[str, int] | None = None
    for model in mapping(record, "modelUsage").values():
        if isinstance(model, dict):
            total = added(total, _counts(model, _PER_MODEL))
    if total is not None:
        return total
    used = mapping(record, "usage")
    return _counts({**mapping(used, "output_tokens_details"), **used}, _MAIN_LOOP)


def _counts(record: dict[str, Any], keys: tuple[str, ...]) -> dict[str, int] | None:
    return exclusive(*(count(record, key) for key in keys))
