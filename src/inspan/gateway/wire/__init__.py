"""The wires: what a request asks and what an answer says, one module a protocol. Pure, no transport.

Every module of this package that is listed in ``WIRES`` offers the functions of ``Wire``. They read and never change
what passes; the two exceptions are named where they are made (``prepare`` and ``superfluous`` of ``chat``).
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from inspan.gateway.wire import anthropic, chat, responses
from inspan.gateway.wire.reading import Reading


class Wire(Protocol):
    """One model wire protocol. Modules implement it."""

    @property
    def INFERENCE(self) -> str:
        """Path of a model request."""

    @property
    def PROBES(self) -> tuple[str, ...]:
        """Paths that are passed to the endpoint but are no model requests."""

    def prepare(self, fields: dict[str, msgspec.Raw]) -> bool:
        """Change what must be changed in a request's top-level fields; True when something was."""

    def read_event(self, reading: Reading, data: bytes) -> None:
        """Take one stream event's data into the reading. Never raises on what it does not know."""

    def read_body(self, reading: Reading, body: bytes) -> None:
        """Take a whole JSON answer, good or bad, into the reading."""

    def superfluous(self, data: bytes) -> bool:
        """Whether this event exists only because ``prepare`` asked for it."""

    def error_body(self, status: int, message: str, code: str | None = None) -> bytes:
        """An error answer in this dialect."""

    def error_event(self, message: str) -> bytes:
        """A stream event that tells the client, in this dialect, that the answer is not complete."""

    def models_body(self, model: str) -> bytes:
        """The list of models, which is the one configured."""


WIRES: dict[str, Wire] = {"anthropic": anthropic, "openai-chat": chat, "openai-responses": responses}
"""Every wire by its name in ``inspan.harness.contract.Wire``."""

__all__ = ["WIRES", "Reading", "Wire"]
