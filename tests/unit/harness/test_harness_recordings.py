"""Every recorded output of the real programs is read to the right ending, whole, cut and rearranged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspan.harness.claude_code.reader import ClaudeReader
from inspan.harness.codex.reader import CodexReader
from inspan.harness.contract import Ending, Event
from inspan.harness.reading import OutputReader

RECORDINGS = Path(__file__).parent / "recordings"
READERS = {"claude-code": ClaudeReader, "codex": CodexReader}
USED = {"input": 200, "cache_read": 0, "cache_write": 0, "output": 20, "reasoning": 0}
HALF = {**USED, "input": 100, "output": 10}
ZERO = dict.fromkeys(USED, 0)

# recording: ok, message, status, a part of the error, tools, texts, usage
EXPECTED = {
    "claude-code/success": (True, "done", None, None, 0, 1, USED),
    "claude-code/success-stream": (True, "done", None, None, 1, 1, USED),
    "claude-code/read-only-stream": (True, "done", None, None, 1, 1, USED),
    "claude-code/success-text": (None, None, None, "unrecognized_model", 0, 0, None),
    "claude-code/text-only": (True, "done", None, None, 0, 1, HALF),
    "claude-code/permission-denied": (True, "done", None, None, 0, 1, USED),
    "claude-code/error-400-context": (False, None, 400, "Prompt is too long", 0, 0, ZERO),
    "claude-code/error-401": (False, None, 401, "Failed to authenticate", 0, 0, ZERO),
    "claude-code/error-404": (False, None, 404, "issue with the selected model", 0, 0, ZERO),
    "claude-code/error-429": (False, None, 429, "Rate limit reached", 0, 0, ZERO),
    "claude-code/error-429-stream": (False, None, 429, "Rate limit reached", 0, 0, ZERO),
    "claude-code/error-500": (False, None, 500, "Internal server error", 0, 0, ZERO),
    "claude-code/drop-stream": (False, None, None, "Connection dropped", 0, 0, ZERO),
    "codex/success": (True, "done", None, None, 1, 1, USED),
    "codex/success-text": (None, None, None, "220", 0, 0, None),
    "codex/text-only": (True, "done", None, None, 0, 1, HALF),
    "codex/permission-denied": (True, "done", None, None, 0, 1, USED),
    "codex/error-400-context": (False, None, None, "ran out of room", 0, 0, None),
    "codex/error-401": (False, None, 401, "unexpected status 401", 0, 0, None),
    "codex/error-404": (False, None, None, "does not exist", 0, 0, None),
    "codex/error-429": (False, None, 429, "last status: 429", 0, 0, None),
    "codex/error-500": (False, None, None, "high demand", 0, 0, None),
    "codex/drop": (False, None, None, "stream disconnected", 0, 0, None),
}
WHOLE = [name for name, row in EXPECTED.items() if row[0] is not None]


def lines_of(name: str, suffix: str = "stdout") -> list[bytes]:
    return (RECORDINGS / f"{name}.{suffix}").read_bytes().splitlines()


def exit_of(name: str) -> int:
    return json.loads((RECORDINGS / f"{name}.json").read_text())["exit_code"]


def play(
    reader: OutputReader, stdout: list[bytes], stderr: list[bytes], status: int | None
) -> tuple[Ending, list[Event]]:
    events = [event for line in stdout for event in reader.feed(line)]
    events += [event for line in stderr for event in reader.feed_stderr(line)]
    return reader.finish(status), events


def reader_for(name: str) -> OutputReader:
    return READERS[name.partition("/")[0]]()


def read(name: str, stdout: list[bytes] | None = None, status: int | None = 0) -> Ending:
    lines = lines_of(name) if stdout is None else stdout
    return play(reader_for(name), lines, lines_of(name, "stderr"), status)[0]


def test_the_table_names_every_recording() -> None:
    recorded = {str(p.relative_to(RECORDINGS).with_suffix("")) for p in RECORDINGS.glob("*/*.stdout")}
    assert recorded == set(EXPECTED)
    assert len(recorded) == 23


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("lie", [False, True], ids=["real-exit", "other-exit"])
def test_ending(name: str, lie: bool) -> None:
    ok, message, status, error, tools, texts, usage = EXPECTED[name]
    ending = read(name, status=int(not exit_of(name)) if lie else exit_of(name))
    assert (ending.ok, ending.message, ending.status) == (ok, message, status)
    assert ending.complete is (ok is not None)
    assert (ending.error is None) if error is None else error in (ending.error or "")
    assert (ending.tools, ending.texts, ending.usage) == (tools, texts, usage)


def test_denied_tools_are_the_only_sign_of_a_missing_permission() -> None:
    assert read("claude-code/permission-denied").denied == ("Write",)
    assert read("claude-code/success").denied == ()


@pytest.mark.parametrize("name", WHOLE)
def test_sessions(name: str) -> None:
    session = read(name).session
    assert session is not None and len(session) == 36


@pytest.mark.parametrize("name", EXPECTED)
def test_cut_at_every_line_is_never_a_success(name: str) -> None:
    lines = lines_of(name)
    for kept in range(len(lines)):
        ending = read(name, lines[:kept])
        assert not ending.complete and ending.ok is None, f"after {kept} of {len(lines)} lines"


@pytest.mark.parametrize("name", EXPECTED)
def test_cut_inside_the_last_line_is_never_a_success(name: str) -> None:
    lines = lines_of(name)
    last = lines[-1]
    for kept in {0, 1, 2, len(last) // 3, len(last) // 2, len(last) - 2, len(last) - 1}:
        ending = read(name, [*lines[:-1], last[: max(kept, 0)]])
        assert not ending.complete and ending.ok is None


def as_array(documents: list[object]) -> list[bytes]:
    return [json.dumps(documents).encode()]


def as_array_lines(documents: list[object]) -> list[bytes]:
    return [b"[", *(json.dumps(d).encode() + b"," for d in documents[:-1]), json.dumps(documents[-1]).encode(), b"]"]


def as_pretty(documents: list[object]) -> list[bytes]:
    return [line for d in documents for line in json.dumps(d, indent=2).encode().splitlines()]


def as_pretty_array(documents: list[object]) -> list[bytes]:
    return json.dumps(documents, indent=1).encode().splitlines()


def with_banner(documents: list[object]) -> list[bytes]:
    return [b"v22.4.0 is active", b"[update] 9.9 is out", *(json.dumps(d).encode() for d in documents)]


def with_banner_in_line(documents: list[object]) -> list[bytes]:
    first, *rest = (json.dumps(d).encode() for d in documents)
    return [b"\x1b[32mnow using node v22\x1b[0m " + first, *rest]


def with_broken_lines(documents: list[object]) -> list[bytes]:
    return [line for d in documents for line in (b'{"type": "assist', json.dumps(d).encode())]


@pytest.mark.parametrize("form", [as_array, as_array_lines, as_pretty, as_pretty_array])
@pytest.mark.parametrize("name", WHOLE)
def test_other_framings_read_the_same(name: str, form) -> None:
    documents = [json.loads(line) for line in lines_of(name)]
    reader = reader_for(name)
    ending, _ = play(reader, form(documents), [], exit_of(name))
    assert ending == play(reader_for(name), lines_of(name), [], exit_of(name))[0]
    assert reader.skipped == 0


@pytest.mark.parametrize(("form", "skipped"), [(with_banner, 2), (with_banner_in_line, 0), (with_broken_lines, None)])
@pytest.mark.parametrize("name", WHOLE)
def test_noise_is_counted_and_changes_nothing(name: str, form, skipped: int | None) -> None:
    documents = [json.loads(line) for line in lines_of(name)]
    reader = reader_for(name)
    ending, _ = play(reader, form(documents), [], exit_of(name))
    assert ending == play(reader_for(name), lines_of(name), [], exit_of(name))[0]
    assert reader.skipped == (len(documents) if skipped is None else skipped)


def test_events_of_a_run() -> None:
    kinds = [e.kind for e in play(ClaudeReader(), lines_of("claude-code/success-stream"), [], 0)[1]]
    assert kinds == ["start", "tool", "tool_result", "text", "end"]
    kinds = [e.kind for e in play(CodexReader(), lines_of("codex/success"), [], 0)[1]]
    assert kinds == ["start", "notice", "other", "tool", "tool_result", "text", "usage", "end"]


def test_an_error_worded_as_an_answer_is_no_activity() -> None:
    lines = lines_of("claude-code/error-429-stream")
    assert any(b'"<synthetic>"' in line for line in lines)
    ending, events = play(ClaudeReader(), lines, [], 1)
    assert (ending.texts, ending.tools) == (0, 0)
    assert [e.data.get("status") for e in events if e.kind == "error"][:2] == [429, 429]
