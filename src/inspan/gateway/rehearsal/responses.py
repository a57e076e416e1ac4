"""The scripted model's OpenAI Responses. Pure."""

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
        Result(str(item.get("call_id")), looks_failed(item.get("output")))
        for item in items(request, "input")
        if str(item.get("type", "")).endswith("_call_output")
    ]
    tools = [
        Tool(name=str(t.get("name", "")), schema=part(t, "parameters"), free=t.get("type") == "custom")
        for t in items(request, "tools")
        if t.get("type") in ("function", "custom")
    ]
    wanted = part(part(request, "text"), "format")
    schema = part(wanted, "schema") if wanted.get("type") == "json_schema" else {}
    if wanted.get("type") == "json_object":
        schema = {"type": "object", "required": ["answer"]}
    forced = part(request, "tool_choice").get("name")
    return Conversation(
        model=str(request.get("model", "")),
        stream=request.get("stream") is True,
        tools=tuple(tools),
        results=tuple(results),
        forced=str(forced) if forced else None,
        schema=schema or None,
    )


def _usage(tokens: Tokens) -> dict[str, Any]:
    total = tokens.input + tokens.cache_read + tokens.cache_write
    details = {"cached_tokens": tokens.cache_read}
    if tokens.cache_write:
        details["cache_write_tokens"] = tokens.cache_write
    return {
        "input_tokens": total,
        "input_tokens_details": details,
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": total + tokens.output,
    }


def _output(act: Act) -> list[dict[str, Any]]:
    output: list[dict[str, Any]] = []
    if act.text is not None:
        content = [{"type": "output_text", "text": act.text, "annotations": [], "logprobs": []}]
        message = {"type": "message", "id": f"msg_{uuid.uuid4().hex}", "role": "assistant", "status": "completed"}
        output.append({**message, "content": content})
    if act.call is not None:
        item: dict[str, Any] = {"call_id": act.call_id, "name": act.call.tool.name, "status": "completed"}
        if act.call.tool.free:
            item = {"type": "custom_tool_call", "id": f"ctc_{uuid.uuid4().hex}", **item, "input": act.call.arguments}
        else:
            arguments = msgspec.json.encode(act.call.arguments).decode()
            item = {"type": "function_call", "id": f"fc_{uuid.uuid4().hex}", **item, "arguments": arguments}
        output.append(item)
    return output


def whole(act: Act, model: str, tokens: Tokens) -> dict[str, Any]:
    """An answer as one document."""
    return {
        "id": f"resp_{uuid.uuid4().hex}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": model,
        "output": _output(act),
        "usage": _usage(tokens),
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": False,
        "temperature": 1,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1,
    }


def stream(act: Act, model: str, tokens: Tokens) -> Iterator[bytes]:
    """An answer as frames."""
    answer = whole(act, model, tokens)
    pending = {**answer, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": pending},
        {"type": "response.in_progress", "response": pending},
    ]
    for index, item in enumerate(answer["output"]):
        events += _message(index, item) if item["type"] == "message" else _tool(index, item)
    events.append({"type": "response.completed", "response": answer})
    for number, event in enumerate(events):
        yield sse.encode(msgspec.json.encode({**event, "sequence_number": number}), event["type"])


def _message(index: int, item: dict[str, Any]) -> list[dict[str, Any]]:
    at = {"item_id": item["id"], "output_index": index, "content_index": 0}
    content = item["content"][0]
    deltas = [{"type": "response.output_text.delta", **at, "delta": p, "logprobs": []} for p in pieces(content["text"])]
    return [
        _added(index, {**item, "status": "in_progress", "content": []}),
        {"type": "response.content_part.added", **at, "part": {**content, "text": ""}},
        *deltas,
        {"type": "response.output_text.done", **at, "text": content["text"], "logprobs": []},
        {"type": "response.content_part.done", **at, "part": content},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _tool(index: int, item: dict[str, Any]) -> list[dict[str, Any]]:
    free = item["type"] == "custom_tool_call"
    field = "input" if free else "arguments"
    kind = "response.custom_tool_call_input" if free else "response.function_call_arguments"
    at = {"item_id": item["id"], "output_index": index}
    done = {"type": f"{kind}.done", **at, field: item[field]} | ({} if free else {"name": item["name"]})
    return [
        _added(index, {**item, "status": "in_progress", field: ""}),
        {"type": f"{kind}.delta", **at, "delta": item[field]},
        done,
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _added(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def error(name: str, model: str) -> tuple[int, dict[str, object]]:
    """Status and body of an error."""
    return openai_error(name)
