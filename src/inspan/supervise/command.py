"""One confined command from its start to its death, its output kept within bounds: a check, a set-up, a first start."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

from inspan.outcome.records import EgressRecord
from inspan.sandbox.contract import Confinement, Driver
from inspan.supervise.egress import serve_egress

HEAD, TAIL = 256 << 10, 768 << 10
"""Bytes of output kept from the beginning and from the end; what lies between is dropped and counted."""

_POLL = 0.2  # seconds between two looks at the clock, the output and the caller
_DEATH = 30.0  # seconds for a killed tree to be gone
_REST = 2.0  # seconds for what is still in the pipe once the tree is gone


End = Literal["exit", "timeout", "output", "cancelled", "limit"]


class Ran(NamedTuple):
    """What one command did.

    Attributes:
        exit: exit status, negative for a signal; None when it was ended.
        seconds: how long it ran.
        output: standard output and error together, at most about ``HEAD + TAIL`` bytes.
        ended: ``exit``, or why it was ended: ``timeout``, ``output`` (more than allowed), ``cancelled``, ``limit``.
        exceeded: for ``limit``, which one, by its field's name.
        egress: what the egress proxy decided; None where nothing was granted.
    """

    exit: int | None
    seconds: float
    output: bytes
    ended: End
    egress: EgressRecord | None = None
    exceeded: str | None = None


def run_confined(
    driver: Driver,
    confinement: Confinement,
    *,
    timeout: float,
    output_limit: int | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Ran:
    """Run a command to its end; nothing of its tree lives when this returns or raises.

    Args:
        driver: the level of confinement.
        confinement: what is run, and how.
        timeout: seconds it may take.
        output_limit: bytes it may write; unlimited when None. What is kept is bounded either way.
        cancelled: asked every fifth of a second.

    Raises:
        SandboxError: the confinement cannot be had or did not hold.
        HarnessError: (``spawn_failed``) the program cannot be executed.
    """
    read_end, write_end = os.pipe()
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    output = _Output(read_end)
    began = time.monotonic()
    try:
        tree = driver.start(confinement, stdin=null, stdout=write_end, stderr=write_end)
    finally:
        os.close(write_end)
        os.close(null)
    ended: End = "exit"
    egress = None
    try:
        egress = serve_egress(tree, confinement)
        tree.release()
        while (status := tree.wait(_POLL)) is None:
            if cancelled is not None and cancelled():
                ended = "cancelled"
            elif time.monotonic() - began > timeout:
                ended = "timeout"
            elif output_limit is not None and output.total > output_limit:
                ended = "output"
            if ended != "exit":
                tree.kill()
                tree.wait(_DEATH)
                break
    finally:
        tree.close()
        if egress is not None:
            egress.close()
    reached = None if egress is None else egress.record()
    if ended == "exit" and tree.exceeded is not None:
        ended = "limit"
    return Ran(status, time.monotonic() - began, output.kept(), ended, reached, tree.exceeded)


class _Output:
    """Reads a pipe to its end in a thread, keeping a head and a tail."""

    def __init__(self, fd: int) -> None:
        self.total = 0
        self._fd = fd
        self._head, self._tail = bytearray(), bytearray()
        self._thread = threading.Thread(target=self._drain, name="command-output", daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        with os.fdopen(self._fd, "rb", buffering=0) as pipe:
            while chunk := pipe.read(1 << 16):
                self._take(chunk)

    def _take(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = HEAD - len(self._head)
        self._head += chunk[: max(room, 0)]
        self._tail += chunk[max(room, 0) :]
        if len(self._tail) > 2 * TAIL:
            del self._tail[:-TAIL]

    def kept(self) -> bytes:
        """What was read so far. A pipe that somebody still holds open is not waited for."""
        self._thread.join(_REST)
        tail = bytes(self._tail[-TAIL:])
        dropped = self.total - len(self._head) - len(tail)
        middle = b"\n[... %d bytes ...]\n" % dropped if dropped > 0 else b""
        return bytes(self._head) + middle + tail
