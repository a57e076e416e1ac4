"""The bare harness's own program: its tools, its two wires, its ends. (Real runs: acceptance/test_harness_programs.py.)"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspan.harness.bare import Bare, agent, program
from inspan.harness.contract import Event
from inspan.harness.locate import interpreter

READ_ONLY = {name: tool for name, tool in agent.TOOLS.items() if name != "write_file"}


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_one_small_file_of_the_standard_library() -> None:
    text = program().decode()
    assert text.count("\n") < 350
    roots = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
    }
    assert roots <= set(sys.stdlib_module_names)


def test_the_interpreter_runs_it_without_any_environment() -> None:
    python = interpreter()
    here = Path(agent.__file__)
    done = subprocess.run([*python.argv, "-I", str(here), "--help"], env={}, capture_output=True, text=True)
    assert done.returncode == 0 and "--prompt-file" in done.stdout
    located = Bare().locate("", "/nowhere")
    assert located is not None and located.argv == python.argv
    assert all(os.path.isdir(bind.source) for bind in located.binds)


def test_tools_do_their_work() -> None:
    assert agent.call("write_file", {"path": "a/b.txt", "content": "x\r\ny"}, agent.TOOLS)[0]
    assert Path("a/b.txt").read_bytes() == b"x\r\ny"
    assert agent.call("read_file", {"path": "a/b.txt"}, agent.TOOLS) == (True, "x\r\ny")
    assert agent.call("bash", {"command": "echo out; echo err >&2; exit 3"}, agent.TOOLS) == (
        True,
        "out\nerr\n\n[exit status 3]",
    )


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("rm", {}, "unknown tool"),
        ("bash", None, "arguments"),
        ("bash", {"command": 5}, "arguments"),
        ("write_file", {"path": "x"}, "arguments"),
        ("read_file", {"path": "missing"}, "FileNotFoundError"),
        ("write_file", {"path": ".", "content": ""}, "IsADirectoryError"),
        ("read_file", {"path": "a\0b"}, "ValueError"),
    ],
)
def test_a_bad_call_is_told_to_the_model(name: str, arguments: object, says: str) -> None:
    ok, text = agent.call(name, arguments, agent.TOOLS)
    assert not ok and says in text


def test_write_file_is_not_there_in_a_read_only_job() -> None:
    assert agent.call("write_file", {"path": "x", "content": ""}, READ_ONLY)[0] is False
    assert not Path("x").exists()


def test_output_is_cut_and_a_command_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    ok, text = agent.call("bash", {"command": "head -c 100000 /dev/zero | tr '\\0' x"}, agent.TOOLS)
    assert ok and len(text) <= agent.OUTPUT_LIMIT + 30 and text.endswith("[cut]\n[exit status 0]")
    Path("long").write_text("é" * (agent.OUTPUT_LIMIT + 1))
    assert agent.call("read_file", {"path": "long"}, agent.TOOLS)[1].endswith("é\n[cut]")
    monkeypatch.setattr(agent, "COMMAND_SECONDS", 0.2)
    ok, text = agent.call("bash", {"command": "sleep 60"}, agent.TOOLS)
    assert not ok and "longer than" in text


def test_a_program_left_in_the_background_holds_nothing_up() -> None:
    ok, text = agent.call("bash", {"command": "sleep 30 & echo $! > pid; echo started"}, agent.TOOLS)
    os.kill(int(Path("pid").read_text()), 9)  # it was still there
    assert ok and text.startswith("started")


def chat_parts(*deltas: dict, finish: str | None = "stop", usage: dict | None = None) -> list[dict]:
    parts: list[dict] = [{"choices": [{"delta": delta}]} for delta in deltas]
    parts += [{"choices": [{"delta": {}, "finish_reason": finish}]}] if finish else []
    return [*parts, {"choices": [], "usage": usage or {}}]


def message_parts(*blocks: dict, stop: bool = True) -> list[dict]:
    parts: list[dict] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 7, "cache_read_input_tokens": 3}}}
    ]
    for index, block in enumerate(blocks):
        key, type_ = ("text", "text_delta") if block["type"] == "text" else ("partial_json", "input_json_delta")
        value = block.pop(key, "")
        parts.append({"type": "content_block_start", "index": index, "content_block": block})
        parts += [
            {"type": "content_block_delta", "index": index, "delta": {"type": type_, key: piece}} for piece in value
        ]
    parts.append({"type": "message_delta", "usage": {"output_tokens": 5}})
    return [*parts, {"type": "message_stop"}] if stop else parts


def talk(
    monkeypatch: pytest.MonkeyPatch, wire: str, answers: list[list[dict]], turns: int = 5
) -> tuple[str, list[dict]]:
    sent: list[dict] = []

    def post(url: str, headers: dict, body: dict):
        sent.append(json.loads(json.dumps(body)))
        yield from answers[len(sent) - 1]

    monkeypatch.setattr(agent, "post", post)
    model = agent.WIRES[wire]("http://x", "key", "m", "system", "prompt", agent.TOOLS)
    return agent.converse(model, agent.TOOLS, turns), sent


def test_chat_puts_split_tool_calls_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pieces = [
        {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "write_file", "arguments": '{"path": "f", '}}]},
        {"tool_calls": [{"index": 1, "id": "c2", "function": {"name": "bash", "arguments": '{"command":'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '"content": "1"}'}}]},
        {"tool_calls": [{"index": 1, "function": {"arguments": ' "cat f"}'}}]},
    ]
    used = {
        "prompt_tokens": 100,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 4},
    }
    answers = [
        chat_parts(*pieces, finish="tool_calls", usage=used),
        chat_parts({"content": "all "}, {"content": "done"}),
    ]
    final, sent = talk(monkeypatch, "openai-chat", answers)
    assert final == "all done" and Path("f").read_text() == "1"
    assert [m["role"] for m in sent[1]["messages"]] == ["system", "user", "assistant", "tool", "tool"]
    assert sent[1]["messages"][-1] == {"role": "tool", "tool_call_id": "c2", "content": "1\n[exit status 0]"}
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert first == {"type": "usage", "input": 40, "cache_read": 60, "output": 9, "reasoning": 4}


def test_messages_puts_split_tool_calls_together(monkeypatch: pytest.MonkeyPatch) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "bash", "input": {}, "partial_json": '{"command": "echo hi"}'}
    answers = [message_parts({"type": "text", "text": "look"}, call), message_parts({"type": "text", "text": "done"})]
    final, sent = talk(monkeypatch, "anthropic", answers)
    assert final == "done"
    assistant, results = sent[1]["messages"][1:]
    assert assistant["content"][1] == {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "echo hi"}}
    assert results["content"][0]["content"] == "hi\n\n[exit status 0]" and results["content"][0]["is_error"] is False


def test_arguments_that_are_no_json_are_told_to_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "bash", "arguments": "{oops"}}]}
    final, sent = talk(monkeypatch, "openai-chat", [chat_parts(bad), chat_parts({"content": "sorry"})])
    assert final == "sorry" and "arguments must be" in sent[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("wire", "answer", "says"),
    [
        ("openai-chat", chat_parts({"content": "half"}, finish=None), "broke off"),
        ("anthropic", message_parts({"type": "text", "text": "half"}, stop=False), "broke off"),
        ("openai-chat", [{"error": {"message": "overloaded"}}], "overloaded"),
        ("anthropic", [{"type": "error", "error": {"message": "overloaded"}}], "overloaded"),
    ],
)
def test_half_an_answer_is_a_failure(monkeypatch: pytest.MonkeyPatch, wire: str, answer: list[dict], says: str) -> None:
    with pytest.raises(RuntimeError, match=says):
        talk(monkeypatch, wire, [answer])


def test_turns_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    again = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "bash", "arguments": '{"command": "true"}'}}]}
    with pytest.raises(RuntimeError, match="no end after 3 turns"):
        talk(monkeypatch, "openai-chat", [chat_parts(again)] * 3, turns=3)


def test_a_crash_is_no_success(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, agent.__file__, "--prompt-file", "/no/such/file", "--model", "m"], env={}, capture_output=True
    )
    reader = Bare().reader()
    events: list[Event] = [e for line in done.stdout.splitlines() for e in reader.feed(line)]
    for line in done.stderr.splitlines():
        reader.feed_stderr(line)
    ending = reader.finish(done.returncode)
    assert (events, ending.complete, ending.ok) == ([], False, None) and "/no/such/file" in (ending.error or "")
