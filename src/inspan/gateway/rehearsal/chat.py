"""The scripted model's OpenAI Chat Completions. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import msgspec

from inspan.gateway import sse
from inspan.gateway.rehearsal.faults import openai_error
from inspan.gateway.rehearsal.scenario import Tokens
from inspan.gateway.rehearsal.script import Act, Conversation, Result
from inspan.gateway.rehearsal.tools import Tool
from inspan.gateway.rehearsal.words import looks_failed, pieces
from inspan.gateway.wire.reading import items, part


def listen(request: dict[str, Any]) -> Conversation:
    """Read a request."""
    results = [
        Result(str(m.get("tool_call_id")), looks_failed(m.get("content")))
        for m in items(request, "messages")
        if m.get("role") in ("tool", "function")
    ]
    tools = [
        Tool(name=str(f.get("name", "")), schema=part(f, "parameters"))
        for t in items(request, "tools")
        if (f := part(t, "function"))
    ]
    wanted = part(request, "response_format")
    schema = part(part(wanted, "json_schema"), "schema") if wanted.get("type") == "json_schema" else {}
    if wanted.get("type") == "json_object":
        schema = {"type": "object", "required": ["answer"]}
    forced = part(part(request, "tool_choice"), "function").get("name")
    return Conversation(
        model=str(request.get("model", "")),
        stream=request.get("stream") is True,
        tools=tuple(tools),
        results=tuple(results),
        forced=str(forced) if forced else None,
        schema=schema or None,
    )


def _usage(tokens: Tokens) -> dict[str, Any]:
    prompt = tokens.input + tokens.cache_read + tokens.cache_write
    details = {"cached_tokens": tokens.cache_read}
    if tokens.cache_write:
        details["cache_write_tokens"] = tokens.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": tokens.output,
        "total_tokens": prompt + tokens.output,
        "prompt_tokens_details": details,
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }


def _call(act: Act) -> dict[str, Any]:
    assert act.call is not None
    arguments = msgspec.json.encode(act.call.arguments).decode()
    return {"id": act.call_id, "type": "function", "function": {"name": act.call.tool.name, "arguments": arguments}}


def whole(act: Act, model: str, tokens: Tokens) -> dict[str, Any]:
    """An answer as one document."""
    message: dict[str, Any] = {"role": "assistant", "content": act.text}
    if act.call is not None:
        message["tool_calls"] = [_call(act)]
    finish = "tool_calls" if act.call is not None else "stop"
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _usage(tokens),
    }


def stream(act: Act, model: str, tokens: Tokens) -> Iterator[bytes]:
    """An answer as frames. The usage chunk always comes: the gateway asks for it."""
    base = {
        "id": f"chatcmpl-{uuid.uuid4().hex[:24]}",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": model,
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return sse.encode(msgspec.json.encode({**base, "choices": [choice]}))

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(act.text) if act.text is not None else []:
        yield chunk({"content": piece})
    if act.call is not None:
        yield chunk({"tool_calls": [{"index": 0, **_call(act)}]})
    yield chunk({}, "tool_calls" if act.call is not None else "stop")
    yield sse.encode(msgspec.json.encode({**base, "choices": [], "usage": _usage(tokens)}))
    yield sse.encode(b"[DONE]")


def error(name: str, model: str) -> tuple[int, dict[str, object]]:
    """Status and body of an error."""
    return openai_error(name)
