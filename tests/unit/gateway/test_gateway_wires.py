"""Each wire read from streams and documents as providers send them."""

from __future__ import annotations

import msgspec
import pytest

from inspan.gateway.meter import Meter
from inspan.gateway.request import prepare
from inspan.gateway.wire import WIRES, Reading


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


def tokens(reading: Reading) -> tuple[int | None, ...]:
    return (reading.input, reading.cache_read, reading.cache_write, reading.output, reading.reasoning)


def read(wire: str, content: bytes, *, strip: bool = False) -> tuple[Meter, bytes]:
    meter = Meter(WIRES[wire], stream=True, strip=strip)
    return meter, meter.feed(content) + meter.finish()


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_is_read_in_normal_form(wire: str) -> None:
    meter, passed = read(wire, STREAMS[wire])
    assert tokens(meter.reading) == TOKENS
    assert (meter.reading.tool_calls, meter.reading.text, meter.reading.finished) == (2, True, True)
    assert (
        meter.reading.model == {"anthropic": "claude-x-1", "openai-chat": "gpt-x", "openai-responses": "gpt-x-2"}[wire]
    )
    assert (
        meter.reading.stop
        == {"anthropic": "tool_use", "openai-chat": "tool_calls", "openai-responses": "completed"}[wire]
    )
    assert not meter.reading.failed
    assert passed == STREAMS[wire]


@pytest.mark.parametrize("wire", WIRES)
def test_form_does_not_matter(wire: str) -> None:
    plain = STREAMS[wire]
    crlf = plain.replace(b"\n", b"\r\n")
    bare = plain.replace(b"data: ", b"data:")
    spaced = plain.replace(b'"usage":{', b'"usage" : {')
    commented = b": keep-alive\n\n" + plain.replace(b"\n\n", b"\n\n: ping\n\n")
    unended = plain.rstrip(b"\n") + b"\n"
    for form in (crlf, bare, spaced, commented, unended):
        meter, passed = read(wire, form)
        assert tokens(meter.reading) == TOKENS
        assert meter.reading.finished
        assert passed == form


def test_a_stream_that_breaks_off_is_not_finished_and_its_broken_frame_is_not_passed() -> None:
    for wire, whole in STREAMS.items():
        last_but_one = whole.rstrip(b"\n").rindex(b"\n\n") + 2
        if wire == "openai-chat":  # a finish reason came: the answer is whole without ``[DONE]``
            last_but_one = whole.index(
                b'data: {"id":"c","model":"gpt-x","choices":[{"index":0,"delta":{},"finish_reason"'
            )
        meter, passed = read(wire, whole[: last_but_one + 9])
        assert not meter.reading.finished, wire
        assert passed == whole[:last_but_one]


def test_chat_usage_is_asked_for_and_exactly_that_chunk_is_taken_out() -> None:
    asked = (
        b'{"model":"gpt-x","stream":true,"messages":[{"role":"user","content":"\\u00e4 \\/"}],"x_unknown":{"a" : 1}}'
    )
    prepared = prepare(WIRES["openai-chat"], asked, "gpt-x")
    assert prepared is not None and prepared.strip and prepared.stream
    assert msgspec.json.decode(prepared.body)["stream_options"] == {"include_usage": True}
    for part in (b'[{"role":"user","content":"\\u00e4 \\/"}]', b'{"a" : 1}'):
        assert part in prepared.body
    meter, passed = read("openai-chat", CHAT, strip=True)
    frames = CHAT.split(b"\n\n")
    usage = next(f for f in frames if b'"usage"' in f)
    assert passed == CHAT.replace(usage + b"\n\n", b"")
    assert tokens(meter.reading) == TOKENS
    # A client that asked itself gets every byte, and one that asked for other options keeps them.
    own = prepare(
        WIRES["openai-chat"], b'{"model":"gpt-x","stream":true,"stream_options":{"include_usage":true}}', "gpt-x"
    )
    assert own is not None and not own.strip and own.body.endswith(b'{"include_usage":true}}')
    other = prepare(WIRES["openai-chat"], b'{"model":"gpt-x","stream":true,"stream_options":{"o":1}}', "gpt-x")
    assert other is not None and msgspec.json.decode(other.body)["stream_options"] == {"o": 1, "include_usage": True}
    plain = prepare(WIRES["openai-chat"], b'{"model":"gpt-x"}', "gpt-x")
    assert plain is not None and not plain.strip and plain.body == b'{"model":"gpt-x"}'


def test_usage_on_the_finish_chunk_is_no_superfluous_chunk() -> None:
    content = sse(
        {
            "model": "m",
            "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2},
        },
        b"[DONE]",
    )
    meter, passed = read("openai-chat", content, strip=True)
    assert passed == content
    assert tokens(meter.reading) == (5, 0, 0, 2, None)


def test_the_model_is_replaced_only_when_it_differs_and_the_rest_stays_as_it_was() -> None:
    body = b'{ "thinking" : {"type":"enabled" }, "model" : "alias", "messages":[ {"signature":"a\\/b=="} ] }'
    same = prepare(WIRES["anthropic"], body, "alias")
    assert same is not None and same.body == body
    other = prepare(WIRES["anthropic"], body, "vendor/real:9b")
    assert other is not None and other.model == "alias"
    assert msgspec.json.decode(other.body)["model"] == "vendor/real:9b"
    assert b'{"type":"enabled" }' in other.body and b'[ {"signature":"a\\/b=="} ]' in other.body
    assert prepare(WIRES["anthropic"], b"[]", "m") is None
    assert prepare(WIRES["anthropic"], b"\xff", "m") is None


DOCUMENTS = {
    "anthropic": {"type": "message", "model": "m", "stop_reason": "tool_use", "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "1", "name": "x", "input": {}}, {"type": "tool_use", "id": "2", "name": "x", "input": {}}], "usage": {"input_tokens": 7, "cache_read_input_tokens": 700, "cache_creation_input_tokens": 300, "output_tokens": 45, "output_tokens_details": {"thinking_tokens": 11}}},
    "openai-chat": {"object": "chat.completion", "model": "m", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"content": "a", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}, {"id": "2", "function": {"name": "f", "arguments": "{}"}}]}}], "usage": {"prompt_tokens": 1007, "completion_tokens": 45, "prompt_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 300}, "completion_tokens_details": {"reasoning_tokens": 11}}},
    "openai-responses": {"object": "response", "model": "m", "status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}, {"type": "function_call", "id": "1"}, {"type": "function_call", "id": "2"}], "usage": {"input_tokens": 1007, "input_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 300}, "output_tokens": 45, "output_tokens_details": {"reasoning_tokens": 11}}},
}  # fmt: skip


@pytest.mark.parametrize("wire", WIRES)
def test_a_document_is_read_in_normal_form(wire: str) -> None:
    meter = Meter(WIRES[wire], stream=False)
    content = msgspec.json.encode(DOCUMENTS[wire])
    assert meter.feed(content[:40]) + meter.feed(content[40:]) + meter.finish() == content
    assert tokens(meter.reading) == TOKENS
    assert (meter.reading.tool_calls, meter.reading.text, meter.reading.model, meter.reading.finished) == (
        2,
        True,
        "m",
        True,
    )


@pytest.mark.parametrize(
    ("wire", "event", "error"),
    [
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, ("overloaded_error", None)),
        ("openai-chat", {"error": {"type": "server_error", "code": 503, "message": "Overloaded"}}, ("server_error", "503")),
        ("openai-responses", {"type": "error", "code": "rate_limit_exceeded", "message": "Overloaded"}, ("error", "rate_limit_exceeded")),
        ("openai-responses", {"type": "response.failed", "response": {"status": "failed", "error": {"code": "context_length_exceeded", "message": "Overloaded"}}}, (None, "context_length_exceeded")),
    ],
)  # fmt: skip
def test_an_error_inside_a_stream_is_seen(
    wire: str, event: dict[str, object], error: tuple[str | None, str | None]
) -> None:
    meter, passed = read(wire, sse(event))
    assert meter.reading.failed
    assert (meter.reading.error_type, meter.reading.error_code, meter.reading.error_message) == (*error, "Overloaded")
    assert passed == sse(event)


@pytest.mark.parametrize("wire", WIRES)
def test_what_we_say_in_a_dialect_reads_as_an_error_in_that_dialect(wire: str) -> None:
    meter, _ = read(wire, WIRES[wire].error_event("broke off"))
    assert meter.reading.error_message == "broke off"
    reading = Reading()
    WIRES[wire].read_body(reading, WIRES[wire].error_body(429, "slow down"))
    assert reading.error_message == "slow down"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "junk", [b"", b"null", b"[1]", b'{"type":7,"usage":[],"choices":{},"response":3,"error":null}', b"\xff\xfe", b"{"]
)
def test_junk_is_passed_and_says_nothing(wire: str, junk: bytes) -> None:
    content = b"data: " + junk + b"\n\n"
    meter, _ = read(wire, content)
    assert tokens(meter.reading) == (None,) * 5 and not meter.reading.finished
    reading = Reading()
    WIRES[wire].read_body(reading, junk)
    assert tokens(reading) == (None,) * 5


def test_counts_that_are_no_counts_stay_unknown() -> None:
    for bad in (True, -1, 1.5, "3", None):
        meter, _ = read("anthropic", sse({"type": "message_delta", "delta": {}, "usage": {"input_tokens": bad}}))
        assert meter.reading.input is None, bad
