"""The error answers of the rehearsal, as real providers word them. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple


class Fault(NamedTuple):
    """One error.

    Attributes:
        anthropic: error type on the Anthropic wire. openai: type and code on the OpenAI wires.
        message: the text. anthropic_message: the text on the Anthropic wire where it differs.
    """

    status: int
    message: str
    anthropic: str
    openai: tuple[str, str | None]
    anthropic_message: str | None = None


FAULTS: Final[dict[str, Fault]] = {
    "error-401": Fault(
        401, "Invalid API key provided", "authentication_error", ("invalid_request_error", "invalid_api_key")
    ),
    "error-429": Fault(429, "Rate limit reached for requests", "rate_limit_error", ("requests", "rate_limit_exceeded")),
    "error-429-quota": Fault(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        "rate_limit_error",
        ("insufficient_quota", "insufficient_quota"),
    ),
    "error-400-context": Fault(
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens. "
        "Please reduce the length of the messages.",
        "invalid_request_error",
        ("invalid_request_error", "context_length_exceeded"),
        "prompt is too long: 250000 tokens > 200000 maximum",
    ),
    "error-500": Fault(500, "Internal server error", "api_error", ("server_error", None)),
}
"""Every error end by its name."""


def openai_error(name: str) -> tuple[int, dict[str, object]]:
    """Status and body on the OpenAI wires."""
    fault = FAULTS[name]
    kind, code = fault.openai
    return fault.status, {"error": {"message": fault.message, "type": kind, "param": None, "code": code}}
