"""How a text becomes the pieces of a stream."""

from __future__ import annotations


def pieces(text: str) -> list[str]:
    """Words, each with the blank before it."""
    first, *rest = text.split(" ")
    return [first, *(f" {word}" for word in rest)]


def looks_failed(output: object) -> bool:
    """Whether a tool's output reads like a failure, for wires whose results have no mark of their own."""
    text = output if isinstance(output, str) else ""
    return text.lstrip().lower().startswith(("error", "failed", "refused"))
