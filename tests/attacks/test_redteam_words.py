"""What programs, agents and models say, where it is made to break the side that reads it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from inspan.attempt import collect
from inspan.attempt.contract import TerminalRecord
from inspan.attempt.eventlog import EventLog, EventTail, scrubbed
from inspan.gate.results import read_lines
from inspan.gateway.request import prepare
from inspan.gateway.wire import WIRES
from inspan.harness.contract import Ending
from inspan.harness.registry import harness
from inspan.redact import Redactor

HALF = "cut \\ud83d"
DEEP = '{"a":' * 600 + "1" + "}" * 600
LINES = {
    "claude-code": [
        '{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]}}',
        '{"type":"result","subtype":"success","is_error":false,"result":"%s","session_id":"x"}',
    ],
    "codex": ['{"type":"item.completed","item":{"type":"agent_message","text":"%s"}}', '{"type":"turn.completed"}'],
}


def heard(name: str, text: str, tmp_path: Path) -> tuple[TerminalRecord, list[dict]]:
    """What is kept of a run of ``name`` that said ``text``, as the runner keeps it."""
    reader, redactor = harness(name).reader(), Redactor()
    log = EventLog(tmp_path / "events", redactor)
    for line in LINES[name]:
        for event in reader.feed((line.replace("%s", text)).encode()):
            log.add(event)
    ending = msgspec.convert(scrubbed(msgspec.to_builtins(reader.finish(0)), redactor), Ending)
    report = f'{{"completed": true, "summary": "{text}"}}'
    record = TerminalRecord(
        attempt="j.a1", end="exited", started="s", ended="e", ending=ending, message=ending.message, report=report
    )
    seen: list[dict] = []
    EventTail(tmp_path / "events", seen.append).poll()
    return msgspec.json.decode(msgspec.json.encode(record), type=TerminalRecord), seen


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("text", ["whole", HALF])
def test_half_a_character_costs_no_run(name: str, text: str, tmp_path: Path) -> None:
    record, seen = heard(name, text, tmp_path)
    wanted = text.replace("\\ud83d", "?")
    assert record.message == wanted
    assert wanted in [e["text"] for e in seen]
    said = collect.claims(record)
    assert said.summary == wanted and said.completed is True
    msgspec.json.encode(said)


def test_half_a_character_in_a_tests_own_words_is_evidence_all_the_same() -> None:
    line = b'{"key": "k", "kind": "phase", "id": "t.py::t", "outcome": "failed", "text": "assert \\ud83d"}'
    run = read_lines(line, "k")
    assert run.texts == {"t.py::t": "assert ?"} and not run.garbled
    msgspec.json.encode(run)
    assert read_lines(DEEP.encode() * 3, "k").garbled == 1
    assert read_lines(b'{"key":' + b"[" * 100_000, "k").garbled == 1


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"dear","model":"m","x":1}',
        b'{"Model":"dear","model":"m","x":1}',
        b'{"model":"m","MODEL":"dear","x":1}',
        b'{"\\u006dodel":"dear","model":"m","x":1}',
        b'{"model":"m","x":1}',
    ],
)
def test_no_second_model_reaches_the_endpoint(wire: str, body: bytes) -> None:
    prepared = prepare(WIRES[wire], body, "m")
    assert prepared is not None
    assert b"dear" not in prepared.body
    assert msgspec.json.decode(prepared.body)["x"] == 1


@pytest.mark.parametrize("body", [b'{"model":"m","a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", b'{"a":' * 100_000])
def test_a_bottomless_request_is_no_request(body: bytes) -> None:
    assert prepare(WIRES["anthropic"], body, "m") is None
