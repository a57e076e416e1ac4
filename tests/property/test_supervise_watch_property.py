"""The watch under every order of events: it never stalls a working harness and always stalls a dead one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from inspan.supervise.watch import RECENT, Limits, Watch

STALL = 10.0
TICK = 0.5


def run_until(watch: Watch, start: float, end: float) -> float | None:
    """The time of the first verdict between two times, looking every tick."""
    now = start
    while now <= end:
        if watch.verdict(now) is not None:
            return now
        now += TICK
    return None


@settings(deadline=None)
@given(
    st.lists(st.floats(min_value=0.01, max_value=STALL - 0.01), min_size=1, max_size=30),
    st.sampled_from(["events", "both"]),
)
def test_novel_events_closer_than_the_limit_never_stall(gaps: list[float], liveness: str) -> None:
    watch = Watch(Limits(stall=STALL), now=0.0, deadline=1e9, liveness=liveness)
    now = 0.0
    for i, gap in enumerate(gaps):
        assert run_until(watch, now, now + gap) is None
        now += gap
        assert watch.event(now, "tool", f"step {i}")
    assert watch.verdict(now) is None
    assert run_until(watch, now, now + STALL + TICK) is not None, "control: the same watch stalls when nothing follows"


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", "tick 1", "tick 2"]), min_size=1, max_size=60),
    st.sampled_from(["events", "both"]),
)
def test_nothing_novel_stalls_within_the_limit_and_a_tick(lines: list[str], liveness: str) -> None:
    watch = Watch(Limits(stall=STALL), now=0.0, deadline=1e9, liveness=liveness)
    for line in ["a", "b", "tick 1", "tick 2"]:
        watch.event(0.0, "text", line)
    now = 0.0
    stopped = None
    step = 0
    while stopped is None:
        now += TICK
        assert not watch.event(now, "text", lines[step % len(lines)])
        step += 1
        verdict = watch.verdict(now)
        stopped = now if verdict is not None else None
        assert now < STALL + 2 * TICK
    verdict = watch.verdict(now)
    assert verdict is not None and verdict.reason == "stalled" and "last event: text:" in verdict.detail
    assert stopped is not None and stopped >= STALL


@settings(deadline=None)
@given(st.integers(min_value=1, max_value=RECENT), st.integers(min_value=2, max_value=4))
def test_a_cycle_of_lines_is_not_progress(length: int, rounds: int) -> None:
    watch = Watch(Limits(stall=STALL), now=0.0, deadline=1e9)
    novel = [watch.event(0.0, "text", f"line {i % length}") for i in range(length * rounds)]
    assert novel == [True] * length + [False] * length * (rounds - 1)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 30), st.booleans()), max_size=40), st.floats(min_value=20, max_value=100))
def test_the_deadline_is_never_passed(events: list[tuple[float, bool]], deadline: float) -> None:
    watch = Watch(Limits(stall=15), now=0.0, deadline=deadline, liveness="both")
    now = 0.0
    for i, (gap, terminal) in enumerate(events):
        now += gap
        watch.event(now, "tool", str(i))
        watch.requests(now, [now])
        if terminal:
            watch.terminal(now)
        if now >= deadline:
            assert watch.verdict(now) is not None
    assert watch.verdict(max(now, deadline)) is not None


@settings(deadline=None)
@given(st.lists(st.sampled_from(["event", "terminal", "wire", "output"]), max_size=20))
def test_a_cancel_is_overwritten_by_nothing(later: list[str]) -> None:
    watch = Watch(Limits(stall=5, output=10), now=0.0, deadline=50.0)
    watch.cancel()
    for i, word in enumerate(later):
        {
            "event": lambda i=i: watch.event(float(i), "text", str(i)),
            "terminal": lambda i=i: watch.terminal(float(i)),
            "wire": lambda i=i: watch.wire(float(i)),
            "output": lambda: watch.output(1000),
        }[word]()
    verdict = watch.verdict(100.0)
    assert verdict is not None and verdict.reason == "cancelled"
