"""Recipes 1 to 4 of the reported pains: how a run ends is read from evidence, never from an exit status or silence.

Each with its negative control beside it, at both levels, through ``inspan run``.
"""

from __future__ import annotations

import pytest
from runs import inspan
from stubs import DONE, EDIT, FIXED, FOREVER, START, Job, Stubs, artifact, ended, files, patch, transcript

SEEN = {"print": {"type": "tool_result", "name": "bash", "text": "3 passed"}}


def test_1_a_stream_that_stops_is_a_stall_and_a_heartbeat_is_not(stubs: Stubs) -> None:
    beat = {"repeat": {"times": 13, "every": 0.5, "steps": [{"print": {"type": "tool_result", "text": "beat {n}"}}]}}
    call = {"print": {"type": "tool", "name": "bash", "text": "pytest"}}
    found = stubs.together(
        stopped=Job(
            [START, {"print": {"type": "text", "text": "looking"}}, call, EDIT, SEEN, FOREVER], ("--stall", "3")
        ),
        beating=Job([START, EDIT, beat, DONE], ("--stall", "3", *FIXED)),
    )
    stopped = found["stopped"]
    assert ended(stopped) == (1, "failed", "stalled"), stopped
    assert "tool_result: 3 passed" in stopped.document["detail"], "the last event is named"
    assert "deadline" not in stopped.document["reasons"]
    assert files(stopped) == ["calc.py"] and "+    return a + b" in patch(stopped), "the work is kept"
    assert "3 passed" in transcript(stopped)
    assert stopped.document["delivery"]["kind"] == "none"
    assert ended(found["beating"]) == (0, "accepted", "verified"), found["beating"]
    assert found["beating"].document["timing"]["execute"] > 6, "control: it ran for twice the stall limit"


def test_2_a_success_record_decides_and_an_open_pipe_does_not(stubs: Stubs) -> None:
    holder = {"spawn": {"keep_output": True, "session": True, "steps": [{"ignore": ["TERM", "HUP"]}, FOREVER]}}
    child = {"spawn": {"keep_output": True, "session": False, "steps": [{"sleep": 0.2}]}}
    found = stubs.together(
        held=Job([START, EDIT, DONE, holder, {"exit": 0}], FIXED),
        late=Job([START, EDIT, child, {"sleep": 3}, DONE], FIXED),
    )
    held, late = found["held"].document, found["late"].document
    assert ended(found["held"]) == (0, "accepted", "verified"), held
    assert held["timing"]["execute"] < 60, "nothing waited for the pipe, which stays open for ever"
    assert ended(found["late"]) == (0, "accepted", "verified"), late
    assert late["timing"]["execute"] > 3, "control: the record that came later was waited for"
    assert stubs.left() == [], "the child is gone as well"


CODEX = [{"print": {"type": "thread.started", "thread_id": "t1"}}, {"print": {"type": "turn.started"}}]
SAID = {"print": {"type": "item.completed", "item": {"id": "i1", "type": "agent_message", "text": "done"}}}
TURN = {
    "print": {"type": "turn.completed", "usage": {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2}}
}


def turn_failed(message: str) -> list[dict]:
    """The error event and the failed turn that Codex prints, before it exits with status 0."""
    failed = {"type": "turn.failed", "error": {"message": message}}
    return [*CODEX, {"print": {"type": "error", "message": message}}, {"print": failed}, {"exit": 0}]


def test_3_a_failed_turn_outranks_exit_status_0_and_leftover_files(stubs: Stubs) -> None:
    """The leftovers are uncommitted in the checkout and taken in by ``--dirty``, so that the check would pass."""
    (stubs.repo / "calc.py").write_text(EDIT["write"]["content"])
    stubs.settled()
    flags, form = ("--dirty", *FIXED), {"output": "codex-jsonl"}
    found = stubs.together(
        crashed=Job(turn_failed("stream disconnected before completion"), flags, form),
        provider=Job(turn_failed("unexpected status 503 Service Unavailable"), flags, form),
        completed=Job([*CODEX, {"write": {"path": "new.txt"}}, SAID, TURN, {"exit": 0}], flags, form),
    )
    for name, reasons in (("crashed", ("network", "harness_crashed")), ("provider", ("overloaded", "provider_error"))):
        document = found[name].document
        assert ended(found[name])[:2] == (1, "failed") and document["reason"] in reasons, document
        assert document["facets"]["executor"] == "failed"
        assert document["facets"]["checks"] == "not_evidenced" and document["checks"] == [], "it was not graded"
        assert document["delivery"]["kind"] == "none"
    control = found["completed"]
    assert ended(control) == (0, "accepted", "verified") and files(control) == ["new.txt"], control.document
    assert control.document["usage"]["harness_reported"]["cache_read"] == 4


THERE = ("--check", "there=test -f README.md")
BROKEN = ("--check", "fixed=grep -q 'a + b' calc.py")
REASON = {"report": {"no_change_reason": "README.md says it already"}}
TOOL = {"print": {"type": "tool", "name": "bash", "text": "ls"}}
END = {"print": {"type": "end", "ok": True}}


def test_4_doing_nothing_is_told_apart_from_nothing_to_do(stubs: Stubs) -> None:
    text = {"print": {"type": "text", "text": "1. read the code 2. change it"}}
    found = stubs.together(
        silent=Job([START, END], THERE),
        mute=Job([], THERE, {"output": "text"}),
        gone=Job([], THERE),
        talk=Job([START, text, END], THERE),
        tools=Job([START, TOOL, SEEN, DONE], THERE),
        declared=Job([START, TOOL, REASON, DONE], THERE),
        wrong=Job([START, TOOL, REASON, DONE], BROKEN),
        edit=Job([START, EDIT, DONE], (*THERE, *FIXED)),
    )
    assert {name: ended(result) for name, result in found.items()} == {
        "silent": (3, "rejected", "no_activity"),
        "mute": (3, "rejected", "no_activity"),
        "gone": (1, "failed", "no_terminal_record"),
        "talk": (3, "rejected", "text_only"),
        "tools": (3, "rejected", "no_change_undeclared"),
        "declared": (0, "no_change", "no_change_declared"),
        "wrong": (3, "rejected", "checks_failed"),
        "edit": (0, "accepted", "verified"),
    }
    assert found["declared"].document["claims"]["no_change_reason"] == "README.md says it already"
    assert [name for name, result in found.items() if result.document["delivery"]["kind"] != "none"] == ["edit"]


WORK = [START, EDIT, {"print": {"type": "text", "text": "half way"}}]


@pytest.mark.parametrize("cause", ["rejected", "failed", "cancelled"])
def test_the_work_of_every_attempt_that_was_not_delivered_is_kept(stubs: Stubs, cause: str) -> None:
    if cause == "cancelled":
        result = stubs.cancelled([*WORK, FOREVER])
    else:
        last = {"rejected": DONE, "failed": {"print": {"type": "end", "ok": False, "message": "gave up"}}}[cause]
        result = stubs.run([*WORK, last], "--scope", "README.md")
    expected = {
        "rejected": (3, "rejected", "out_of_scope"),
        "failed": (1, "failed", "harness_crashed"),
        "cancelled": (130, "cancelled", "cancelled_by_user"),
    }
    assert ended(result) == expected[cause], result
    assert {"patch", "changes", "transcript"} <= set(result.document["artifacts"])
    assert "+    return a + b" in patch(result) and b"calc.py" in artifact(stubs, result, "changes")
    assert "half way" in transcript(result) and b"half way" in artifact(stubs, result, "transcript")
    assert not list(stubs.home.glob("attempts/*/ws")), "kept as artifacts: the workspace itself was given back"
    assert inspan("gc").returncode == 0 and "+    return a + b" in patch(result), "nor is it garbage"
    assert result.document["delivery"]["kind"] == "none" and stubs.branches() == []
