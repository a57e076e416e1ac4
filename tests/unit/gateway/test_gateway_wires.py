"""Each wire read from streams and documents as providers send them."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from wire_samples import CHAT, DOCUMENTS, STREAMS, TOKENS, sse

from inspan.gateway.meter import Meter
from inspan.gateway.request import prepare
from inspan.gateway.wire import WIRES, Reading


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
