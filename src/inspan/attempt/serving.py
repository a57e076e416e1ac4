"""The gateway of one attempt in a thread of its own: the main thread is the sandbox's parent and has other work."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from inspan.gateway.contract import Upstream
from inspan.redact import Redactor
from inspan.supervise.loops import LoopThread


class Served(Protocol):
    """What the runner needs of a gateway; ``inspan.gateway.server.Gateway`` is one."""

    async def serve(self, sock: socket.socket) -> None: ...

    def in_flight(self) -> list[float]: ...

    async def close(self) -> None: ...


class MakeGateway(Protocol):
    """How a gateway is made."""

    def __call__(
        self,
        upstream: Upstream,
        *,
        credential: str | None,
        journal: Path,
        redactor: Redactor,
        token: str | None = None,
        on_activity: Callable[[], None] | None = None,
    ) -> Served: ...


class Serving:
    """Serves one listener from its own thread and event loop until ``close``."""

    def __init__(self, make: Callable[[Callable[[], None]], Served], listener: socket.socket) -> None:
        self._touched = False
        self._open = self._ended = 0
        self._gateway: Served | None = None
        self._loop = LoopThread("gateway")
        try:
            self._loop.run(self._serve(make, listener), 30)
        except BaseException:
            self._loop.stop()
            raise

    async def _serve(self, make: Callable[[Callable[[], None]], Served], listener: socket.socket) -> None:
        self._gateway = make(self._touch)
        listener.setblocking(False)
        await self._gateway.serve(listener)

    def _touch(self) -> None:
        """Called in the gateway's thread at the start of a request, with its bytes, and after its end."""
        self._touched = True
        now_open = 0 if self._gateway is None else len(self._gateway.in_flight())
        self._ended += max(0, self._open - now_open)
        self._open = now_open

    def touched(self) -> int | None:
        """How many requests have ended since the last call; None when nothing happened on the wire."""
        if not self._touched:
            return None
        self._touched = False
        ended, self._ended = self._ended, 0
        return ended

    def in_flight(self) -> list[float]:
        """Start of, or last byte on, each open model request (``time.monotonic``)."""
        with contextlib.suppress(RuntimeError):  # the other thread changed the table while we read it
            return [] if self._gateway is None else self._gateway.in_flight()
        return []

    def close(self) -> None:
        """End open requests, close the journal, end the thread."""
        assert self._gateway is not None
        with contextlib.suppress(TimeoutError):
            self._loop.run(self._gateway.close(), 10)
        self._loop.stop()
