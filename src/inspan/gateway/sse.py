"""Server-sent events at byte level. Pure.

Frames are cut from the stream without changing a byte: the frames plus the rest that ``flush`` returns are the stream.
Line ends may be CRLF or LF, ``data:`` may lack its space, a frame may be only a comment, and chunks may split anything,
a multi-byte character included, because nothing is decoded before a frame is whole.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_BLANK = re.compile(rb"\n\r?\n")
LARGEST: Final = 8 << 20
"""A frame longer than this is passed on in pieces and not read; nothing is held without bound."""


class Frame(NamedTuple):
    """One event as it came.

    Attributes:
        raw: every byte of it, its blank line included.
        event: the ``event:`` field, None without one.
        data: the ``data:`` lines joined by newlines, None for a frame without data (a comment, a bare ``retry:``).
    """

    raw: bytes
    event: str | None
    data: bytes | None


class Framer:
    """Cuts a chunked byte stream into frames."""

    def __init__(self) -> None:
        self._held = b""
        self._searched = 0

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames this chunk completes, in order."""
        self._held += chunk
        frames: list[Frame] = []
        start = 0
        while (found := _BLANK.search(self._held, max(start, self._searched))) is not None:
            frames.append(parse(self._held[start : found.end()]))
            start = self._searched = found.end()
        self._held = self._held[start:]
        self._searched = max(0, len(self._held) - 2)  # a blank line may be split over chunks
        if len(self._held) > LARGEST:
            frames.append(Frame(self.flush(), None, None))
        return frames

    def flush(self) -> bytes:
        """The bytes after the last whole frame; forgets them."""
        rest, self._held, self._searched = self._held, b"", 0
        return rest


def parse(raw: bytes) -> Frame:
    """Read the fields of one frame."""
    event: str | None = None
    data: list[bytes] = []
    for line in raw.split(b"\n"):
        line = line.removesuffix(b"\r")
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            data.append(value)
        elif name == b"event":
            event = value.decode("utf-8", "replace")
    return Frame(raw, event, b"\n".join(data) if data else None)


def encode(data: bytes, event: str | None = None) -> bytes:
    """One frame. ``data`` must hold no newline (compact JSON holds none)."""
    head = f"event: {event}\n".encode() if event else b""
    return head + b"data: " + data + b"\n\n"
