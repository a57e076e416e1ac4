"""The wire journal: one line when a request starts and one when it ends, and what can be concluded from them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from inspan.gateway.contract import WireRecord
from inspan.outcome.records import Usage
from inspan.redact import Redactor
from inspan.routing.failure import Signal

LONGEST_MESSAGE = 500
LONGEST_WORD = 200


class Journal:
    """Append-only; a line is in the file when ``write`` returns."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self._redactor = redactor
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)
        # A writer that was killed may have left half a line.
        size = os.fstat(self._file).st_size
        self._clean = size == 0 or _last_byte(path) == b"\n"

    def write(self, record: WireRecord) -> None:
        """Append one record, redacted.

        Raises:
            OSError: when the line cannot be written whole.
        """
        line = msgspec.json.encode(self._redacted(record)) + b"\n"
        if not self._clean:
            line = b"\n" + line
        self._clean = False
        while line:
            line = line[os.write(self._file, line) :]
        self._clean = True

    def close(self) -> None:
        """Close the file. Idempotent."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _redacted(self, record: WireRecord) -> WireRecord:
        changed = {}
        for field in record.__struct_fields__:
            value = getattr(record, field)
            if isinstance(value, str):
                limit = LONGEST_MESSAGE if field == "error_message" else LONGEST_WORD
                changed[field] = self._redactor.text(value)[:limit]
        return msgspec.structs.replace(record, **changed)


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def read_journal(path: Path) -> list[WireRecord]:
    """Every request in the order it started; the last line of an id wins. Lines that cannot be read are left out: a
    request whose end is one of them stays ``open``, which counts as usage nobody knows."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    records: dict[str, WireRecord] = {}
    for line in content.splitlines():
        try:
            record = msgspec.json.decode(line, type=WireRecord)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        records[record.id] = record
    return list(records.values())


def _sum(values: Iterable[int | None]) -> int | None:
    known = [v for v in values if v is not None]
    return sum(known) if known else None


def usage(records: Sequence[WireRecord]) -> Usage:
    """Tokens of all model requests together. Unknown is None and never zero.

    An answer with an error status costs nothing and says nothing, so it does not make the sum partial; a request that
    was cut off, or answered without usage, does.
    """
    reached = [
        r
        for r in records
        if r.kind == "inference" and r.state != "refused" and (r.status is not None or r.state in ("open", "aborted"))
    ]
    told = [r for r in reached if r.input is not None or r.output is not None]
    silent = [r for r in reached if not _exact(r)]
    if not told:
        return Usage(source="none", requests=len(reached))
    return Usage(
        source="partial" if silent else "gateway",
        requests=len(reached),
        input=_sum(r.input for r in told),
        cache_read=_sum(r.cache_read for r in told),
        cache_write=_sum(r.cache_write for r in told),
        output=_sum(r.output for r in told),
        reasoning=_sum(r.reasoning for r in told),
    )


def _exact(record: WireRecord) -> bool:
    if record.state != "done":
        return False
    return (record.status or 0) >= 400 or (record.input is not None and record.output is not None)


def signals(records: Sequence[WireRecord]) -> list[Signal]:
    """What the wire says went wrong, in order of time. What a later request to the same model got over is left out."""
    found: list[tuple[str | None, Signal]] = []
    for record in sorted((r for r in records if r.kind == "inference" and r.ended), key=lambda r: r.ended or ""):
        if record.state == "done" and (record.status or 0) < 400:
            found = [(model, s) for model, s in found if model != record.model_requested]
        elif record.state in ("done", "broken"):
            found.append((record.model_requested, _signal(record)))
    return [s for _, s in found]


def _signal(record: WireRecord) -> Signal:
    return Signal(
        source="wire",
        status=record.status,
        type=record.error_type,
        code=record.error_code,
        message=record.error_message or "",
        retry_after=record.retry_after,
        at=record.ended,
    )
