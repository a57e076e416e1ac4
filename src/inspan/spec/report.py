"""``inspan.report/1``: what the agent says about its own work. A claim: it can lower a verdict and never raise it."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from inspan.spec.foreign import loads

SCHEMA = "inspan.report/1"
LARGEST = 64 * 1024
"""Bytes of a report that are read; a longer one is not a report."""

_FENCE = re.compile(
    r"^[ \t]{0,3}(`{3,}|~{3,})[ \t]*inspan-report[ \t]*\r?\n(.*?)^[ \t]{0,3}\1[`~]*[ \t]*\r?$", re.M | re.S
)
_TEXT_LIMIT = 8000
_LIST_LIMIT = 50


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A decoded report.

    Attributes:
        completed: the agent's word that it is done; None when it did not say.
        summary, notes_for_next: for people and for a next attempt.
        blockers: what stood in the way; any blocker counts as not completed.
        no_change_reason: why nothing needed to change; the one claim that matters, and only with passing checks.
        pr_url: a pull request the agent says it opened.
        problems: what was wrong with the document, for people.
    """

    completed: bool | None = None
    summary: str | None = None
    blockers: tuple[str, ...] = ()
    no_change_reason: str | None = None
    notes_for_next: str | None = None
    pr_url: str | None = None
    problems: tuple[str, ...] = ()


def decode_report(data: bytes | str) -> Report | None:
    """A report document, None when ``data`` is not one.

    Strict where it could help the agent: a declaration counts only as a non-empty string, ``completed`` only as a
    boolean. Tolerant where it can only hurt it: a single blocker may be a string, unknown keys are noted, and a
    malformed ``completed`` or ``blockers`` counts against completion.
    """
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    if len(raw) > LARGEST:
        return None
    try:
        document = loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("schema", SCHEMA) != SCHEMA:
        return None
    return _report(document)


def report_in(text: str) -> Report | None:
    """The report in the last fenced ``inspan-report`` block of a message, None without one.

    Only the last block counts, even when it does not parse: an earlier one was superseded.
    """
    blocks = _FENCE.findall(text)
    return decode_report(blocks[-1][1]) if blocks else None


def without_reports(text: str) -> str:
    """A message without its fenced ``inspan-report`` blocks: what is left is meant for people."""
    return _FENCE.sub("", text)


def _report(document: dict[str, Any]) -> Report:
    problems: list[str] = []
    texts = {key: _text(document.get(key), key, problems) for key in _TEXTS}
    completed = document.get("completed")
    if completed is not None and not isinstance(completed, bool):
        problems.append("completed is not a boolean and counts as false")
        completed = False
    blockers = document.get("blockers")
    if isinstance(blockers, str):
        blockers = [blockers]
    if blockers is not None and not isinstance(blockers, list):
        problems.append("blockers is not a list and counts as one blocker")
        blockers = ["unreadable"]
    named = [str(b)[:_TEXT_LIMIT] if b else "" for b in blockers or []]
    known = {"schema", "completed", "blockers", *_TEXTS}
    problems += [f"unknown key {key!r}" for key in list(document)[:_LIST_LIMIT] if key not in known]
    return Report(
        completed=completed,
        blockers=tuple(b for b in named[:_LIST_LIMIT] if b.strip()),
        problems=tuple(problems),
        **texts,
    )


_TEXTS = ("summary", "no_change_reason", "notes_for_next", "pr_url")


def _text(value: Any, key: str, problems: list[str]) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        problems.append(f"{key} is not text and is left out")
        return None
    return value.strip()[:_TEXT_LIMIT] or None
