"""OpenAI Responses. Cached tokens are inside ``input_tokens``, reasoning inside ``output_tokens``."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from inspan.gateway.wire import chat
from inspan.gateway.wire.reading import Reading, count, document, items, part, word

INFERENCE: Final[str] = "/v1/responses"
PROBES: Final[tuple[str, ...]] = ()

_ENDS: Final = ("response.completed", "response.incomplete", "response.failed")


def prepare(fields: dict[str, msgspec.Raw]) -> bool:
    """Nothing has to be changed: usage always comes with the last event."""
    return False


def superfluous(data: bytes) -> bool:
    """Nothing extra was asked for, so nothing is taken out."""
    return False


def _usage(reading: Reading, usage: dict[str, Any]) -> None:
    details = part(usage, "input_tokens_details")
    reading.inclusive(
        total=count(usage.get("input_tokens")),
        read=count(details.get("cached_tokens")),
        written=count(details.get("cache_write_tokens")),
        output=count(usage.get("output_tokens")),
        reasoning=count(part(usage, "output_tokens_details").get("reasoning_tokens")),
    )


def _item(reading: Reading, item: dict[str, Any], key: object) -> None:
    kind = str(item.get("type", ""))
    if kind.endswith("_call"):
        reading.call(item.get("id") or item.get("call_id") or key)
    elif kind == "message" and any(c.get("text") or c.get("refusal") for c in items(item, "content")):
        reading.text = True


def _response(reading: Reading, response: dict[str, Any]) -> None:
    reading.model = word(response.get("model")) or reading.model
    if part(response, "usage"):
        _usage(reading, part(response, "usage"))
    for number, item in enumerate(items(response, "output")):
        _item(reading, item, number)
    if response.get("error"):
        reading.fail(response["error"])
    status = word(response.get("status"))
    if status in ("completed", "incomplete", "failed", "cancelled"):
        reading.stop = word(part(response, "incomplete_details").get("reason")) or status
        if status == "failed":
            reading.fail({"type": "response.failed", "message": "the response failed"})


def read_event(reading: Reading, data: bytes) -> None:
    """One stream event."""
    event = document(data)
    kind = str(event.get("type", ""))
    if kind == "error":
        # The documented event has its fields at the top; some servers nest them.
        reading.fail(part(event, "error") or {k: event.get(k) for k in ("code", "message")} | {"type": "error"})
    elif event.get("error"):
        reading.fail(event["error"])
    if kind in ("response.output_item.added", "response.output_item.done"):
        _item(reading, part(event, "item"), event.get("output_index"))
    elif kind == "response.output_text.delta" and event.get("delta"):
        reading.text = True
    elif part(event, "response"):
        _response(reading, part(event, "response"))
    if kind in _ENDS:
        reading.finished = True


def read_body(reading: Reading, body: bytes) -> None:
    """A whole answer."""
    answer = document(body)
    if answer.get("object") == "response" or "output" in answer:
        _response(reading, answer)
        reading.finished = True
    elif answer.get("error"):
        reading.fail(answer["error"])
    elif answer.get("detail"):
        reading.fail({"type": "error", "message": str(answer["detail"])})


error_body = chat.error_body
models_body = chat.models_body


def error_event(message: str) -> bytes:
    """A stream's failure, in the form clients of this wire end a turn on."""
    response = {"id": "", "object": "response", "status": "failed", "output": []}
    failure = {**response, "error": {"code": "server_error", "message": message}}
    data = msgspec.json.encode({"type": "response.failed", "sequence_number": 0, "response": failure})
    return b"event: response.failed\ndata: " + data + b"\n\n"
