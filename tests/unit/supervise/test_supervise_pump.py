"""The pump: redaction, lines, caps, and pipes that somebody holds open."""

from __future__ import annotations

import io
import os
import threading
import tracemalloc
from collections.abc import Callable

from inspan.redact import Redactor
from inspan.supervise.pump import Pump

SECRET = "canary-5d41402abc4b2a76b9719d911017c592"


def pump_of(write: Callable[[int], None], **options: int) -> tuple[Pump, io.BytesIO, list[bytes]]:
    """Pump what ``write`` puts into a pipe, reading while it writes."""
    read_end, write_end = os.pipe()
    sink = io.BytesIO()
    pump = Pump(read_end, sink, Redactor([SECRET]), **options)
    writer = threading.Thread(target=lambda: (write(write_end), os.close(write_end)))
    writer.start()
    lines: list[bytes] = []
    while not pump.closed:
        lines += pump.read()
    writer.join()
    lines += pump.finish()
    return pump, sink, lines


def test_lines_come_whole_and_the_last_needs_no_newline() -> None:
    def write(fd: int) -> None:
        for piece in (b"one\ntw", b"o\n\nthr", b"ee"):
            os.write(fd, piece)

    pump, sink, lines = pump_of(write)
    assert lines == [b"one", b"two", b"", b"three"]
    assert sink.getvalue() == b"one\ntwo\n\nthree"
    assert pump.total == 14


def test_a_secret_split_over_chunks_is_in_neither_file_nor_lines() -> None:
    def write(fd: int) -> None:
        for byte in f"key {SECRET} end\n".encode():
            os.write(fd, bytes([byte]))

    _, sink, lines = pump_of(write)
    assert lines == [b"key [redacted] end"]
    assert sink.getvalue() == b"key [redacted] end\n"


def test_a_line_of_many_megabytes_costs_the_reader_one() -> None:
    size = 2 << 20

    def write(fd: int) -> None:
        block = b"y" * (1 << 20)
        for _ in range(2):
            os.write(fd, block)
        os.write(fd, b"\nafter\n")

    read_end, write_end = os.pipe()
    pump = Pump(read_end, io.BytesIO(), Redactor([SECRET]), cap=1 << 20, line_limit=1 << 16)
    writer = threading.Thread(target=lambda: (write(write_end), os.close(write_end)))
    writer.start()
    tracemalloc.start()
    lines: list[bytes] = []
    while not pump.closed:
        lines += pump.read()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    writer.join()
    assert [len(line) for line in lines] == [1 << 16, 5]
    assert pump.total == size + 7 and pump.cut == 1
    assert peak < size


def test_what_exceeds_the_cap_is_counted_and_not_stored() -> None:
    pump, sink, lines = pump_of(lambda fd: [os.write(fd, b"x" * 99 + b"\n") for _ in range(100)], cap=1000)
    assert len(sink.getvalue()) == 1000
    assert pump.total == 10_000
    assert len(lines) == 100


def test_a_pipe_held_open_delays_nothing() -> None:
    read_end, write_end = os.pipe()
    sink = io.BytesIO()
    pump = Pump(read_end, sink, Redactor())
    os.write(write_end, b"last words")
    assert pump.read() == []
    assert not pump.closed
    assert pump.finish() == [b"last words"]
    assert sink.getvalue() == b"last words"
    os.close(write_end)
