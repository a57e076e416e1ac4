"""The egress proxy of one confined tree, served from a thread of whoever supervises the tree."""

from __future__ import annotations

import contextlib
import socket
from typing import Self

from inspan.outcome.records import EgressRecord
from inspan.sandbox.contract import Confined, Confinement
from inspan.sandbox.egress import EgressProxy
from inspan.supervise.loops import LoopThread


class EgressService:
    """Serves from construction until ``close``; a context manager.

    Args:
        listener: made inside; the service's from now on.
        granted, private, token: see ``EgressProxy``.
    """

    def __init__(
        self,
        listener: socket.socket,
        granted: tuple[str, ...],
        private: tuple[str, ...],
        token: str | None = None,
    ) -> None:
        own = socket.socket(fileno=listener.detach())  # closed by the loop that watches it, and by nobody else
        self._proxy = EgressProxy(granted, private, token=token)
        self._loop: LoopThread | None = LoopThread("egress")
        try:
            self._loop.run(self._proxy.serve(own), 30)
        except BaseException:
            self._loop.stop()
            own.close()
            raise

    def record(self) -> EgressRecord:
        """What was decided so far; everything once it is closed."""
        return self._proxy.record()

    def close(self) -> None:
        """Cut every tunnel and end the thread. Idempotent."""
        loop, self._loop = self._loop, None
        if loop is not None:
            with contextlib.suppress(TimeoutError):
                loop.run(self._proxy.close(), 10)
            loop.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def serve_egress(tree: Confined, confinement: Confinement) -> EgressService | None:
    """The proxy of a started, held tree; None where no egress is granted."""
    if tree.egress_listener is None:
        return None
    return EgressService(tree.egress_listener, confinement.egress, confinement.private, tree.egress_token)
