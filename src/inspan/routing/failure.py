"""The one failure table: from what the wire, a harness's record or its text says to one cause. Pure.

A row names a reason of the outcome table and what must hold for it. Rows stand most specific first and the first one
that holds is a signal's cause. Over all signals: the wire is asked before the record and the record before the text;
among the causes of one source the best named one wins, and of those the first in time, because later ones are wrappers
and consequences. A text nobody knows is no cause: ``None``, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, NamedTuple

import msgspec

from inspan.routing.resets import reset_time


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """One thing somebody said about a failure.

    Attributes:
        source: the wire (the gateway saw it), the harness's own record, or its text output.
        status: HTTP status, None without one.
        type, code, message: of the error.
        retry_after: seconds the provider asked to wait.
        at: RFC 3339 time of the signal, None when unknown.
    """

    source: Literal["wire", "record", "text"]
    status: int | None = None
    type: str | None = None
    code: str | None = None
    message: str = ""
    retry_after: float | None = None
    at: str | None = None


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Why it failed: a reason word, when to try again (RFC 3339 UTC or None), and the words it was said in."""

    reason: str
    retry_at: str | None
    detail: str


class Row(NamedTuple):
    """One row of the table. Of ``status``, ``words`` and ``text``, those that are given are alternatives.

    Attributes:
        weight: 2, the error is named; 1, only its status says so; 0, a wrapper that could stand around anything.
        status: HTTP statuses. words: types and codes. text: a pattern searched in the message.
        only: sources the row is for.
        unless: a pattern whose presence in the message rules the row out.
        least_wait: the row needs at least this many seconds of ``retry_after`` besides.
    """

    reason: str
    weight: int
    status: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    text: str | None = None
    only: tuple[str, ...] = ("wire", "record", "text")
    unless: str | None = None
    least_wait: float | None = None


WINDOW: Final = 900.0
"""A wait of this many seconds or more is a usage window, not a burst."""

_BY_DAY = r"per[ _-]?day|\b[rt]pd\b|daily (?:request |token |usage )?(?:limit|quota)"
_BY_MINUTE = r"per[ _-]?min|\b[rt]pm\b|per[ _-]?second"

TABLE: Final[tuple[Row, ...]] = (
    Row(
        "budget_exhausted",
        2,
        words=("budget_exceeded", "max_budget_exceeded"),
        text=r"budget has been exceeded|exceededbudget",
    ),
    Row("usage_window", 2, text=_BY_DAY),
    Row("rate_limited", 2, text=_BY_MINUTE, unless=r"context|too long"),
    Row(
        "out_of_credits",
        2,
        status=(402,),
        words=(
            "insufficient_quota",
            "billing_error",
            "billing_hard_limit_reached",
            "billing_not_active",
            "insufficient_balance",
            "insufficient_credits",
            "insufficient_funds",
            "credit_balance_too_low",
        ),
        text=r"credit balance is too low|insufficient[ _](?:credits?|balance|funds|quota)|out of credits|more credits"
        r"|exceeded your current quota|quota exceeded\. check your plan|payment required|billing hard limit"
        r"|spend(?:ing)? limit",
    ),
    Row(
        "usage_window",
        2,
        words=("usage_limit_reached", "usage_limit_exceeded", "usage_limit_error"),
        text=r"\busage limits?\b|(?:session|weekly|monthly|5-hour|five-hour|opus|sonnet) limit"
        r"|hit your [\w -]{0,24}limit|limit reached\W{1,4}(?:resets|\d{10})|will regain access",
    ),
    Row("usage_window", 2, status=(429,), words=("rate_limit_error", "rate_limit_exceeded"), least_wait=WINDOW),
    Row(
        "context_length",
        2,
        words=(
            "context_length_exceeded",
            "context_window_exceeded",
            "prompt_too_long",
            "request_too_large",
            "model_context_window_exceeded",
        ),
        text=r"prompt is too long|input is too long|maximum context length"
        r"|context (?:window|length|limit)\W.{0,80}?(?:exceed|overflow)"
        r"|exceed\w*.{0,80}?context (?:window|length|limit|size)|ran out of room in the model's context"
        r"|input token count.{0,40}exceeds|too many (?:input )?tokens|reduce the length of the messages",
    ),
    Row(
        "model_unavailable",
        2,
        words=(
            "model_not_found",
            "deployment_not_found",
            "deploymentnotfound",
            "model_not_available",
            "model_not_supported",
            "invalid_model",
        ),
        text=r"\bmodels?\b.{0,120}?(?:does not exist|not found|not supported|is not available|not a valid)"
        r"|decommissioned model"
        r"|issue with the selected model|no endpoints found|unknown model|access to (?:the )?model|^model: ",
        unless=r"metadata",
    ),
    Row(
        "auth",
        2,
        status=(401,),
        words=(
            "authentication_error",
            "invalid_api_key",
            "unauthenticated",
            "unauthorized",
            "token_not_found_in_db",
            "invalid_token",
            "token_expired",
            "account_deactivated",
            "permission_error",
            "permission_denied",
        ),
        text=r"(?:invalid|incorrect|missing|expired|revoked) (?:x-)?api[ _-]?key|failed to authenticate|not logged in"
        r"|run /login|401 unauthorized|oauth token (?:has )?(?:been )?(?:expired|revoked)"
        r"|authentication (?:failed|error)"
        r"|no api key",
        unless=r"requested permission",
    ),
    Row(
        "overloaded",
        2,
        words=("overloaded_error", "overloaded", "server_is_overloaded", "engine_overloaded", "slow_down"),
        text=r"\boverloaded\b|experiencing high demand|at capacity|server is busy",
    ),
    Row(
        "rate_limited",
        2,
        words=(
            "rate_limit_error",
            "rate_limit_exceeded",
            "requests",
            "tokens",
            "resource_exhausted",
            "throttling_error",
        ),
        text=r"rate[ _-]?limit|too many requests|request rejected \(429\)",
        unless=r"exceeded retry limit, last status: (?!429)",
    ),
    Row(
        "permission_asked",
        2,
        only=("record", "text"),
        words=("permission_asked",),
        text=r"requested permissions? to|requires? (?:your )?approval|waiting for (?:your )?(?:approval|permission)"
        r"|permission to use \S+ has been denied",
    ),
    Row("rate_limited", 1, status=(429,)),
    Row("overloaded", 1, status=(503, 529)),
    Row("auth", 1, status=(403,)),
    Row("model_unavailable", 1, words=("not_found_error",)),
    Row("context_length", 1, status=(413,)),
    Row(
        "network",
        0,
        words=("connection_failed", "connection_lost"),
        text=r"connection (?:was )?(?:refused|reset|closed|lost|error|failed|timed out)|unable to connect"
        r"|could not be reached|\b(?:econnrefused|econnreset|enotfound|etimedout|eai_again)\b|could not resolve host"
        r"|network (?:error|is unreachable)"
        r"|stream (?:disconnected|closed|ended) before|error sending request|request timed out|waiting for network",
        unless=r"database|\bsql",
    ),
    Row(
        "provider_error",
        0,
        status=tuple(range(500, 600)),
        words=("api_error", "server_error", "internal_server_error", "internal_error"),
        text=r"internal server error|api error: 5\d\d|unexpected status 5\d\d|server-side issue",
    ),
    Row("provider_error", 0, status=(*range(300, 500), 200), only=("wire",)),
)
"""The rows. The last one holds for the wire alone: there the provider did answer with an error, whatever it meant."""

_STATUS: Final = re.compile(
    r"(?:\bstatus(?: code)?:?|API Error:?(?: Request rejected)?|\bHTTP(?:/[\d.]+)?) ?\(?([45]\d\d)\b", re.I
)
_WAITS: Final = ("rate_limited", "usage_window", "overloaded", "out_of_credits")
_SOURCES: Final = ("wire", "record", "text")


def match(signal: Signal) -> Row | None:
    """The first row that holds for a signal."""
    status = signal.status
    if status is None and (said := _STATUS.search(signal.message)) is not None:
        status = int(said[1])
    words = {w.lower() for w in (signal.type, signal.code) if w}
    return next((row for row in TABLE if _holds(row, signal, status, words)), None)


def _holds(row: Row, signal: Signal, status: int | None, words: set[str]) -> bool:
    if signal.source not in row.only:
        return False
    if row.least_wait is not None and (signal.retry_after or 0.0) < row.least_wait:
        return False
    if row.unless is not None and re.search(row.unless, signal.message, re.I):
        return False
    if status in row.status or not words.isdisjoint(row.words):
        return True
    return row.text is not None and re.search(row.text, signal.message, re.I | re.S) is not None


def classify(signals: Sequence[Signal], now: datetime) -> Cause | None:
    """The cause of a failure, None when nothing known was said.

    Args:
        signals: in order of time.
        now: a time with a zone; waits are counted from a signal's own time where it has one.
    """
    for source in _SOURCES:
        found = [(row, s) for s in signals if s.source == source and (row := match(s)) is not None]
        if found:
            row, signal = max(found, key=lambda pair: pair[0].weight)  # max keeps the first of equals
            return Cause(reason=row.reason, retry_at=_retry_at(row, signal, now), detail=_detail(signal))
    return None


def _detail(signal: Signal) -> str:
    named = signal.message or signal.code or signal.type or ""
    head = f"HTTP {signal.status}" if signal.status is not None and signal.status >= 300 else ""
    return ": ".join(p for p in (head, named) if p)[:400] or "no details"


def _retry_at(row: Row, signal: Signal, now: datetime) -> str | None:
    if row.reason not in _WAITS:
        return None
    said = _time(signal.at) or now
    if signal.retry_after is not None:
        at: datetime | None = said + timedelta(seconds=signal.retry_after)
    else:
        at = reset_time(signal.message, said.astimezone(now.tzinfo) if now.tzinfo else said)
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if at is not None else None


def _time(text: str | None) -> datetime | None:
    try:
        at = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return at if at is not None and at.tzinfo is not None else None
