"""Chunk borders never change what is metered nor one byte of what is passed on."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspan.gateway.meter import Meter
from inspan.gateway.rehearsal import anthropic, chat, responses
from inspan.gateway.rehearsal.scenario import Tokens, Write
from inspan.gateway.rehearsal.script import Act
from inspan.gateway.rehearsal.tools import Tool, call
from inspan.gateway.wire import WIRES

DIALECTS = {"anthropic": anthropic, "openai-chat": chat, "openai-responses": responses}
TOOLS = (Tool(name="write_file", schema={"properties": {"path": {}, "content": {}}}),)


def answer(wire: str, text: str, crlf: bool, comments: bool) -> bytes:
    act = Act(text=text, call=call(Write("a.txt", text), TOOLS, None), call_id="call_0_write_0")
    frames = list(DIALECTS[wire].stream(act, "m", Tokens(input=3, cache_read=5, cache_write=7, output=11, reasoning=2)))
    content = (b": still here\n\n" if comments else b"").join(frames)
    return content.replace(b"\n", b"\r\n") if crlf else content


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=150, deadline=None)
@given(
    text=st.text(alphabet='aé漢😀 \n\r"\\:', max_size=20),
    crlf=st.booleans(),
    comments=st.booleans(),
    strip=st.booleans(),
    cuts=st.lists(st.integers(min_value=0, max_value=4000), max_size=40),
)
def test_rechunking_changes_nothing(
    wire: str, text: str, crlf: bool, comments: bool, strip: bool, cuts: list[int]
) -> None:
    content = answer(wire, text, crlf, comments)
    whole = Meter(WIRES[wire], stream=True, strip=strip)
    passed = whole.feed(content) + whole.finish()
    pieces = Meter(WIRES[wire], stream=True, strip=strip)
    at = sorted({0, len(content), *(c for c in cuts if c < len(content))})
    split = b"".join(pieces.feed(content[a:b]) for a, b in pairwise(at)) + pieces.finish()
    assert split == passed
    assert msgspec.structs.asdict(pieces.reading) == msgspec.structs.asdict(whole.reading)
    if not (strip and wire == "openai-chat"):
        assert passed == content
    reading = whole.reading
    assert (reading.input, reading.cache_read, reading.cache_write, reading.output, reading.reasoning) == (
        3,
        5,
        7,
        11,
        2,
    )
    assert reading.finished and reading.tool_calls == 1


@settings(max_examples=100, deadline=None)
@given(junk=st.binary(max_size=200), cuts=st.lists(st.integers(min_value=0, max_value=200), max_size=10))
def test_any_bytes_pass(junk: bytes, cuts: list[int]) -> None:
    """A plain body is passed whatever it is; nothing raises on a stream of rubbish."""
    at = sorted({0, len(junk), *(c for c in cuts if c < len(junk))})
    pieces = [junk[a:b] for a, b in pairwise(at)]
    for wire in WIRES.values():
        meter = Meter(wire, stream=False)
        assert b"".join(meter.feed(p) for p in pieces) + meter.finish() == junk
        stream = Meter(wire, stream=True)
        assert junk.startswith(b"".join(stream.feed(p) for p in pieces) + stream.finish())
