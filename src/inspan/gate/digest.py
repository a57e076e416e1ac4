"""What of a failed check's output explains the failure, in at most 2 KiB. Pure."""

from __future__ import annotations

import re

from inspan.gate.results import TestRun
from inspan.gate.runners import Runner, explained
from inspan.redact import Redactor

LIMIT = 2048
_LONGEST = 1000
"""Characters of one line that are looked at: what a program prints must not cost more than it is long."""
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f]")


def digest(output: bytes, *, runner: Runner | None, run: TestRun | None, redactor: Redactor, note: str = "") -> str:
    """At most 2 KiB of UTF-8 text.

    Args:
        output: the (capped) output of the command.
        runner: the known runners that wrote it, None for any other command.
        run: per-test results, None without them.
        note: a line of ours that comes first.
    """
    text = _ANSI.sub("", output.decode("utf-8", "replace"))
    parts = [note] if note else []
    if run is not None:
        parts += _failures(run)
    lines = [line[:_LONGEST] for line in text.splitlines()]
    parts += explained(runner, lines)
    if len(parts) <= (1 if note else 0):
        parts += [line for line in lines if line.strip()][-30:]
    return _capped(redactor.text("\n".join(parts)))


def _failures(run: TestRun) -> list[str]:
    bad = [i for i, outcome in run.outcomes.items() if outcome in ("failed", "error")]
    out = [f"{i}: {run.texts.get(i, '').splitlines()[0] if run.texts.get(i) else 'failed'}"[:300] for i in bad[:8]]
    unread = [(i or "everything", text) for i, (outcome, text) in run.collect.items() if outcome == "failed"]
    out += [f"{i}: {text.splitlines()[0] if text else 'cannot be collected'}"[:300] for i, text in unread[:4]]
    if len(bad) > 8:
        out.append(f"... and {len(bad) - 8} more failing tests")
    return out


def _capped(text: str) -> str:
    """The text within the limit; a cut is shown and never splits a character."""
    data = text.encode("utf-8", "replace")
    if len(data) <= LIMIT:
        return text
    mark = "\n[...]\n"
    head = data[: LIMIT * 2 // 3].decode("utf-8", "ignore")
    room = LIMIT - len(head.encode()) - len(mark)
    return head + mark + data[-room:].decode("utf-8", "ignore")
