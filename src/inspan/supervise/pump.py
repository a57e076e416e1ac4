"""Reads a child's pipe into a capped, redacted file and, line by line, for the reader.

Never blocks: a pipe that a grandchild holds open delays nothing, because the end of a run is decided by the process and
by the terminal record, and what is in the pipe by then is drained. Memory is bounded by the line limit whatever the
child writes.
"""

from __future__ import annotations

import os
from typing import BinaryIO

from inspan.redact import Redactor, StreamRedactor

LINE_LIMIT = 1 << 20
"""Bytes of one line that the reader gets to see; the rest of a longer line is kept in the file only."""

_CHUNK = 1 << 16
_BURST = 1 << 18


class Pump:
    """One pipe.

    Args:
        fd: the read end; made non-blocking and owned from now on.
        sink: where the redacted bytes go, unbuffered, so that a full disk shows where it is hit; owned by the caller.
        cap: bytes stored at most; what comes after is counted, shown to the reader and not stored.

    Attributes:
        total: bytes read so far.
        closed: the writer's end is gone.
        cut: lines longer than the limit.
    """

    def __init__(
        self, fd: int, sink: BinaryIO, redactor: Redactor, *, cap: int | None = None, line_limit: int = LINE_LIMIT
    ) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.total = self.cut = 0
        self.closed = False
        self._sink, self._redactor, self._stream = sink, redactor, StreamRedactor(redactor)
        self._cap, self._line_limit, self._stored = cap, line_limit, 0
        self._rest = bytearray()
        self._skipping = False

    def read(self, burst: int = _BURST) -> list[bytes]:
        """Complete lines that are there now, redacted, without newlines. At most about ``burst`` bytes are taken.

        Raises:
            OSError: (ENOSPC, EDQUOT) when the file cannot be written.
        """
        lines: list[bytes] = []
        taken = 0
        while taken < burst and not self.closed:
            try:
                chunk = os.read(self.fd, _CHUNK)
            except BlockingIOError:
                break
            if not chunk:
                self.closed = True
                break
            taken += len(chunk)
            self.total += len(chunk)
            self._store(self._stream.feed(chunk))
            self._split(chunk, lines)
        # All in one go: it is much cheaper than line by line, and a private key of several lines is seen as one.
        return self._redactor.data(b"\n".join(lines)).split(b"\n") if lines else []

    def finish(self, burst: int = 1 << 23) -> list[bytes]:
        """Drain what is in the pipe without waiting, then close it; an unfinished last line counts as a line."""
        lines = self.read(burst)
        if self._rest:
            lines.append(self._redactor.data(bytes(self._rest)))
            self._rest.clear()
        self._store(self._stream.flush())
        if self.fd >= 0:
            os.close(self.fd)
            self.fd, self.closed = -1, True
        return lines

    def _store(self, data: bytes) -> None:
        room = len(data) if self._cap is None else max(0, self._cap - self._stored)
        left = memoryview(data)[:room]
        self._stored += len(left)
        while left:
            left = left[self._sink.write(left) :]

    def _split(self, chunk: bytes, lines: list[bytes]) -> None:
        start = 0
        while True:
            end = chunk.find(b"\n", start)
            piece = chunk[start:] if end < 0 else chunk[start:end]
            if not self._skipping:
                self._rest += piece[: self._line_limit - len(self._rest)]
                if len(self._rest) >= self._line_limit:
                    self._skipping = True
                    self.cut += 1
            if end < 0:
                return
            lines.append(bytes(self._rest))
            self._rest.clear()
            self._skipping = False
            start = end + 1
