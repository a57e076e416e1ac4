"""Answers as providers send them, one of each wire, all with the same tokens."""

from __future__ import annotations

import msgspec


def sse(*events: object, end: bytes = b"\n") -> bytes:
    out = b""
    for event in events:
        if isinstance(event, bytes):
            out += b"data: " + event + end + end
        else:
            assert isinstance(event, dict)
            name = f"event: {event['type']}".encode() + end if "type" in event else b""
            out += name + b"data: " + msgspec.json.encode(event) + end + end
    return out


ANTHROPIC = sse(
    {"type": "message_start", "message": {"model": "claude-x-1", "usage": {"input_tokens": 7, "cache_read_input_tokens": 700, "cache_creation_input_tokens": 300, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "abc=="}},
    {"type": "ping"},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "größer"}},
    {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
    {"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "id": "t2", "name": "Bash", "input": {}}},
    {"type": "message_delta", "delta": {"stop_reason": None}, "usage": {"output_tokens": 20}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 45, "input_tokens": None, "output_tokens_details": {"thinking_tokens": 11}}},
    {"type": "message_stop"},
)  # fmt: skip
CHAT = sse(
    {"id": "c", "model": "gpt-x", "choices": []},
    {"id": "c", "model": "gpt-x", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
    {"id": "c", "model": "gpt-x", "choices": [{"index": 0, "delta": {"content": "größer"}, "finish_reason": None}]},
    {"id": "c", "model": "gpt-x", "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}, {"index": 0, "id": "b", "function": {"name": "g", "arguments": ""}}]}, "finish_reason": None}]},
    {"id": "c", "model": "gpt-x", "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}, "finish_reason": None}]},
    {"id": "c", "model": "gpt-x", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    {"id": "c", "model": "gpt-x", "choices": [], "usage": {"prompt_tokens": 1007, "completion_tokens": 45, "prompt_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 300}, "completion_tokens_details": {"reasoning_tokens": 11}}},
    b"[DONE]",
)  # fmt: skip
RESPONSES = sse(
    {"type": "response.created", "response": {"id": "r", "model": "gpt-x", "status": "in_progress", "output": [], "usage": None}},
    {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "m", "content": []}},
    {"type": "response.output_text.delta", "item_id": "m", "delta": "größer"},
    {"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "id": "f1", "call_id": "a", "name": "x", "arguments": ""}},
    {"type": "response.output_item.done", "output_index": 1, "item": {"type": "function_call", "id": "f1", "call_id": "a", "name": "x", "arguments": "{}"}},
    {"type": "response.output_item.done", "output_index": 2, "item": {"type": "custom_tool_call", "id": "f2", "call_id": "b", "name": "apply_patch", "input": "*"}},
    {"type": "response.completed", "response": {"id": "r", "model": "gpt-x-2", "status": "completed", "output": [{"type": "function_call", "id": "f1"}, {"type": "custom_tool_call", "id": "f2"}], "usage": {"input_tokens": 1007, "input_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 300}, "output_tokens": 45, "output_tokens_details": {"reasoning_tokens": 11}}}},
)  # fmt: skip
STREAMS = {"anthropic": ANTHROPIC, "openai-chat": CHAT, "openai-responses": RESPONSES}
TOKENS = (7, 700, 300, 45, 11)
DOCUMENTS = {
    "anthropic": {"type": "message", "model": "m", "stop_reason": "tool_use", "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "1", "name": "x", "input": {}}, {"type": "tool_use", "id": "2", "name": "x", "input": {}}], "usage": {"input_tokens": 7, "cache_read_input_tokens": 700, "cache_creation_input_tokens": 300, "output_tokens": 45, "output_tokens_details": {"thinking_tokens": 11}}},
    "openai-chat": {"object": "chat.completion", "model": "m", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"content": "a", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}, {"id": "2", "function": {"name": "f", "arguments": "{}"}}]}}], "usage": {"prompt_tokens": 1007, "completion_tokens": 45, "prompt_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 300}, "completion_tokens_details": {"reasoning_tokens": 11}}},
    "openai-responses": {"object": "response", "model": "m", "status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}, {"type": "function_call", "id": "1"}, {"type": "function_call", "id": "2"}], "usage": {"input_tokens": 1007, "input_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 300}, "output_tokens": 45, "output_tokens_details": {"reasoning_tokens": 11}}},
}  # fmt: skip
