"""Anthropic Messages. Cached tokens are outside ``input_tokens``; ``message_delta`` counters are cumulative."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from inspan.gateway.wire.reading import Reading, count, document, items, part, word

INFERENCE: Final[str] = "/v1/messages"
PROBES: Final[tuple[str, ...]] = ("/v1/messages/count_tokens",)

_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def prepare(fields: dict[str, msgspec.Raw]) -> bool:
    """Nothing has to be changed on this wire."""
    return False


def superfluous(data: bytes) -> bool:
    """Nothing extra was asked for, so nothing is taken out."""
    return False


def _usage(reading: Reading, usage: dict[str, Any]) -> None:
    reading.take(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cache_read=count(usage.get("cache_read_input_tokens")),
        cache_write=count(usage.get("cache_creation_input_tokens")),
        reasoning=count(part(usage, "output_tokens_details").get("thinking_tokens")),
    )


def _block(reading: Reading, block: dict[str, Any], key: object) -> None:
    kind = block.get("type")
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        reading.call(key)
    elif kind == "text" and block.get("text"):
        reading.text = True


def read_event(reading: Reading, data: bytes) -> None:
    """One stream event."""
    event = document(data)
    kind = event.get("type")
    if kind == "message_start":
        message = part(event, "message")
        reading.model = word(message.get("model")) or reading.model
        _usage(reading, part(message, "usage"))
    elif kind == "content_block_start":
        _block(reading, part(event, "content_block"), event.get("index"))
    elif kind == "content_block_delta":
        if part(event, "delta").get("text"):
            reading.text = True
    elif kind == "message_delta":
        reading.stop = word(part(event, "delta").get("stop_reason")) or reading.stop
        _usage(reading, part(event, "usage"))
    elif kind == "message_stop":
        reading.finished = True
    if kind == "error" or event.get("error"):
        reading.fail(event.get("error"))


def read_body(reading: Reading, body: bytes) -> None:
    """A whole answer."""
    answer = document(body)
    if answer.get("error") or answer.get("type") == "error":
        reading.fail(answer.get("error"))
        return
    if answer.get("type") != "message":
        return
    reading.model = word(answer.get("model"))
    reading.stop = word(answer.get("stop_reason"))
    _usage(reading, part(answer, "usage"))
    for number, block in enumerate(items(answer, "content")):
        _block(reading, block, number)
    reading.finished = True


def error_body(status: int, message: str, code: str | None = None) -> bytes:
    """An error answer."""
    kind = code or _TYPES.get(status, "api_error")
    return msgspec.json.encode({"type": "error", "error": {"type": kind, "message": message}})


def error_event(message: str) -> bytes:
    """A stream's error event."""
    return b"event: error\ndata: " + error_body(500, message) + b"\n\n"


def models_body(model: str) -> bytes:
    """The one model, as a list."""
    entry = {"type": "model", "id": model, "display_name": model, "created_at": "1970-01-01T00:00:00Z"}
    return msgspec.json.encode({"data": [entry], "has_more": False, "first_id": model, "last_id": model})
