"""A harness's three standard streams: the prompt in, output and events out."""

from __future__ import annotations

import os
import selectors
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from inspan.attempt.eventlog import EventLog
from inspan.harness.contract import Event, Reader
from inspan.redact import Redactor
from inspan.supervise.pump import Pump


class Streams:
    """Pipes, files and reader of one run. ``child`` holds the descriptors for the tree until ``handed_over``.

    Attributes:
        failures: times the adapter's reader raised, which it must not.
    """

    def __init__(
        self,
        root: tuple[Path, Path],
        log: EventLog,
        reader: Reader,
        redactor: Redactor,
        *,
        feed: bytes | None,
        cap: int | None,
    ) -> None:
        self._reader, self._log = reader, log
        self._feed = memoryview(feed) if feed else None
        self._selector = selectors.DefaultSelector()
        self.failures = 0
        self._pumps: dict[Pump, Callable[[bytes], list[Event]]] = {}
        self._files: list[BinaryIO] = []
        writers: list[int] = []
        for path, feed_reader in zip(root, (reader.feed, reader.feed_stderr), strict=True):
            read_end, write_end = os.pipe()
            sink = open(path, "wb", buffering=0)  # noqa: SIM115  held for the run
            pump = Pump(read_end, sink, redactor, cap=cap)
            self._files.append(sink)
            self._pumps[pump] = feed_reader
            self._selector.register(read_end, selectors.EVENT_READ, pump)
            writers.append(write_end)
        self._stdin = -1
        if self._feed is None:
            source = os.open(os.devnull, os.O_RDONLY)
        else:
            source, self._stdin = os.pipe()
            os.set_blocking(self._stdin, False)
        self.child = (source, writers[0], writers[1])

    @property
    def total(self) -> int:
        """Bytes of output so far."""
        return sum(pump.total for pump in self._pumps)

    def handed_over(self) -> None:
        """Close the tree's ends; it has its own copies now, or was never started."""
        for fd in self.child:
            os.close(fd)
        self.child = (-1, -1, -1)

    def watch(self, pidfd: int) -> None:
        """Also wake up when a process ends."""
        self._selector.register(pidfd, selectors.EVENT_READ)

    def unwatch(self, pidfd: int) -> None:
        """The end was seen."""
        self._selector.unregister(pidfd)

    def feed_prompt(self) -> None:
        """Begin to write the prompt; the pipe takes it as the program reads."""
        if self._stdin >= 0:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)

    def turn(self, timeout: float) -> list[Event]:
        """Wait up to ``timeout`` seconds for something, take what is there, give the events of it.

        Raises:
            OSError: (ENOSPC, EDQUOT) when the output cannot be stored.
        """
        events: list[Event] = []
        for key, _ in self._selector.select(timeout):
            if key.fd == self._stdin:
                self._write()
            elif isinstance(key.data, Pump):
                events += self._take(key.data, key.data.read())
                if key.data.closed:
                    self._selector.unregister(key.fd)
        return events

    def finish(self) -> list[Event]:
        """Take what is left, after the tree is dead. A held-open pipe is not waited for."""
        events: list[Event] = []
        for pump in self._pumps:
            if pump.fd in self._selector.get_map():
                self._selector.unregister(pump.fd)
            events += self._take(pump, pump.finish())
        return events

    def close(self) -> None:
        """Close everything. Idempotent."""
        self._stop_feeding()
        if self.child[0] >= 0:
            self.handed_over()
        for pump in self._pumps:
            if pump.fd >= 0:
                os.close(pump.fd)
                pump.fd = -1
        for file in self._files:
            file.close()
        self._selector.close()

    def _take(self, pump: Pump, lines: list[bytes]) -> list[Event]:
        events: list[Event] = []
        for line in lines:
            try:
                found = self._pumps[pump](line)
            except Exception:  # a third party's adapter; its fault must not cost the evidence
                self.failures += 1
                continue
            for event in found:
                self._log.add(event)
            events += found
        return events

    def _write(self) -> None:
        try:
            if self._feed:
                self._feed = self._feed[os.write(self._stdin, self._feed[: 1 << 16]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the program closed its input; what it makes of that is its own affair
            self._feed = None
        if not self._feed:
            self._stop_feeding()

    def _stop_feeding(self) -> None:
        if self._stdin >= 0:
            if self._stdin in self._selector.get_map():
                self._selector.unregister(self._stdin)
            os.close(self._stdin)
            self._stdin = -1
