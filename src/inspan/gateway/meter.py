"""Passes one answer on and reads it on the way. Pure.

A stream is passed frame by frame as the frames come; what is held back is only the frame that is not whole yet, which
no client can use either. So a frame cut off by a broken connection never reaches the client, and what does reach it
is byte for byte what came.
"""

from __future__ import annotations

from inspan.gateway.sse import Frame, Framer, parse
from inspan.gateway.wire import Reading, Wire
from inspan.redact import Redactor, StreamRedactor

LARGEST_BODY = 64 << 20
"""A longer plain answer is passed on and not read: its usage is unknown."""


class Meter:
    """Reads one answer.

    Args:
        wire: the protocol of the answer.
        stream: whether the answer is an event stream; otherwise it is one document.
        strip: take out the events that exist only because we asked for them.
        scrub: takes the credential out, should the endpoint ever repeat it; None when there is none.
    """

    def __init__(self, wire: Wire, *, stream: bool, strip: bool = False, scrub: Redactor | None = None) -> None:
        self.reading = Reading()
        self.stream = stream
        self._wire, self._strip, self._scrub = wire, strip, scrub
        self._framer = Framer()
        self._body: list[bytes] | None = []
        self._length = 0
        self._scrubber = StreamRedactor(scrub) if scrub is not None and not stream else None

    def feed(self, chunk: bytes) -> bytes:
        """Take what came; returns what goes to the client now."""
        if self.stream:
            return b"".join(self._pass(frame) for frame in self._framer.feed(chunk))
        self._length += len(chunk)
        if self._length > LARGEST_BODY:
            self._body = None
        if self._body is not None:
            self._body.append(chunk)
        return self._scrubber.feed(chunk) if self._scrubber is not None else chunk

    def finish(self) -> bytes:
        """The answer ended; returns the last bytes for the client. A frame that was cut off is not among them."""
        if not self.stream:
            if self._body is not None:
                self._wire.read_body(self.reading, b"".join(self._body))
            return self._scrubber.flush() if self._scrubber is not None else b""
        rest = self._framer.flush()
        if not rest:
            return b""
        # The last frame of a complete answer may lack its blank line.
        passed = self._pass(parse(rest))
        return passed if self.reading.finished else b""

    def _pass(self, frame: Frame) -> bytes:
        if frame.data is not None:
            self._wire.read_event(self.reading, frame.data)
            if self._strip and self._wire.superfluous(frame.data):
                return b""
        return self._scrub.data(frame.raw) if self._scrub is not None else frame.raw
