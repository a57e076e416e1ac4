"""The scripted model's Anthropic Messages. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import msgspec

from inspan.gateway import sse
from inspan.gateway.rehearsal.faults import FAULTS
from inspan.gateway.rehearsal.scenario import Tokens
from inspan.gateway.rehearsal.script import Act, Conversation, Result
from inspan.gateway.rehearsal.tools import Tool
from inspan.gateway.rehearsal.words import pieces
from inspan.gateway.wire.reading import items, part


def listen(request: dict[str, Any]) -> Conversation:
    """Read a request."""
    results = [
        Result(str(block.get("tool_use_id")), block.get("is_error") is True)
        for message in items(request, "messages")
        for block in items(message, "content")
        if block.get("type") == "tool_result"
    ]
    tools = [Tool(name=str(t.get("name", "")), schema=part(t, "input_schema")) for t in items(request, "tools")]
    choice = part(request, "tool_choice")
    wanted = part(part(request, "output_config"), "format") or part(request, "output_format")
    return Conversation(
        model=str(request.get("model", "")),
        stream=request.get("stream") is True,
        tools=tuple(tools),
        results=tuple(results),
        forced=str(choice.get("name")) if choice.get("type") == "tool" else None,
        schema=part(wanted, "schema") or None,
    )


def _usage(tokens: Tokens) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "input_tokens": tokens.input,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
    }
    if tokens.reasoning:
        usage["output_tokens_details"] = {"thinking_tokens": tokens.reasoning}
    return usage


def whole(act: Act, model: str, tokens: Tokens) -> dict[str, Any]:
    """An answer as one document."""
    content: list[dict[str, Any]] = []
    if act.text is not None:
        content.append({"type": "text", "text": act.text})
    if act.call is not None:
        content.append({"type": "tool_use", "id": act.call_id, "name": act.call.tool.name, "input": act.call.arguments})
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if act.call is not None else "end_turn",
        "stop_sequence": None,
        "usage": _usage(tokens),
    }


def _frame(event: dict[str, Any]) -> bytes:
    return sse.encode(msgspec.json.encode(event), event["type"])


def stream(act: Act, model: str, tokens: Tokens) -> Iterator[bytes]:
    """An answer as frames."""
    message = whole(act, model, tokens)
    begin = {**message, "content": [], "stop_reason": None, "usage": {**_usage(tokens), "output_tokens": 1}}
    yield _frame({"type": "message_start", "message": begin})
    for index, block in enumerate(message["content"]):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        yield _frame({"type": "content_block_start", "index": index, "content_block": empty})
        for delta in _deltas(block):
            yield _frame({"type": "content_block_delta", "index": index, "delta": delta})
        yield _frame({"type": "content_block_stop", "index": index})
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _frame({"type": "message_delta", "delta": end, "usage": _usage(tokens)})
    yield _frame({"type": "message_stop"})


def _deltas(block: dict[str, Any]) -> list[dict[str, Any]]:
    if block["type"] == "text":
        return [{"type": "text_delta", "text": p} for p in pieces(block["text"])]
    return [{"type": "input_json_delta", "partial_json": msgspec.json.encode(block["input"]).decode()}]


def error(name: str, model: str) -> tuple[int, dict[str, Any]]:
    """Status and body of an error."""
    fault = FAULTS[name]
    message = fault.anthropic_message or fault.message
    return fault.status, {"type": "error", "error": {"type": fault.anthropic, "message": message}}
