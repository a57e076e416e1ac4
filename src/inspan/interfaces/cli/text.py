"""Text for people: styled lines, safe to show, with colour only where somebody can see it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Final, TextIO

Span = tuple[str, str]
"""A piece of text and its style: ``good``, ``bad``, ``warn``, ``dim``, ``bold`` or nothing."""
Line = list[Span]

_STYLES: Final = {"good": "green", "bad": "bold red", "warn": "yellow", "dim": "dim", "bold": "bold", "": ""}


def safe(text: str, *, lines: bool = False) -> str:
    """``text`` without characters that command a terminal; what an agent wrote is never printed raw.

    Args:
        text: anything.
        lines: keep line feeds and tabs.
    """
    keep = "\n\t" if lines else ""
    return "".join(c if c in keep or _shown(c) else _escaped(c) for c in text)


def _shown(c: str) -> bool:
    # Format characters (bidirectional overrides, zero-width) would let a line read as another than it is.
    return c == " " or c.isprintable()


def _escaped(c: str) -> str:
    code = ord(c)
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(c) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def colour(stream: TextIO) -> bool:
    """Whether ``stream`` is a terminal that takes colour and nobody asked for none (``NO_COLOR``, ``TERM=dumb``)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def write(lines: Iterable[Line], stream: TextIO | None = None) -> None:
    """Write lines to ``stream`` (standard output when None)."""
    out = sys.stdout if stream is None else stream
    if colour(out):
        from rich.console import Console
        from rich.text import Text

        console = Console(file=out, highlight=False, soft_wrap=True)
        for line in lines:
            console.print(Text.assemble(*((text, _STYLES[style]) for text, style in line)))
        return
    for line in lines:
        out.write("".join(text for text, _ in line) + "\n")
    out.flush()


def count(n: int, noun: str) -> str:
    """``3 files``, ``1 file``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def seconds(value: float) -> str:
    """``0.3 s``, ``12 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if value < 10:
        return f"{value:.1f} s"
    whole = int(value + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
