"""Each limit of the watch, with the clock in the test's hand."""

from __future__ import annotations

import pytest

from inspan.supervise.watch import ANSWERS, Limits, Watch, normalised


def watching(liveness: str = "events", **limits: float) -> Watch:
    return Watch(Limits(**{"stall": 10.0, **limits}), now=0.0, deadline=1000.0, liveness=liveness)


def reason(watch: Watch, now: float) -> str | None:
    stop = watch.verdict(now)
    return None if stop is None else stop.reason


def test_a_stall_names_the_last_event() -> None:
    watch = watching()
    watch.event(1.0, "tool_result", "ran\nthe   tests")
    assert watch.verdict(10.9) is None
    stop = watch.verdict(11.0)
    assert stop is not None and stop.detail == "nothing new for 10 s; last event: tool_result: ran the tests (10 s ago)"


def test_a_structured_heartbeat_with_a_counter_is_progress_and_a_notice_is_not() -> None:
    counting, spinning = watching(), watching()
    for second in range(1, 30):
        counting.event(second, "tool", f"heartbeat {second}")
        spinning.event(second, "notice", f"12:00:{second:02d} still working ({second} s)")
    assert reason(counting, 30) is None
    assert reason(spinning, 30) == "stalled"


def test_identical_and_alternating_lines_stall() -> None:
    for lines in (["still here"], ["tick", "tock"]):
        watch = watching()
        for second in range(1, 30):
            watch.event(second, "text", lines[second % len(lines)])
        assert reason(watch, 30) == "stalled"


def test_a_long_prefill_survives_within_its_own_limit() -> None:
    watch = watching(request_stall=100.0)
    for second in range(1, 101):
        watch.requests(second, [0.5])
        assert reason(watch, second) is None
    watch.requests(101, [0.5])
    assert reason(watch, 109) is None
    assert reason(watch, 110) == "stalled"


def test_without_a_request_in_flight_the_same_silence_stalls() -> None:
    watch = watching(request_stall=100.0)
    watch.event(0.0, "start", "")
    assert reason(watch, 10) == "stalled"


def test_a_program_that_loads_slowly_is_not_stalled_and_one_that_never_speaks_is() -> None:
    watch = watching(startup=30.0)
    assert reason(watch, 29.9) is None
    assert reason(watch, 30.0) == "stalled"
    assert reason(watching(startup=5.0), 10.0) == "stalled"
    spoke = watching(startup=30.0)
    spoke.event(1.0, "start", "")
    assert reason(spoke, 11.0) == "stalled"


def test_endless_retries_stall_a_harness_that_shows_events_and_not_one_that_is_silent_until_its_end() -> None:
    events, both, wire = watching("events"), watching("both"), watching("wire")
    for watch in (events, both, wire):
        watch.event(0.0, "start", "")
        for second in range(1, ANSWERS + 12):
            watch.requests(second, [second])
            watch.wire(second, 1)
    assert reason(events, ANSWERS + 12) == reason(both, ANSWERS + 12) == "stalled"
    assert reason(wire, ANSWERS + 12) is None


def test_a_harness_of_both_kinds_that_has_shown_no_event_is_taken_as_silent() -> None:
    watch = watching("both")
    for second in range(1, ANSWERS + 20):
        watch.wire(second, 1)
    assert reason(watch, ANSWERS + 20) is None


def test_a_novel_event_makes_requests_count_again() -> None:
    watch = watching("both")
    for second in range(1, 60):
        watch.wire(second, 1)
        if second % 9 == 0:
            watch.event(second, "tool", f"step {second}")
    assert reason(watch, 60) is None


def test_one_request_alone_counts_no_longer_than_its_limit() -> None:
    watch = watching("both", request_stall=30.0)
    watch.event(0.0, "start", "")
    for second in range(1, 45):
        watch.wire(second)
    assert reason(watch, 39) is None
    assert reason(watch, 40) == "stalled"


@pytest.mark.parametrize("kind", ["usage", "turn", "other", "notice"])
def test_growing_totals_are_not_progress(kind: str) -> None:
    watch = watching()
    for second in range(1, 30):
        watch.event(second, kind, f'{{"input": {second * 100}}}')
    assert reason(watch, 30) == "stalled"


def test_events_mean_nothing_for_a_harness_that_declares_the_wire() -> None:
    watch = watching("wire")
    for second in range(1, 12):
        watch.event(second, "text", f"chatter {second}")
    assert reason(watch, 12) == "stalled"


def test_the_terminal_record_outranks_stall_and_deadline_and_has_a_grace() -> None:
    watch = watching(grace=3.0)
    watch.terminal(5.0)
    assert reason(watch, 7.9) is None
    assert reason(watch, 8.0) == "finished"
    late = watching(grace=3.0)
    late.terminal(999.0)
    assert reason(late, 1000.0) == "finished"
    assert reason(watching(stall=5000.0), 1000.0) == "deadline"


def test_output_over_the_cap_stops_and_at_the_cap_does_not() -> None:
    watch = watching(output=100)
    watch.output(100)
    assert reason(watch, 1) is None
    watch.output(101)
    assert reason(watch, 1) == "output_capped"


def test_an_unanswered_question_is_found_within_seconds() -> None:
    watch = watching(stall=600.0, ask=10.0)
    watch.event(1.0, "ask", "May I run rm?")
    assert reason(watch, 10.9) is None
    stop = watch.verdict(11.0)
    assert stop is not None and "May I run rm?" in stop.detail
    went_on = watching(stall=600.0, ask=10.0)
    went_on.event(1.0, "ask", "May I run rm?")
    went_on.event(2.0, "tool", "bash")
    assert reason(went_on, 20.0) is None


def test_a_limit_found_outside_stops_unless_the_terminal_record_was_there() -> None:
    watch, done = watching(), watching()
    done.terminal(0.5)
    for each in (watch, done):
        each.exceeded("limit", "memory")
    assert reason(watch, 1) == "limit"
    assert reason(done, 1) is None


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("12:00:01 waiting 3 s", "12:00:59 waiting 61 s", True),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-e89b-12d3-a456-426614174999", True),
        ("waiting for a", "waiting for b", False),
    ],
)
def test_what_differs_from_tick_to_tick_is_not_content(a: str, b: str, same: bool) -> None:
    assert (normalised(a) == normalised(b)) is same
