"""Per-test results as a runner's own reports gave them. Pure reading of the lines the shim wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from inspan.spec.foreign import loads

_WORST = ("passed", "xpassed", "xfailed", "skipped", "failed", "error")
"""Outcome words; a test that ran twice has its worse outcome."""


class TestRun(msgspec.Struct, frozen=True, kw_only=True):
    """What one run of a command said about its tests.

    Attributes:
        outcomes: test id (``path::[Class::]name[params]``) to outcome word.
        texts: test id to the first line of its failure.
        collect: modules that could not be collected, or skipped themselves: id to (outcome, text).
        items: ids that were collected.
        loaded: times our module was loaded by a runner.
        sessions, finished: test sessions that began and that ended regularly.
        garbled: lines that could not be understood; evidence with such lines is no evidence.
    """

    outcomes: Mapping[str, str] = msgspec.field(default_factory=dict)
    texts: Mapping[str, str] = msgspec.field(default_factory=dict)
    collect: Mapping[str, tuple[str, str]] = msgspec.field(default_factory=dict)
    items: frozenset[str] = frozenset()
    loaded: int = 0
    sessions: int = 0
    finished: int = 0
    garbled: int = 0

    @property
    def complete(self) -> bool:
        """Every session that began also ended, and everything collected has an outcome."""
        return 0 < self.sessions == self.finished and not self.garbled and self.items <= self.outcomes.keys()

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
        text = self.texts.get(test_id, "")
        asserted = text.startswith(("assert ", "AssertionError", "Failed:", "[XPASS"))
        return "A" if outcome == "failed" and asserted else "X"

    def _uncollected(self, test_id: str) -> str:
        path = test_id.split("::", 1)[0]
        for collected, (outcome, _) in self.collect.items():
            if path == collected or path.startswith(collected.rstrip("/") + "/") or path.endswith("/" + collected):
                return "X" if outcome == "failed" else "S"
        return "-"


def read_lines(data: bytes, key: str) -> TestRun:
    """Read what the shim wrote. A line without this run's ``key`` was written by something else and is garbled."""
    outcomes: dict[str, str] = {}
    texts: dict[str, str] = {}
    collect: dict[str, tuple[str, str]] = {}
    items: set[str] = set()
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
        elif kind == "test" and record.get("outcome") in _WORST:
            outcomes[name] = max(record["outcome"], outcomes.get(name, "passed"), key=_WORST.index)
        else:
            garbled += 1
    return TestRun(
        outcomes=outcomes, texts=texts, collect=collect, items=frozenset(items),
        loaded=loaded,
        sessions=sessions, finished=finished, garbled=garbled,
    )  # fmt: skip
