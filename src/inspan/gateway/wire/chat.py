"""OpenAI Chat Completions. Cached tokens are inside ``prompt_tokens``, reasoning inside ``completion_tokens``."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from inspan.gateway.wire.reading import Reading, count, document, items, part, word

INFERENCE: Final[str] = "/v1/chat/completions"
PROBES: Final[tuple[str, ...]] = ()

_TYPES: Final = {401: "invalid_request_error", 403: "permission_error", 404: "invalid_request_error", 429: "requests"}


def prepare(fields: dict[str, msgspec.Raw]) -> bool:
    """Ask for usage in a stream when the client did not. ``superfluous`` then names the one chunk to take out."""
    if bytes(fields.get("stream", b"")).strip() != b"true":
        return False
    asked = bytes(fields.get("stream_options", b"null"))
    options = document(asked)
    if options.get("include_usage") is True or (not options and asked.strip() not in (b"null", b"{}")):
        return False
    fields["stream_options"] = msgspec.Raw(msgspec.json.encode({**options, "include_usage": True}))
    return True


def superfluous(data: bytes) -> bool:
    """The trailing usage chunk: usage and no choices. A client that asked for no usage must not see it."""
    chunk = document(data)
    return bool(chunk.get("usage")) and chunk.get("choices") == []


def _usage(reading: Reading, usage: dict[str, Any]) -> None:
    details = part(usage, "prompt_tokens_details")
    read = count(details.get("cached_tokens"))
    reading.inclusive(
        total=count(usage.get("prompt_tokens")),
        read=read if read is not None else count(usage.get("prompt_cache_hit_tokens")),
        written=count(details.get("cache_write_tokens")),
        output=count(usage.get("completion_tokens")),
        reasoning=count(part(usage, "completion_tokens_details").get("reasoning_tokens")),
    )


def _message(reading: Reading, message: dict[str, Any], number: int) -> None:
    if message.get("content") or message.get("refusal"):
        reading.text = True
    for position, call in enumerate(items(message, "tool_calls")):
        # Some servers send every parallel call under index 0: a new id is a new call, a chunk without one continues.
        if call.get("id"):
            reading.call(call["id"])
        elif part(call, "function").get("name"):
            reading.call(f"{number}.{call.get('index', position)}")
    if message.get("function_call"):
        reading.call(f"{number}.function")


def _take(reading: Reading, answer: dict[str, Any], field: str) -> None:
    if answer.get("error"):
        reading.fail(answer["error"])
    reading.model = reading.model or word(answer.get("model"))
    if part(answer, "usage"):
        _usage(reading, part(answer, "usage"))
    for number, choice in enumerate(items(answer, "choices")):
        _message(reading, part(choice, field), number)
        reading.stop = word(choice.get("finish_reason")) or reading.stop
        if choice.get("finish_reason") == "error":
            reading.fail(choice.get("error") or {"type": "error", "message": "finish_reason: error"})


def read_event(reading: Reading, data: bytes) -> None:
    """One stream event. A finish reason ends the answer as ``[DONE]`` does: some servers never send the latter."""
    if data.strip() == b"[DONE]":
        reading.finished = True
        return
    _take(reading, document(data), "delta")
    reading.finished = reading.finished or reading.stop is not None


def read_body(reading: Reading, body: bytes) -> None:
    """A whole answer."""
    answer = document(body)
    _take(reading, answer, "message")
    reading.finished = bool(items(answer, "choices"))


def error_body(status: int, message: str, code: str | None = None) -> bytes:
    """An error answer."""
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return msgspec.json.encode({"error": {"message": message, "type": kind, "param": None, "code": code}})


def error_event(message: str) -> bytes:
    """A stream's error chunk."""
    return b"data: " + error_body(502, message) + b"\n\n"


def models_body(model: str) -> bytes:
    """The one model, as a list."""
    entry = {"id": model, "object": "model", "created": 0, "owned_by": "inspan"}
    return msgspec.json.encode({"object": "list", "data": [entry]})
