"""Tolerant reading, and what the event vocabulary means."""

from __future__ import annotations

import json

import pytest

from inspan.harness.contract import Ending
from inspan.harness.documents import PENDING_LIMIT, Documents, parse
from inspan.harness.reading import event, short, status_code, status_in
from inspan.harness.vocabulary import TYPES, VocabularyReader


def ending(*records: object, status: int | None = 0, stderr: str = "", **kind: object) -> Ending:
    reader = VocabularyReader(**kind)  # type: ignore[arg-type]
    for record in records:
        reader.feed(json.dumps(record).encode())
    for line in stderr.splitlines():
        reader.feed_stderr(line.encode())
    return reader.finish(status)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("unexpected status 401 Unauthorized: bad key", 401),
        ("exceeded retry limit, last status: 429 Too Many Requests", 429),
        ("API Error: 500 Internal server error", 500),
        ("Request rejected (429) · Rate limit", 429),
        ("HTTP 503", 503),
        ("wrote 404 lines", None),
        ("status 200 OK", None),
        ("Prompt is ~250000 tokens (limit 200000)", None),
        ("", None),
    ],
)
def test_status_named_by_a_text(text: str, status: int | None) -> None:
    assert status_in(text) == status


@pytest.mark.parametrize(("value", "status"), [(429, 429), (99, None), (600, None), ("429", None), (True, None)])
def test_status_codes(value: object, status: int | None) -> None:
    assert status_code({"status": value}, "status") == status


@pytest.mark.parametrize("line", [b"12", b'"text"', b"null", b"true", b"\xff\xfe", b"{", b"[1, 2]", b"{]"])
def test_noise_gives_no_record_and_is_counted(line: bytes) -> None:
    documents = Documents()
    assert documents.feed(line) == []
    assert documents.finish() == []
    assert documents.skipped == 1


@pytest.mark.parametrize("depth", [100_000])
def test_deep_nesting_is_not_followed(depth: int) -> None:
    assert parse(b"[" * depth) is None
    assert parse(b'{"a":' * depth + b"1" + b"}" * depth) is None


def test_an_unfinished_document_does_not_grow_without_end() -> None:
    documents = Documents()
    line = b'  "' + b"x" * 1_000_000 + b'",'
    documents.feed(b"{")
    for _ in range(20):
        documents.feed(line)
    assert documents._size <= PENDING_LIMIT
    assert documents.feed(b'{"type": "end"}') == [{"type": "end"}]


def test_invalid_utf8_inside_a_record_is_read_all_the_same() -> None:
    assert Documents().feed(b'{"type": "text", "text": "caf\xe9"}') == [{"type": "text", "text": "caf\ufffd"}]


def test_events_are_short() -> None:
    assert len(short("x" * 10_000)) == 300
    assert short("a\n\n  b\tc") == "a b c"
    assert event("text", "a\nb", name=None, ok=True).data == {"ok": True}


# ---- the vocabulary ---------------------------------------------------------------------------------------------------


def test_a_good_run() -> None:
    result = ending(
        {"type": "start", "session": "s1"},
        {"type": "text", "text": "looking"},
        {"type": "tool", "name": "bash"},
        {"type": "tool_result", "name": "bash", "ok": True},
        {"type": "turn", "ok": True},
        {"type": "end", "ok": True, "message": "finished"},
    )
    assert result == Ending(complete=True, ok=True, message="finished", session="s1", tools=1, texts=1)


@pytest.mark.parametrize("ok", [False, None, "true", 1, 0])
def test_only_true_is_success(ok: object) -> None:
    assert ending({"type": "end", "ok": ok}).ok is False


def test_no_end_is_not_complete_whatever_the_exit_status() -> None:
    for status in (0, 1, None):
        result = ending({"type": "text", "text": "all done"}, status=status)
        assert not result.complete and result.ok is None


def test_a_failed_turn_outranks_an_end_that_says_ok() -> None:
    assert ending({"type": "turn", "ok": False}, {"type": "end", "ok": True}).ok is False
    assert ending({"type": "turn", "ok": False}, {"type": "turn", "ok": True}, {"type": "end", "ok": True}).ok is True


def test_a_second_end_can_only_lower() -> None:
    good, bad = {"type": "end", "ok": True}, {"type": "end", "ok": False, "message": "no"}
    assert ending(good, bad).ok is False
    assert ending(bad, good).ok is False


def test_an_error_and_a_failed_turn_without_an_end() -> None:
    records = [{"type": "error", "message": "overloaded", "status": 529}, {"type": "turn", "ok": False}]
    result = ending(*records)
    assert (result.complete, result.ok, result.error, result.status) == (False, None, "overloaded", 529)
    result = ending(*records, terminal_record=False)
    assert (result.complete, result.ok, result.status) == (True, False, 529)


def test_a_program_without_a_terminal_record_ends_by_exit_zero() -> None:
    assert ending({"type": "text", "text": "x"}, terminal_record=False).complete
    assert ending(terminal_record=False).ok is None
    for status in (1, -9, None):
        result = ending(terminal_record=False, status=status, stderr="Traceback\nValueError: no")
        assert not result.complete and result.error == "ValueError: no"


def test_the_most_specific_error_stays() -> None:
    vague, exact = {"type": "error", "message": "it failed"}, {"type": "error", "message": "quota", "status": 429}
    end = {"type": "end", "ok": False, "message": "giving up"}
    assert (ending(vague, exact, end).error, ending(vague, exact, end).status) == ("quota", 429)
    assert ending(vague, end).error == "giving up"


def test_a_recovered_error_is_no_error() -> None:
    result = ending({"type": "error", "message": "overloaded", "status": 529}, {"type": "end", "ok": True})
    assert (result.ok, result.error, result.status) == (True, None, None)


def test_asking_and_denials() -> None:
    result = ending(
        {"type": "ask", "text": "May I?"}, {"type": "tool_result", "name": "write", "ok": False, "denied": True}
    )
    assert (result.asked, result.denied) == ("May I?", ("write",))


def test_unknown_types_change_nothing() -> None:
    reader = VocabularyReader()
    assert [e.kind for e in reader.feed(b'{"type": "weather", "ok": true}')] == ["other"]
    assert [e.kind for e in reader.feed(b'{"no": "type"}')] == ["other"]
    assert reader.finish(0) == Ending(complete=False)


@pytest.mark.parametrize("type_", TYPES)
def test_every_type_accepts_every_shape(type_: str) -> None:
    for value in (None, 1, "x", [], {}, True, 1e300):
        reader = VocabularyReader()
        keys = ("text", "message", "name", "ok", "status", "session", "input", "denied")
        events = reader.feed(json.dumps({"type": type_, **dict.fromkeys(keys, value)}).encode())
        assert len(events) == 1
        assert reader.finish(0).ok is not True or value is True
