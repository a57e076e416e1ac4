"""JSON out of a program's output: lines, one document, an array, with leading noise.

The bytes come from a process that may be broken or hostile: nothing here raises on bad input, and what could not be
understood is counted and reported, never guessed at.
"""

from __future__ import annotations

from typing import Any

import msgspec

from inspan.spec.foreign import loads

PENDING_LIMIT = 8 << 20
"""Most bytes of an unfinished multi-line document that are kept."""


def parse(data: bytes) -> Any:
    """The JSON value in ``data``, or None when it holds none. (A bare ``null`` carries nothing either.)"""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        return loads(data)
    except (ValueError, RecursionError):
        return None


class Documents:
    """Turns lines into JSON objects.

    Accepts an object per line, an array per line, an array with an element per line, a document spread over many lines,
    and a banner before any of them, on its own line or on the same one.
    """

    def __init__(self) -> None:
        self.skipped = 0
        self._pending: list[bytes] = []
        self._size = 0

    def feed(self, line: bytes) -> list[dict[str, Any]]:
        """The objects that this line completes, in order."""
        text = line.strip()
        if text in (b"", b"[", b"]", b","):
            return self._extend(line) if self._pending or text == b"[" else []
        value = _value(text.removesuffix(b","))
        if value is None:
            if self._pending or text[:1] in (b"{", b"["):
                return self._extend(line)
            value = _value(_after_banner(text))
        elif self._pending and line[:1] in (b" ", b"\t"):
            return self._extend(line)
        if value is None:
            self.skipped += 1
            return []
        self._drop()
        return self._objects(value)

    def finish(self) -> list[dict[str, Any]]:
        """The objects still pending when the output ends; what is incomplete is counted as skipped."""
        value = _value(b"\n".join(self._pending).strip()) if self._pending else None
        if value is None:
            self._drop()
            return []
        self._pending.clear()
        return self._objects(value)

    def _extend(self, line: bytes) -> list[dict[str, Any]]:
        """Add a line to a document spread over many; try it whole when the line can be its last."""
        self._pending.append(line)
        self._size += len(line)
        if self._size > PENDING_LIMIT:
            self._drop()
        elif line[:1] in (b"}", b"]"):
            value = _value(b"\n".join(self._pending).strip())
            if value is not None:
                self._pending.clear()
                self._size = 0
                return self._objects(value)
        return []

    def _drop(self) -> None:
        if b"".join(self._pending).strip() != b"[":  # an array with an element per line
            self.skipped += len(self._pending)
        self._pending.clear()
        self._size = 0

    def _objects(self, value: Any) -> list[dict[str, Any]]:
        found = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
        if not found:
            self.skipped += 1
        return found


def _value(text: bytes) -> Any:
    """A JSON object or array; numbers and strings on a line of their own are noise."""
    return parse(text) if text[:1] in (b"{", b"[") else None


def _after_banner(text: bytes) -> bytes:
    """What follows a banner printed on the same line, from the first thing that looks like an object or array."""
    starts = [at for at in (text.find(b'{"'), text.find(b'[{"')) if at > 0]
    return text[min(starts) :] if starts else b""
