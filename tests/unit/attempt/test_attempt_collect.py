"""From a terminal record and a wire journal to the executor's finding."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from inspan.attempt.collect import (
    REASON_OF_END,
    activity,
    claims,
    contradictions,
    executor_finding,
    isolation,
    model_served,
)
from inspan.attempt.contract import AttemptRequest, TerminalRecord
from inspan.gateway.contract import Upstream, WireRecord
from inspan.harness.contract import Ending
from inspan.outcome.reasons import REASONS
from inspan.outcome.records import Change, Claims, FacetState, FileChange
from inspan.workspace.plan import MountPlan

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def record(end: str = "exited", ending: Ending | None = None, **changes: Any) -> TerminalRecord:
    return TerminalRecord(
        attempt="j.a1", end=end, started="2026-11-30T11:00:00Z", ended="2026-11-30T11:59:00Z", ending=ending, **changes
    )


def asked(n: int, status: int | None = 200, *, state: str = "done", **changes: Any) -> WireRecord:
    at = f"2026-11-30T11:{n:02d}:00Z"
    return WireRecord(id=str(n), state=state, at=at, ended=at, status=status, model_requested="m", **changes)


OK = Ending(complete=True, ok=True, message="done")
BAD = Ending(complete=True, ok=False, error="turn failed: stream error")
CUT = Ending(complete=False)


def reasons(r: TerminalRecord, *wire: WireRecord, **options: Any) -> tuple[str, ...]:
    finding, _ = executor_finding(r, wire, NOW, **options)
    assert (finding.state is FacetState.PASSED) == (finding.reasons == ())
    return finding.reasons


def test_a_success_record_passes_and_so_does_one_reaped_after_its_grace() -> None:
    assert reasons(record("exited", OK, exit_status=0), asked(1)) == ()
    assert reasons(record("finished", OK), asked(1)) == ()
    assert reasons(record("exited", OK, exit_status=1), asked(1)) == (), "the exit status is never the outcome"


@pytest.mark.parametrize(("end", "reason"), sorted(REASON_OF_END.items()))
def test_every_end_that_explains_itself_has_a_reason_of_the_table(end: str, reason: str) -> None:
    assert reason in REASONS
    assert reasons(record(end, OK)) == (reason,)


def test_an_error_record_with_exit_zero_is_a_failure() -> None:
    assert reasons(record("exited", BAD, exit_status=0), asked(1)) == ("harness_crashed",)


def test_an_error_that_was_got_over_is_no_cause() -> None:
    assert reasons(record("exited", OK), asked(1, 429, error_type="rate_limit_error"), asked(2)) == ()
    assert reasons(record("exited", OK), asked(1), asked(2, 500)) == (), "a failed side request after the last answer"


def test_a_success_record_over_work_that_was_broken_off_is_a_failure() -> None:
    wire = [asked(1, tool_calls=1), asked(2, 429, error_type="rate_limit_error", retry_after=20.0)]
    finding, cause = executor_finding(record("exited", OK, exit_status=0), wire, NOW)
    assert finding.reasons == ("rate_limited",)
    assert cause is not None and cause.retry_at == "2026-11-30T11:02:20Z"
    assert reasons(record("exited", Ending(complete=True)), asked(1, 401, error_type="authentication_error")) == (
        "auth",
    )


def test_the_wire_outranks_a_wrapper_in_the_record() -> None:
    wrapper = Ending(complete=True, ok=False, error="exceeded retry limit, last status: 429")
    wire = [asked(1, 429, error_type="insufficient_quota", error_message="You exceeded your current quota")]
    assert reasons(record("exited", wrapper), *wire) == ("out_of_credits",)


def test_text_alone_is_enough_for_a_cause() -> None:
    said = Ending(complete=False, error="unexpected status 401 Unauthorized")
    assert reasons(record("exited", said, exit_status=1)) == ("auth",)


def test_no_terminal_record_and_a_death_by_signal_are_told_apart() -> None:
    assert reasons(record("exited", CUT, exit_status=0)) == ("no_terminal_record",)
    assert reasons(record("exited", CUT, exit_status=-11)) == ("harness_crashed",)
    assert reasons(record("exited", CUT, exit_status=139)) == ("harness_crashed",)


def test_a_harness_without_terminal_records_that_ends_by_itself_is_complete() -> None:
    assert reasons(record("exited", Ending(complete=True, message="text"), exit_status=0), asked(1)) == ()


def test_a_stall_behind_a_refusing_provider_names_the_provider() -> None:
    wire = [asked(1, 401, error_type="authentication_error"), asked(2, 401, error_type="authentication_error")]
    assert reasons(record("stalled", CUT), *wire) == ("auth", "stalled")
    assert reasons(record("stalled", CUT), asked(1), asked(2, None, state="aborted")) == ("stalled",)


def test_a_question_or_a_denied_tool_is_a_permission_asked() -> None:
    assert reasons(record("stalled", Ending(complete=False, asked="May I?"))) == ("permission_asked", "stalled")
    denied = Ending(complete=True, ok=True, denied=("Write",))
    assert reasons(record("exited", denied)) == ("permission_asked",)
    assert reasons(record("exited", denied), request=request(read_only=True)) == ()


def test_an_agents_own_word_lowers_and_never_raises() -> None:
    incomplete = '{"schema": "inspan.report/1", "completed": false}'
    complete = '{"schema": "inspan.report/1", "completed": true}'
    assert reasons(record("exited", OK, report=incomplete)) == ("declared_incomplete",)
    assert reasons(record("exited", BAD, report=complete)) == ("harness_crashed",)
    blocked = Ending(complete=True, ok=True, message='x\n```inspan-report\n{"blockers": ["no network"]}\n```\n')
    assert reasons(record("exited", blocked, message=blocked.message)) == ("declared_incomplete",)


def test_survivors_fail_the_executor() -> None:
    assert reasons(record("exited", OK, survivors=(123,))) == ("environment_lost",)


def request(**changes: Any) -> AttemptRequest:
    upstream = Upstream(kind="http", provider="p", model="gpt-5", wire="openai-chat")
    plan = MountPlan(kind="overlay", root_inside="/r", directory="/d", home="/h", uid=1, gid=1)
    fields: dict[str, Any] = {"model": "gpt-5", "upstream": upstream, "level": "sandbox", **changes}
    return AttemptRequest(
        attempt="j.a1", harness="h", prompt="p", plan=plan, deadline="2026-11-30T12:00:00Z", stall=1.0, **fields
    )


def test_another_model_on_the_wire_fails_but_not_in_a_rehearsal() -> None:
    wire = [asked(1, model_served="gpt-5-mini")]
    assert reasons(record("exited", OK), *wire, request=request()) == ("wrong_model_served",)
    assert reasons(record("exited", OK), asked(1, model_served="gpt-5-2025-08-07"), request=request()) == ()
    rehearsal = Upstream(kind="rehearsal", provider="rehearsal", model="gpt-5", wire="openai-chat")
    assert reasons(record("exited", OK), *wire, request=request(upstream=rehearsal)) == ()
    assert model_served(wire) == "gpt-5-mini"


def test_activity_is_what_was_seen() -> None:
    quiet = Ending(complete=True, ok=True)
    assert activity(record("exited", quiet), [], False) == "none"
    assert activity(record("exited", quiet), [asked(1, text=True)], False) == "text"
    assert activity(record("exited", OK), [], False) == "text"
    assert activity(record("exited", quiet), [asked(1, tool_calls=1)], False) == "tools"
    assert activity(record("exited", quiet), [], True) == "tools"
    assert activity(record("crashed"), [], None) is None


def test_claims_come_from_the_file_and_from_the_message() -> None:
    message = 'done\n```inspan-report\n{"no_change_reason": "already fixed", "summary": "nothing"}\n```\n'
    said = claims(record(message=message, report='{"completed": true, "blockers": []}'))
    assert (said.completed, said.no_change_reason, said.summary) == (True, "already fixed", "nothing")
    assert claims(record(message="plain words")).summary == "plain words"
    fenced = 'all fine\n\n```inspan-report\n{"no_change_reason": "already fixed"}\n```\n'
    assert claims(record(message=fenced)).summary == "all fine", "the block is for programs"
    assert claims(record()) == Claims()


def test_contradictions_are_named() -> None:
    change = Change(base="b", files=(FileChange(path="a.py", status="modified"),))
    said = Claims(no_change_reason="already fixed", files=("z.py",), completed=True)
    found = contradictions(record("exited", BAD, exit_status=-9), said, change)
    assert len(found) == 3
    assert contradictions(record("exited", OK), Claims(completed=True), change) == ()


def test_isolation_is_proved_only_by_what_was_seen() -> None:
    assert not isolation(record(), request()).proved
    assert isolation(record(proof={"uid": 61001}), request()).proved
    assert isolation(record(), request(level="none")).egress == "open"
