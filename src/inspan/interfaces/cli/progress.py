"""Progress on standard error: one live line on a terminal, plain lines otherwise."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Any, Final, TextIO

from inspan.interfaces.cli.text import Line, colour, safe, write
from inspan.store.records import EventRow

_WORDS: Final[dict[str, tuple[str, str]]] = {
    "queued": ("queued {job} on {backend}, level {level}", "dim"),
    "preparing": ("preparing a workspace at {base:.12}", "dim"),
    "setup": ("set-up {number} of {of}: {command}", "dim"),
    "setup_widened": ("set-up again, with the whole repository in view: {why}", "dim"),
    "warning": ("warning: {text}", "warn"),
    "attempt_started": ("the agent works", "dim"),
    "attempt_ended": ("the agent ended: {end}", "dim"),
    "collected": ("collected: {files} files changed", "dim"),
    "check": ("{text}", "dim"),
    "gated": ("judged: scope {scope}, checks {checks}", "dim"),
    "decided": ("decided: {verdict}, {reason}", "dim"),
    "delivered": ("delivered: {kind} {where}", "dim"),
    "delivery_failed": ("not delivered: {text}", "warn"),
    "taken_over": ("going on with a job another command left", "dim"),
    "ended": ("ended: {verdict}, {reason}", "dim"),
}
"""How stored events read; any other kind is shown by its name and its text."""


class _Blank(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return ""


def event_line(job: str, event: EventRow) -> Line:
    """One event for people. What the harness did is shown by its kind and its text."""
    if event.kind == "harness":
        kind, text = str(event.data.get("kind", "")), str(event.data.get("text", ""))
        return [(f"{safe(kind):<12}", "dim"), (safe(text), "warn" if kind in ("error", "ask") else "")]
    template, style = _WORDS.get(event.kind, (event.kind.replace("{", "").replace("}", "") + " {text}", "dim"))
    facts = _Blank({k: _word(v) for k, v in event.data.items()})
    facts["job"] = job
    facts["where"] = event.data.get("ref") or event.data.get("path") or ""
    with contextlib.suppress(ValueError):
        return [(safe(template.format_map(facts)).strip(), style)]
    return [(safe(event.kind), style)]


def _word(value: Any) -> str | int | float:
    return "none" if value is None else value if isinstance(value, str | int | float) else ""


class Progress:
    """Shows events as they come. Called from other threads.

    Attributes:
        job: id of the job that was submitted, None until it is queued.
    """

    def __init__(self, stream: TextIO) -> None:
        self.job: str | None = None
        self._stream = stream
        self._live: Any = None

    def __enter__(self) -> Progress:
        if colour(self._stream):
            from rich.console import Console

            self._live = Console(file=self._stream, highlight=False).status("starting")
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, job: str, event: EventRow) -> None:
        """One event of ``job``; events of jobs that were taken over are not shown beyond that."""
        if self.job is None and event.kind == "queued":
            self.job = job
        if job != self.job and event.kind != "taken_over":
            return
        line = event_line(job, event)
        if self._live is None:
            if event.kind != "harness":
                write([line], self._stream)
        elif event.kind in ("warning", "queued"):
            style = "yellow" if event.kind == "warning" else "dim"
            self._live.console.print("".join(text for text, _ in line), style=style, markup=False)
        else:
            from rich.markup import escape

            self._live.update(escape("".join(text for text, _ in line)[:120]))
