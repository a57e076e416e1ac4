"""``[harnesses.NAME]`` tables: strict decoding, and the call they become."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from inspan.errors import HarnessError, InvalidSpec
from inspan.harness.configured import ARGUMENT_LIMIT, Configured
from inspan.harness.contract import Ending, Installed, Launch, LaunchRequest

GOOD = {"argv": ["mine", "{prompt_file}"], "wire": "openai-chat"}


def launch(table: dict, prompt: str = "do it", installed: Installed | None = None) -> Launch:
    return Configured("mine", table).launch(
        LaunchRequest(
            installed=installed or Installed(argv=("/opt/mine",), version=None),
            prompt=prompt,
            model="m/1:x",
            wire="openai-chat",
            base_url="http://127.0.0.1:8080",
            token="worthless",
            workspace_inside="/repo",
            home_inside="/home/agent",
            files_inside="/home/agent/files",
            report_inside="/home/agent/report.json",
        )
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"agrv": ["x"]}, "did you mean 'argv'"),
        ({"wire": "openai-chats"}, "did you mean 'openai-chat'"),
        ({"output": "json"}, "jsonl"),
        ({"prompt": "arg"}, "argument"),
        ({"argv": []}, "argv"),
        ({"argv": [""]}, "argv"),
        ({"argv": "mine {prompt_file}"}, "array"),
        ({"argv": ["mine", 5, "{prompt_file}"]}, "str"),
        ({"argv": ["mine"]}, "{prompt_file}"),
        ({"argv": ["mine", "{promt_file}"]}, "did you mean 'prompt_file'"),
        ({"argv": ["mine", "{prompt_file}", "--key={token}"]}, "env"),
        ({"argv": ["mine", "{prompt}", "{prompt_file}"]}, "argument"),
        ({"env": {"A": "{modell}"}}, "did you mean 'model'"),
        ({"env": {"A": 5}}, "str"),
        ({"terminal": True}, "terminal"),
        ({"terminal": "yes", "output": "jsonl"}, "bool"),
        ({"liveness": "maybe"}, "liveness"),
        ({"show": ["relative/dir"]}, "absolute"),
    ],
)
def test_refused(change: dict, says: str) -> None:
    with pytest.raises(InvalidSpec) as e:
        Configured("mine", {**GOOD, **change})
    assert says in str(e.value)
    assert "[harnesses.mine]" in str(e.value.where)
    Configured("mine", GOOD)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(InvalidSpec, match="wire"):
        Configured("mine", {"argv": ["mine", "{prompt_file}"]})


@pytest.mark.parametrize("name", ["Mine", "my_harness", "-x", "a@b", "", "a.b"])
def test_bad_names(name: str) -> None:
    with pytest.raises(InvalidSpec):
        Configured(name, GOOD)


def test_prompt_by_file_with_all_placeholders() -> None:
    table = {
        "argv": [
            "mine",
            "{prompt_file}",
            "-m={model}",
            "{base_url}/v1",
            "{workspace}",
            "{report}",
            "{home}",
            '{"a": {}}',
        ],
        "wire": "openai-chat",
        "env": {"KEY": "{token}", "URL": "{base_url}/v1", "PLAIN": "x"},
    }
    call = launch(table)
    assert call.argv == (
        "/opt/mine",
        "/home/agent/files/prompt.txt",
        "-m=m/1:x",
        "http://127.0.0.1:8080/v1",
        "/repo",
        "/home/agent/report.json",
        "/home/agent",
        '{"a": {}}',
    )
    assert call.files == {"prompt.txt": b"do it"} and call.stdin is None
    assert call.env["KEY"] == "worthless" and call.env["URL"] == "http://127.0.0.1:8080/v1" and call.env["PLAIN"] == "x"
    assert call.env["INSPAN_REPORT"] == "/home/agent/report.json"
    assert not any("worthless" in word for word in call.argv)


def test_prompt_by_stdin() -> None:
    call = launch({"argv": ["mine"], "wire": "anthropic", "prompt": "stdin"}, "é" * 100_000)
    assert call.stdin == ("é" * 100_000).encode() and call.files == {} and call.argv == ("/opt/mine",)


def test_prompt_by_argument() -> None:
    last = {"argv": ["mine", "-p"], "wire": "anthropic", "prompt": "argument"}
    assert launch(last, "{model} stays").argv == ("/opt/mine", "-p", "{model} stays")
    placed = {"argv": ["mine", "-p", "{prompt}", "-q"], "wire": "anthropic", "prompt": "argument"}
    assert launch(placed).argv == ("/opt/mine", "-p", "do it", "-q")


@pytest.mark.parametrize("prompt", ["x" * (ARGUMENT_LIMIT + 1), "é" * ARGUMENT_LIMIT, "a\0b"])
def test_a_prompt_that_cannot_be_an_argument_is_refused(prompt: str) -> None:
    table = {"argv": ["mine"], "wire": "anthropic", "prompt": "argument"}
    with pytest.raises(HarnessError) as e:
        launch(table, prompt)
    assert e.value.reason == "spawn_failed"
    launch(table, "x" * ARGUMENT_LIMIT)


def program(directory: Path, name: str = "mine") -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_located_on_path(tmp_path: Path) -> None:
    found = program(tmp_path / "bin")
    path = os.pathsep.join(["relative", str(tmp_path / "none"), str(tmp_path / "bin")])
    installed = Configured("mine", {**GOOD, "version": "3"}).locate(path, "/nowhere")
    assert installed == Installed(argv=(str(found),), version="3", source="configured")
    found.chmod(0o644)
    assert Configured("mine", GOOD).locate(path, "/nowhere") is None


def test_located_by_absolute_path_and_shown_with_the_files_it_names(tmp_path: Path) -> None:
    found, script = program(tmp_path / "bin"), program(tmp_path / "lib", "script.py")
    extra = tmp_path / "data"
    extra.mkdir()
    argv = [str(found), str(script), "{prompt_file}", str(tmp_path), "/no/such/file"]
    installed = Configured("mine", {"argv": argv, "wire": "anthropic", "show": [str(extra)]}).locate("", "/nowhere")
    assert installed is not None
    assert {b.target for b in installed.binds} == {str(found), str(script), str(extra)}
    assert not any(b.writable for b in installed.binds)


def test_an_interpreter_of_a_virtual_environment_is_shown_with_its_base(tmp_path: Path) -> None:
    environment, base = tmp_path / "venv", tmp_path / "base"
    real = program(base / "bin", "python3")
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(real)
    (environment / "pyvenv.cfg").write_text(f"home = {base / 'bin'}\nversion = 3.12\n")
    table = {"argv": [str(environment / "bin" / "python"), "{prompt_file}"], "wire": "anthropic"}
    installed = Configured("mine", table).locate("", "/nowhere")
    assert installed is not None
    assert [b.target for b in installed.binds] == [str(environment), str(base)]


def test_this_interpreter_runs_with_what_is_shown() -> None:
    table = {"argv": [sys.executable, "{prompt_file}"], "wire": "anthropic"}
    installed = Configured("mine", table).locate("", "/nowhere")
    assert installed is not None
    real = os.path.realpath(sys.executable)
    assert any(real.startswith((f"{b.source}/", "/usr/")) for b in installed.binds) or real.startswith("/usr/")


def test_programs_of_the_system_need_no_bind() -> None:
    installed = Configured("mine", {"argv": ["/bin/sh", "{prompt_file}"], "wire": "anthropic"}).locate("", "/nowhere")
    assert installed is not None and installed.binds == ()


def read(table: dict, *lines: bytes, status: int | None = 0) -> Ending:
    reader = Configured("mine", {**GOOD, **table}).reader()
    for line in lines:
        reader.feed(line)
    assert reader.terminal() is (table.get("output", "text") != "text" and reader.terminal())
    return reader.finish(status)


def test_text_is_a_message_and_never_a_success() -> None:
    assert read({}, b"one", b"", b"two") == Ending(complete=True, message="one\n\ntwo", texts=1)
    assert read({}, b"one", status=1).complete is False
    assert read({}, b'{"type": "end", "ok": true}').ok is None


def test_output_forms() -> None:
    assert read({"output": "jsonl"}, b'{"type": "end", "ok": true}').ok is True
    assert read({"output": "jsonl", "terminal": False}, b'{"type": "text", "text": "x"}').complete is True
    result = b'{"type": "result", "is_error": false, "terminal_reason": "completed", "result": "x"}'
    assert read({"output": "claude-stream"}, result).ok is True
    assert read({"output": "codex-jsonl"}, b'{"type": "turn.completed"}').ok is True


def test_declarations_follow_the_table() -> None:
    table = {**GOOD, "output": "jsonl", "liveness": "events", "counters": "cumulative", "deciders": [".mine/**"]}
    made = Configured("mine", table)
    assert (made.terminal, made.liveness, made.counters, made.deciders) == (True, "events", "cumulative", (".mine/**",))
    assert Configured("mine", GOOD).terminal is False
    assert Configured("mine", {**table, "terminal": False}).terminal is False
