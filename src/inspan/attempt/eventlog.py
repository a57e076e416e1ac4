"""``events.jsonl``: what the harness did, one document a line, appended as it happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from inspan.harness.contract import Event
from inspan.redact import Redactor
from inspan.times import timestamp

EVENT_LIMIT = 64 << 10
"""Bytes of one event; a larger one loses its data."""

LOG_LIMIT = 64 << 20
"""Bytes of the whole file; later events are counted and not kept."""


def scrubbed(value: Any, redactor: Redactor) -> Any:
    """A JSON-like value with every text in it redacted: an escaped secret shows only once its line is decoded."""
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, dict):
        return {scrubbed(k, redactor): scrubbed(v, redactor) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [scrubbed(v, redactor) for v in value]
    return value


class EventLog:
    """The writing side.

    Attributes:
        dropped: events that no longer fitted.
    """

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self._redactor = redactor
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115  held for the run
        self._size = 0
        self.dropped = 0

    def add(self, event: Event) -> None:
        """Append one event.

        Raises:
            OSError: (ENOSPC, EDQUOT) when the file cannot be written.
        """
        said = scrubbed({"kind": event.kind, "text": event.text, "data": event.data}, self._redactor)
        document: dict[str, Any] = {"at": timestamp(), **said}
        line = msgspec.json.encode(document)
        if len(line) > EVENT_LIMIT:
            document.update(text=document["text"][:1000], data={"cut": True})
            line = msgspec.json.encode(document)
        if self._size + len(line) > LOG_LIMIT:
            self.dropped += 1
            return
        self._size += len(line) + 1
        left = memoryview(line + b"\n")
        while left:
            left = left[self._file.write(left) :]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class EventTail:
    """The reading side: every event once, in order, while the file grows."""

    def __init__(self, path: Path, on_event: Callable[[dict[str, Any]], None]) -> None:
        self._path, self._on_event = path, on_event
        self._offset = 0

    def poll(self) -> None:
        """Hand on what has come since the last call."""
        offset = -1
        while offset != self._offset:
            offset = self._offset
            for document in self._new():
                self._on_event(document)

    def _new(self) -> Iterator[dict[str, Any]]:
        try:
            with open(self._path, "rb") as f:
                f.seek(self._offset)
                data = f.read(1 << 22)
        except FileNotFoundError:
            return
        whole = data.rfind(b"\n") + 1
        self._offset += whole
        for line in data[:whole].splitlines():
            try:
                yield msgspec.json.decode(line, type=dict[str, Any])
            except msgspec.MsgspecError:
                continue
