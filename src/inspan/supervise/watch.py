"""When to stop a harness: deadline, stall, output cap, cancel, grace after the terminal record. Pure: time is given.

What counts as progress is novelty, not bytes. An event is novel unless its content is among the recent distinct ones,
so identical and alternating lines stall however often they come. Where a counter is no work (banners, spinners, usage
totals, records of no known form) events are compared without their digits and ids; what the agent says and does is
compared exactly, so that a counter in it is progress.

A model request in flight is progress too, as long as it has been silent for less than ``request_stall``: a long prefill
survives. Two bounds keep a harness that goes round in circles from living on its requests: once events are expected
(``events``, or ``both`` after the first one) a few requests may be answered without a novel event, no more, and
requests alone keep it alive for at most ``request_stall`` after its last novel event. A harness that declares ``wire``
is silent until its end, so there every request counts.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from typing import Literal, NamedTuple

Liveness = Literal["events", "wire", "both"]
StopReason = Literal["cancelled", "finished", "deadline", "output_capped", "stalled", "limit", "disk_full"]

RECENT = 64
"""Distinct contents remembered; a cycle of lines no longer than this is not progress."""

ANSWERS = 10
"""Model requests that may end without a novel event before requests stop to count as progress."""

_COUNTERS = frozenset({"notice", "usage", "turn", "other"})
"""Kinds of events whose numbers are no work."""

_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{16,}\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SPACE = re.compile(r"\s+")


class Stop(NamedTuple):
    """The word to act on: why the tree is to be ended, and a sentence for people."""

    reason: StopReason
    detail: str


class Limits(NamedTuple):
    """Seconds, but for ``output`` (bytes, None for no cap).

    Attributes:
        stall: without progress.
        request_stall: a model request may be silent.
        grace: between the terminal record and the end of the process.
        ask: a question to a person may stand unanswered with nothing new after it.
        startup: until the first sign of life, when that is more than ``stall``: a program loads before it can speak.
    """

    stall: float
    request_stall: float = 1800.0
    grace: float = 3.0
    ask: float = 10.0
    startup: float = 30.0
    output: int | None = None


def normalised(text: str) -> str:
    """The text without what differs from tick to tick: ids, numbers, times, runs of space."""
    return _SPACE.sub(" ", _NUMBER.sub("#", _UUID.sub("#", text))).strip()


class Watch:
    """The state of one run. All times are seconds of one monotonic clock, none of them read here.

    Args:
        now: the start.
        deadline: absolute, on the same clock.
        liveness: what shows progress for this harness.
    """

    def __init__(self, limits: Limits, *, now: float, deadline: float, liveness: Liveness = "events") -> None:
        self._limits, self._deadline, self._liveness = limits, deadline, liveness
        self._recent: OrderedDict[str, None] = OrderedDict()
        self._novel_at = self._wire_at = now
        self._answers = 0
        self._seen_wire = False
        self._terminal_at: float | None = None
        self._asked: tuple[float, str] | None = None
        self._last: tuple[float, str] | None = None
        self._output = 0
        self._forced: Stop | None = None

    @property
    def terminal_seen(self) -> bool:
        """Whether the terminal record had arrived; the run then ends ``finished`` whatever the clock says."""
        return self._terminal_at is not None

    def event(self, now: float, kind: str, content: str) -> bool:
        """An event of the harness's output; True when it is novel.

        Args:
            kind: the event's kind.
            content: everything that tells it from another of its kind; what follows a NUL is not shown to people.
        """
        self._last = (now, f"{kind}: {_shown(content)}".removesuffix(": "))
        key = kind + "\0" + (normalised(content) if kind in _COUNTERS else content)
        novel = key not in self._recent
        self._recent[key] = None
        self._recent.move_to_end(key)
        if len(self._recent) > RECENT:
            self._recent.popitem(last=False)
        if novel:
            self._novel_at, self._answers = now, 0
            self._asked = (now, _shown(content)) if kind == "ask" else None
        return novel

    def wire(self, now: float, ended: int = 0) -> None:
        """A model request was opened, bytes of one went by, or ``ended`` of them ended."""
        self._alive(now)
        self._answers += ended

    def requests(self, now: float, in_flight: Sequence[float]) -> None:
        """The open model requests, each by the time of its start or its last byte."""
        if any(now - touched <= self._limits.request_stall for touched in in_flight):
            self._alive(now)

    def _alive(self, now: float) -> None:
        self._seen_wire = True
        if self._silent() or self._answers < ANSWERS:
            self._wire_at = max(self._wire_at, now)

    def _silent(self) -> bool:
        """Whether events are not to be expected, so that requests are all there is to see."""
        return self._liveness == "wire" or (self._liveness == "both" and self._last is None)

    def terminal(self, now: float) -> None:
        """The terminal record was seen."""
        if self._terminal_at is None:
            self._terminal_at = now

    def output(self, total: int) -> None:
        """Bytes of output so far."""
        self._output = total

    def cancel(self) -> None:
        """A person cancelled; nothing later overwrites it."""
        self._forced = Stop("cancelled", "a person cancelled the attempt")

    def exceeded(self, reason: Literal["limit", "disk_full"], detail: str) -> None:
        """Something outside found a limit exceeded. The first word stands."""
        if self._forced is None:
            self._forced = Stop(reason, detail)

    def verdict(self, now: float) -> Stop | None:
        """Whether to end the tree now."""
        if self._forced is not None and (self._forced.reason == "cancelled" or self._terminal_at is None):
            return self._forced
        if self._terminal_at is not None:
            over = now - self._terminal_at >= self._limits.grace or now >= self._deadline
            return (
                Stop("finished", "the terminal record was seen and the process did not end by itself") if over else None
            )
        if self._limits.output is not None and self._output > self._limits.output:
            return Stop("output_capped", f"more than {self._limits.output} bytes of output")
        if now >= self._deadline:
            return Stop("deadline", f"the deadline passed; last event: {self._named(now)}")
        return self._stalled(now)

    def _stalled(self, now: float) -> Stop | None:
        quiet = now - self._progress_at()
        if self._asked is not None and quiet >= min(self._limits.ask, self._limits.stall):
            return Stop("stalled", f"the harness asked a person who is not there: {self._asked[1]}")
        alive = self._last is not None or self._seen_wire
        if quiet < (self._limits.stall if alive else max(self._limits.stall, self._limits.startup)):
            return None
        return Stop("stalled", f"nothing new for {quiet:.0f} s; last event: {self._named(now)}")

    def _progress_at(self) -> float:
        if self._silent():
            return self._wire_at
        return max(self._novel_at, min(self._wire_at, self._novel_at + self._limits.request_stall))

    def _named(self, now: float) -> str:
        if self._last is None:
            return "none"
        at, text = self._last
        return f"{text} ({now - at:.0f} s ago)"


def _shown(content: str) -> str:
    text = _SPACE.sub(" ", content.partition("\0")[0]).strip()
    return text if len(text) <= 200 else text[:199] + "…"
