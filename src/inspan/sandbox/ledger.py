"""What the egress proxy of one tree decided, added up as it goes. Bounded, however much the inside asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from inspan.outcome.records import EGRESS_WHY, EgressDecision, EgressRecord
from inspan.spec.egress import Destination

LISTED: Final = 64
"""Lines about destinations nobody granted that are kept; what concerns a granted one is always kept."""


@dataclass
class Line:
    """One destination, decision and reason; see ``EgressDecision``."""

    host: str | None
    port: int | None
    decision: str
    why: str
    address: str | None = None
    count: int = 0
    sent: int = 0
    received: int = 0


class Ledger:
    """The decisions about one tree.

    Attributes:
        granted, private: as in ``EgressRecord``. connections, sent, received: totals so far.
    """

    def __init__(self, granted: tuple[str, ...], private: tuple[str, ...]) -> None:
        self.granted, self.private = granted, tuple(text for text in private if text in granted)
        self.connections = self.sent = self.received = 0
        self._lines: dict[tuple[str, str, str], Line] = {}
        self._strangers = self._more = 0

    def note(
        self, asked: Destination | None, decision: str, why: str, address: str | None = None, *, count: int = 1
    ) -> Line:
        """Count a decision; ``count`` 0 only remembers the address."""
        assert why in EGRESS_WHY
        key = ("" if asked is None else str(asked), decision, why)
        line = self._lines.get(key)
        if line is None:
            line = Line(asked and asked.host, asked and asked.port, decision, why)
            stranger = asked is not None and str(asked) not in self.granted
            if stranger and self._strangers >= LISTED:
                self._more += count
                return line
            self._strangers += stranger
            self._lines[key] = line
        line.count += count
        line.address = address or line.address
        return line

    def spend(self, line: Line, size: int, outwards: bool) -> None:
        """Count bytes of a tunnel."""
        if outwards:
            line.sent += size
            self.sent += size
        else:
            line.received += size
            self.received += size

    def record(self) -> EgressRecord:
        """The decisions so far."""
        return EgressRecord(
            granted=self.granted,
            private=self.private,
            connections=self.connections,
            sent=self.sent,
            received=self.received,
            decisions=tuple(msgspec.convert(vars(line), EgressDecision) for line in list(self._lines.values())),
            more=self._more,
        )
