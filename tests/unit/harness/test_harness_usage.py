"""Usage in one normal form, however a vendor counts."""

from __future__ import annotations

import json

import pytest

from inspan.harness.claude_code.reader import ClaudeReader
from inspan.harness.codex.reader import CodexReader
from inspan.harness.contract import Ending
from inspan.harness.reading import OutputReader
from inspan.harness.usage import added, exclusive, inclusive, latest
from inspan.harness.vocabulary import VocabularyReader

SAME_WORK = {"input": 5_000, "cache_read": 20_000, "cache_write": 0, "output": 900, "reasoning": 100}


def ending(reader: OutputReader, *records: object) -> Ending:
    for record in records:
        reader.feed(json.dumps(record).encode())
    return reader.finish(0)


def codex_turn(input: int, cached: int, output: int, reasoning: int) -> list[dict]:
    usage = {
        "input_tokens": input,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "reasoning_output_tokens": reasoning,
    }
    return [
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": f"i{input}", "type": "agent_message", "text": "done"}},
        {"type": "turn.completed", "usage": usage},
    ]


def claude_result(**usage: int) -> dict:
    return {"type": "result", "is_error": False, "terminal_reason": "completed", "result": "done", "usage": usage}


def test_cumulative_inclusive_and_exclusive_counts_of_the_same_work_agree() -> None:
    cumulative = ending(CodexReader(), *codex_turn(10_000, 8_000, 400, 40), *codex_turn(25_000, 20_000, 900, 100))
    details = {"output_tokens_details": {"thinking_tokens": 100}}
    counts = {"input_tokens": 5_000, "cache_read_input_tokens": 20_000, "output_tokens": 900, **details}
    exclusive_ = ending(ClaudeReader(), claude_result(**counts))  # type: ignore[arg-type]
    turns = [
        {"type": "usage", "input": 2_000, "cache_read": 8_000, "output": 400, "reasoning": 40},
        {"type": "usage", "input": 3_000, "cache_read": 12_000, "output": 500, "reasoning": 60},
        {"type": "end", "ok": True},
    ]
    per_turn = ending(VocabularyReader(counters="per_turn"), *turns)
    assert cumulative.usage == exclusive_.usage == per_turn.usage == SAME_WORK


def test_a_single_turn_agrees_as_well() -> None:
    assert ending(CodexReader(), *codex_turn(25_000, 20_000, 900, 100)).usage == SAME_WORK


def test_adding_cumulative_counts_would_be_wrong() -> None:
    """Negative control: read with the wrong semantics, the same stream gives another figure."""
    totals = [
        {"type": "usage", "input": 2_000, "cache_read": 8_000, "output": 400},
        {"type": "usage", "input": 5_000, "cache_read": 20_000, "output": 900},
    ]
    right = ending(VocabularyReader(counters="cumulative"), *totals).usage
    wrong = ending(VocabularyReader(counters="per_turn"), *totals).usage
    assert right is not None and right["input"] == 5_000
    assert wrong is not None and wrong["input"] == 7_000


@pytest.mark.parametrize("activity", [{"type": "tool", "name": "bash"}, {"type": "text", "text": "done"}])
def test_zeros_in_spite_of_activity_are_unknown(activity: dict) -> None:
    zeros = {"type": "usage", "input": 0, "output": 0}
    end = {"type": "end", "ok": True}
    assert ending(VocabularyReader(), activity, zeros, end).usage is None
    assert ending(VocabularyReader(), zeros, end).usage == dict.fromkeys(SAME_WORK, 0)
    assert ending(ClaudeReader(), claude_result(input_tokens=0, output_tokens=0)).usage is None


def test_no_counts_are_unknown_and_not_zero() -> None:
    assert ending(VocabularyReader(), {"type": "text", "text": "x"}, {"type": "end", "ok": True}).usage is None
    assert ending(VocabularyReader(counters="none"), {"type": "usage", "input": 5}).usage is None
    assert ending(ClaudeReader(), {"type": "result", "is_error": False, "result": "x"}).usage is None


def test_sub_agents_are_counted() -> None:
    models = {
        "big": {"inputTokens": 10, "outputTokens": 1, "cacheReadInputTokens": 3},
        "small": {"inputTokens": 20, "outputTokens": 2, "cacheCreationInputTokens": 4},
    }
    record = {**claude_result(input_tokens=10, output_tokens=1), "modelUsage": models}
    assert ending(ClaudeReader(), record).usage == {
        "input": 30,
        "cache_read": 3,
        "cache_write": 4,
        "output": 3,
        "reasoning": 0,
    }


@pytest.mark.parametrize("bad", ["5", -5, 5.5, True, None, [5]])
def test_ill_typed_counts_are_not_counts(bad: object) -> None:
    assert ending(VocabularyReader(), {"type": "usage", "input": bad, "output": bad}).usage is None


def test_parts_larger_than_the_whole_are_not_believed() -> None:
    assert inclusive(100, 200, 0, 10) is None
    assert inclusive(100, 60, 40, 10) == exclusive(0, 60, 40, 10)


def test_a_falling_total_is_not_believed() -> None:
    high, low = exclusive(10, 0, 0, 5), exclusive(1, 0, 0, 1)
    assert latest(high, low) == high
    assert latest(low, high) == high
    assert latest(None, low) == low and latest(low, None) == low
    assert added(None, low) == low and added(low, None) == low
