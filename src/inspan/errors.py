"""The one exception tree.

::

    InspanError                    anything Inspan reports on purpose
    ├── UsageError                 the caller asked for something wrong; exit status 2, nothing was started
    │   ├── InvalidSpec            a field of a job or configuration is missing, unknown or malformed
    │   ├── UnknownName            a backend, harness, provider, level or job nobody knows; names the nearest
    │   └── RepositoryError        not a repository, bare, without commits, or a base that does not exist
    ├── StateError                 the state directory cannot be used (permission, full disk, newer version)
    ├── SandboxError               confinement cannot be had or did not hold
    ├── HarnessError               a harness is missing, of the wrong version or cannot be started
    ├── ProviderError              an endpoint or its credential cannot be used
    ├── WorkspaceError             the isolated copy cannot be made or read
    ├── GateError                  the gate could not produce evidence; always fails closed
    └── DeliveryError              an accepted result could not be delivered

Each instance says *what* is wrong, *where* we looked and what to *do*, and carries the reason word of
the outcome it ends in.
"""

from __future__ import annotations


class InspanError(Exception):
    """Anything Inspan reports on purpose.

    Args:
        what: one sentence that says what is wrong.
        where: where that was found: a file, a flag, a place that was searched.
        do: what the reader can do about it, as an instruction.
        reason: the outcome's reason word (``inspan.outcome.reasons``); the class default otherwise.
    """

    reason: str = "internal_error"
    exit_status: int = 1

    def __init__(
        self, what: str, *, where: str | None = None, do: str | None = None, reason: str | None = None
    ) -> None:
        super().__init__(what)
        self.what, self.where, self.do = what, where, do
        if reason is not None:
            self.reason = reason

    def __str__(self) -> str:
        parts = [self.what]
        if self.where:
            parts.append(f"where: {self.where}")
        if self.do:
            parts.append(f"do: {self.do}")
        return "\n  ".join(parts)


class UsageError(InspanError):
    """The caller asked for something wrong; nothing was started and nothing is left behind."""

    exit_status = 2


class InvalidSpec(UsageError):
    """A field of a job or of the configuration is missing, unknown or malformed."""


class UnknownName(UsageError):
    """A name nobody knows; the message lists the nearest known ones."""


class RepositoryError(UsageError):
    """Not a git repository, a bare one, one without commits, or a base that does not exist."""


class StateError(InspanError):
    """The state directory cannot be used: no permission, a full disk, or a newer version wrote it."""

    exit_status = 2


class SandboxError(InspanError):
    """Confinement cannot be had, or a probe showed that it does not hold."""

    reason = "sandbox_unavailable"


class HarnessError(InspanError):
    """A harness is missing, of the wrong version, or cannot be started."""

    reason = "harness_missing"


class ProviderError(InspanError):
    """An endpoint or its credential cannot be used."""

    reason = "auth"


class WorkspaceError(InspanError):
    """The isolated copy of the repository cannot be made or read."""

    reason = "environment_lost"


class GateError(InspanError):
    """The gate could not produce evidence. Always fails closed."""

    reason = "gate_error"


class DeliveryError(InspanError):
    """An accepted result could not be delivered."""

    reason = "delivery_failed"
