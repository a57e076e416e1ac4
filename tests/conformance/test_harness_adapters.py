"""What every harness adapter promises, the shipped fake included."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path, PurePosixPath

import msgspec
import pytest

import inspan.testing.stub_harness
from inspan.harness.contract import Harness, Installed, Launch, LaunchRequest
from inspan.harness.registry import checked, harness

STUB = inspan.testing.stub_harness.__file__
CONFIGURED = {
    "by-file": {"argv": ["{prompt_file}"], "wire": "openai-chat"},
    "by-stdin": {"argv": [sys.executable, STUB], "wire": "anthropic", "prompt": "stdin", "output": "jsonl"},
    "by-argument": {
        "argv": [sys.executable],
        "wire": "openai-responses",
        "prompt": "argument",
        "output": "codex-jsonl",
    },
    "claude-like": {"argv": ["/bin/true"], "wire": "anthropic", "prompt": "stdin", "output": "claude-stream"},
    "no-record": {"argv": ["sh"], "wire": "anthropic", "prompt": "stdin", "output": "jsonl", "terminal": False},
}
CONFIGURED["by-file"]["argv"] = [sys.executable, STUB, "{prompt_file}", "{model}", "{base_url}"]
for _table in CONFIGURED.values():
    _table.setdefault("env", {"MODEL": "{model}", "BASE_URL": "{base_url}", "API_KEY": "{token}"})  # type: ignore[arg-type]
NAMES = ("bare", "claude-code", "codex", *CONFIGURED)
PROMPT = 'Fix "the" thing: $(rm -rf /)\n\té — 漢字\n' + "x" * 50_000
TOKEN = "tok-0d9c3f2b-worthless"


@pytest.fixture(params=NAMES)
def adapter(request: pytest.FixtureRequest) -> Harness:
    return harness(request.param, CONFIGURED)


def ask(adapter: Harness, **changes: object) -> Launch:
    asked = LaunchRequest(
        installed=Installed(argv=("/opt/program",), version="1"),
        prompt=PROMPT,
        model="some/model:9b",
        wire=adapter.wires[0],
        base_url="http://127.0.0.1:8080",
        token=TOKEN,
        workspace_inside="/work space/repo",
        home_inside="/home/agent",
        files_inside="/home/agent/.harness",
        report_inside="/home/agent/report.json",
    )
    return adapter.launch(msgspec.structs.replace(asked, **changes))


def test_declares_what_the_contract_asks(adapter: Harness) -> None:
    assert checked(adapter, "here") is adapter


def test_the_prompt_arrives_whole_and_only_where_declared(adapter: Harness) -> None:
    launch = ask(adapter)
    data = PROMPT.encode()
    by = {
        "stdin": launch.stdin == data,
        "file": data in launch.files.values(),
        "argument": PROMPT in launch.argv,
    }
    assert by == {way: way == adapter.prompt_by for way in by}
    if by["file"]:
        name = next(name for name, content in launch.files.items() if content == data)
        assert any(f"/home/agent/.harness/{name}" in word for word in launch.argv)


def test_no_secret_in_argv_and_no_other_secret_in_env(adapter: Harness) -> None:
    launch = ask(adapter)
    assert not any(TOKEN in word for word in launch.argv)
    assert TOKEN in launch.env.values()
    keys = {name for name in launch.env if any(word in name for word in ("KEY", "TOKEN", "SECRET", "PASSWORD"))}
    assert {launch.env[name] for name in keys} <= {TOKEN}
    assert not any(TOKEN.encode() in content for content in launch.files.values())


def test_model_and_endpoint_are_handed_over(adapter: Harness) -> None:
    launch = ask(adapter)
    told = "\n".join(
        [*launch.argv, *launch.env.values(), *(c.decode("utf-8", "replace") for c in launch.files.values())]
    )
    assert "some/model:9b" in told
    assert "http://127.0.0.1:8080" in told
    assert launch.argv[0] == "/opt/program"
    assert launch.env["INSPAN_REPORT"] == "/home/agent/report.json"


def test_launching_is_a_pure_function(adapter: Harness) -> None:
    before = dict(os.environ)
    assert ask(adapter) == ask(adapter)
    assert dict(os.environ) == before


@pytest.mark.parametrize("change", [{"read_only": True}, {"session": "s-1"}, {"prompt": ""}])
def test_every_form_of_a_call(adapter: Harness, change: dict) -> None:
    launch = ask(adapter, **change)
    assert launch.argv[0] == "/opt/program"
    assert all("\0" not in word for word in (*launch.argv, *launch.env.values()))


def test_files_stay_below_their_directory(adapter: Harness) -> None:
    for name in ask(adapter).files:
        path = PurePosixPath(name)
        assert not path.is_absolute() and ".." not in path.parts and name == str(path)


def test_every_declared_wire_can_be_launched(adapter: Harness) -> None:
    calls = [ask(adapter, wire=wire) for wire in adapter.wires]
    assert len(calls) == len(adapter.wires) > 0


def test_located_programs_are_absolute_and_shown_read_only(adapter: Harness) -> None:
    prefix = os.environ.get("INSPAN_TEST_HARNESS_DIR", str(Path(__file__).parents[2] / ".tools" / "harness"))
    found = adapter.locate(os.environ["PATH"], prefix)
    if found is None:
        pytest.skip(f"NORUN: the program of {adapter.name} is not installed (scripts/install-harnesses says why)")
    assert os.path.isabs(found.argv[0]) and os.access(found.argv[0], os.X_OK)
    for bind in found.binds:
        assert os.path.isabs(bind.source) and os.path.isabs(bind.target) and not bind.writable


def test_a_program_that_is_nowhere_is_not_found(tmp_path: Path) -> None:
    always = {"bare", "by-file", "by-stdin", "by-argument", "claude-like"}
    found = {name for name in NAMES if harness(name, CONFIGURED).locate(str(tmp_path), str(tmp_path)) is not None}
    assert found == always


# ---- reading ------------------------------------------------------------------------------------------------------------


def test_silence_is_not_success(adapter: Harness) -> None:
    for status in (0, 1, -15, None):
        reader = adapter.reader()
        assert not reader.terminal()
        ending = reader.finish(status)
        assert ending.ok is None
        assert ending.complete is (not adapter.terminal and status == 0)
        assert (ending.usage, ending.tools, ending.texts) == (None, 0, 0)


def test_words_of_success_are_not_a_terminal_record(adapter: Harness) -> None:
    reader = adapter.reader()
    for line in (
        b"done",
        b'"ok"',
        b'{"ok": true}',
        b'{"subtype": "success"}',
        b'{"type": "success", "is_error": false}',
    ):
        reader.feed(line)
    assert not reader.terminal()
    assert reader.finish(0).ok is None


def test_what_is_not_understood_is_counted(adapter: Harness) -> None:
    reader = adapter.reader()
    for line in (b"\xff\xfe\x00", b"warning: something", b"[1, 2]"):
        reader.feed(line)
    ending = reader.finish(0)
    assert reader.skipped == 3 or ending.texts == 1


def test_readers_are_fresh(adapter: Harness) -> None:
    one, other = adapter.reader(), adapter.reader()
    for record in ({"type": "end", "ok": True}, {"type": "result", "is_error": False}, {"type": "turn.completed"}):
        one.feed(json.dumps(record).encode())
    assert not other.terminal() and other.finish(None).complete is False


def test_the_last_words_on_standard_error_explain_a_silent_failure(adapter: Harness) -> None:
    reader = adapter.reader()
    for line in (b"reading input", b"cannot start: bad key", b""):
        for event in reader.feed_stderr(line):
            assert event.kind == "notice"
    assert reader.finish(1).error == "cannot start: bad key"
