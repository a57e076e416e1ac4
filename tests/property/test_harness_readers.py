"""Readers never raise, and never call a run a success that did not end in a terminal record."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspan.harness.claude_code.reader import ClaudeReader
from inspan.harness.codex.reader import CodexReader
from inspan.harness.configured import TextReader
from inspan.harness.vocabulary import TYPES, VocabularyReader

READERS = {"vocabulary": VocabularyReader, "claude": ClaudeReader, "codex": CodexReader, "text": TextReader}
WORDS = [
    *TYPES,
    *("assistant", "user", "result", "system", "init", "api_retry", "thread.started", "turn.started", "turn.completed"),
    *("turn.failed", "item.started", "item.completed", "command_execution", "agent_message", "tool_use", "tool_result"),
]
KEYS = [
    *(
        "type",
        "subtype",
        "message",
        "content",
        "text",
        "name",
        "ok",
        "status",
        "session",
        "usage",
        "modelUsage",
        "item",
    ),
    *("id", "error", "is_error", "result", "terminal_reason", "api_error_status", "permission_denials", "exit_code"),
    *("input", "questions", "input_tokens", "cached_input_tokens", "output_tokens", "model", "parent_tool_use_id"),
]
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=8)
values = st.recursive(
    leaves, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.sampled_from(KEYS), v, max_size=5), max_leaves=12
)
records = st.dictionaries(st.sampled_from(KEYS), values, max_size=6).flatmap(
    lambda d: st.sampled_from(WORDS).map(lambda word: {**d, "type": word})
)
lines = st.one_of(
    records.map(lambda r: json.dumps(r).encode()), values.map(lambda v: json.dumps(v).encode()), st.binary()
)
TERMINAL = (b'"result"', b'"end"', b'"turn.completed"')


@pytest.mark.parametrize("kind", READERS)
@given(
    output=st.lists(lines, max_size=8), errors=st.lists(st.binary(max_size=40), max_size=2), status=st.integers(-9, 2)
)
@settings(max_examples=150, deadline=None)
def test_readers_take_anything(kind: str, output: list[bytes], errors: list[bytes], status: int) -> None:
    reader = READERS[kind]()
    for line in output:
        for event in reader.feed(line):
            assert len(event.text) <= 300
    for line in errors:
        reader.feed_stderr(line)
    ended = reader.terminal()
    ending = reader.finish(status)
    assert reader.skipped >= 0
    assert ended <= ending.complete
    if ending.ok:
        assert any(word in line for line in output for word in TERMINAL)
    if not ending.complete:
        assert ending.ok is None
    json.dumps({f: getattr(ending, f) for f in ending.__struct_fields__})
