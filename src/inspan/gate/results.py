"""Per-test results as a runner's own reports gave them. Pure reading of the lines the shim wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from inspan.spec.foreign import loads

_WORST = ("passed", "xpassed", "xfailed", "skipped", "failed", "error")
"""Outcome words; a test that ran twice has its worse outcome."""


Source = Literal["reporter", "output", "report"]
_SOURCES: tuple[Source, ...] = ("reporter", "output", "report")


class TestRun(msgspec.Struct, frozen=True, kw_only=True):
    """What one run of a command said about its tests.

    Attributes:
        outcomes: test id (``<where>::<name>[::<name>...]``, *where* mostly a path) to outcome word.
        texts: test id to the first line of its failure.
        asserted: ids that failed by what they assert, not by another error.
        collect: modules or packages that could not be collected or built, or skipped themselves: *where* to
            (outcome, text); ``""`` stands for all of them.
        items: ids that were collected.
        loaded: times our module was loaded by a runner.
        sessions, finished: test sessions that began and that ended regularly.
        garbled: lines that could not be understood; evidence with such lines is no evidence.
        source: how the results left: ``reporter`` (the runner's own reporter, keyed), ``output`` (read from what the
            test program printed, held against its counts and its end), ``report`` (a file the command writes).
    """

    outcomes: Mapping[str, str] = msgspec.field(default_factory=dict)
    texts: Mapping[str, str] = msgspec.field(default_factory=dict)
    asserted: frozenset[str] = frozenset()
    collect: Mapping[str, tuple[str, str]] = msgspec.field(default_factory=dict)
    items: frozenset[str] = frozenset()
    loaded: int = 0
    sessions: int = 0
    finished: int = 0
    garbled: int = 0
    source: Source = "reporter"

    @property
    def complete(self) -> bool:
        """Some test has an outcome, every session that began also ended, and everything collected has an outcome."""
        ended = 0 < self.sessions == self.finished and not self.garbled
        return ended and bool(self.outcomes or self.collect) and self.items <= self.outcomes.keys()

    @property
    def counts(self) -> dict[str, int]:
        """Outcomes by word."""
        counted = Counter(self.outcomes.values())
        counted["error"] += sum(1 for outcome, _ in self.collect.values() if outcome == "failed")
        return {word: n for word, n in sorted(counted.items()) if n}

    def cell(self, test_id: str) -> str:
        """This test's outcome as a cell of the transplant table."""
        outcome = self.outcomes.get(test_id)
        if outcome is None:
            return self._uncollected(test_id)
        if outcome == "passed":
            return "P"
        if outcome in ("skipped", "xfailed", "xpassed"):
            return "S"
        return "A" if outcome == "failed" and test_id in self.asserted else "X"

    def _uncollected(self, test_id: str) -> str:
        path = test_id.split("::", 1)[0]
        for collected, (outcome, _) in self.collect.items():
            below = path.startswith(collected.rstrip("/") + "/") or path.endswith("/" + collected)
            if not collected or path == collected or below:
                return "X" if outcome == "failed" else "S"
        return "-"


def worst(outcome: str, other: str | None) -> str:
    """The worse of two outcomes of one test."""
    return outcome if other is None else max(outcome, other, key=_WORST.index)


def merged(runs: Sequence[TestRun]) -> TestRun:
    """Several families' results of one command as one; its source is the weakest of theirs."""
    if len(runs) == 1:
        return runs[0]
    outcomes: dict[str, str] = {}
    texts: dict[str, str] = {}
    collect: dict[str, tuple[str, str]] = {}
    for run in runs:
        for test_id, outcome in run.outcomes.items():
            outcomes[test_id] = worst(outcome, outcomes.get(test_id))
        texts |= run.texts
        collect |= run.collect
    silent = any(run.loaded and not run.sessions for run in runs)  # one family began and never came to its tests
    return TestRun(
        outcomes=outcomes,
        texts=texts,
        asserted=frozenset().union(*(run.asserted for run in runs)),
        collect=collect,
        items=frozenset().union(*(run.items for run in runs)),
        loaded=sum(run.loaded for run in runs),
        sessions=sum(run.sessions for run in runs) + silent,
        finished=sum(run.finished for run in runs),
        garbled=sum(run.garbled for run in runs),
        source=max((run.source for run in runs), key=_SOURCES.index, default="reporter"),
    )


def read_lines(data: bytes, key: str) -> TestRun:
    """Read what the shim wrote. A line without this run's ``key`` was written by something else and is garbled."""
    outcomes: dict[str, str] = {}
    texts: dict[str, str] = {}
    collect: dict[str, tuple[str, str]] = {}
    items: set[str] = set()
    asserted: set[str] = set()
    loaded = sessions = finished = garbled = 0
    for line in data.splitlines():
        try:
            record = loads(line)
            kind, name = record["kind"], str(record.get("id", ""))
        except (ValueError, KeyError, TypeError, RecursionError):
            garbled += 1
            continue
        if record.get("key") != key:
            garbled += 1
        elif kind == "loaded":
            loaded += 1
        elif kind == "start":
            sessions += 1
        elif kind == "finish":
            finished += 1
        elif kind == "item":
            items.add(name)
        elif kind == "collect":
            collect[name] = (str(record.get("outcome")), str(record.get("text", "")))
        elif kind == "phase":
            texts[name] = str(record.get("text", ""))
            if record.get("asserted") is True:
                asserted.add(name)
        elif kind == "test" and record.get("outcome") in _WORST:
            outcomes[name] = worst(record["outcome"], outcomes.get(name))
        else:
            garbled += 1
    return TestRun(
        outcomes=outcomes, texts=texts, asserted=frozenset(asserted), collect=collect, items=frozenset(items),
        loaded=loaded,
        sessions=sessions, finished=finished, garbled=garbled,
    )  # fmt: skip
