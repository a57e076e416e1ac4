"""Which headers pass, in which direction, and how long the provider asks to wait. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

Headers = list[tuple[str, str]]

_HOP: Final = frozenset(
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "http2-settings",
    ]
)
_INBOUND: Final = _HOP | frozenset(
    [
        "host",
        "content-length",
        "content-encoding",
        "accept-encoding",
        "expect",
        "authorization",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "cookie",
        "forwarded",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
    ]
)
_OUTBOUND: Final = _HOP | frozenset(["content-length", "set-cookie", "date", "server"])


def _kept(headers: Iterable[tuple[str, str]], dropped: frozenset[str]) -> Headers:
    every = list(headers)
    # RFC 9110: headers that ``Connection`` names belong to this hop too.
    named = {n.strip().lower() for k, v in every if k.lower() == "connection" for n in v.split(",")}
    return [(k, v) for k, v in every if k.lower() not in dropped and k.lower() not in named]


def forwarded(headers: Iterable[tuple[str, str]], name: str | None, credential: str | None) -> Headers:
    """A request's headers as the endpoint gets them: every inbound credential out, the real one in.

    Args:
        name: the header that carries the credential; ``authorization`` makes it a bearer token.
        credential: the real credential, None when the endpoint wants none.
    """
    out = _kept(headers, _INBOUND)
    if name is not None:
        out = [(k, v) for k, v in out if k.lower() != name.lower()]
    if credential is not None:
        bearer = (name or "authorization").lower() == "authorization"
        out.append((name or "authorization", f"Bearer {credential}" if bearer else credential))
    out.append(("accept-encoding", "identity"))
    return out


def returned(headers: Iterable[tuple[str, str]], *, decoded: bool) -> Headers:
    """An answer's headers as the client gets them. ``decoded``: we took the content encoding off."""
    return _kept(headers, _OUTBOUND | {"content-encoding"} if decoded else _OUTBOUND)


def presented(headers: Iterable[tuple[str, str]]) -> str | None:
    """The key a client presents: ``x-api-key``, or the token of ``authorization: Bearer``."""
    found = {k.lower(): v for k, v in headers}
    scheme, _, token = found.get("authorization", "").partition(" ")
    return found.get("x-api-key") or (token.strip() if scheme.lower() == "bearer" else None) or None


def retry_after(headers: Iterable[tuple[str, str]], now: datetime) -> float | None:
    """Seconds until the provider wants to hear from us again, None when it does not say."""
    found = {k.lower(): v.strip() for k, v in headers}
    milliseconds = _number(found.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    for name in ("retry-after", "llm_provider-retry-after"):
        value = found.get(name)
        if value is None:
            continue
        seconds = _number(value)
        if seconds is None:
            seconds = _until(value, now)
        if seconds is not None:
            return seconds
    reset = _number(found.get("anthropic-ratelimit-unified-reset"))
    if reset is not None and found.get("anthropic-ratelimit-unified-status") == "rejected":
        return max(0.0, reset - now.timestamp())
    return None


def _number(value: str | None) -> float | None:
    return float(value) if value is not None and re.fullmatch(r"\d{1,12}(\.\d{1,9})?", value) else None


def _until(value: str, now: datetime) -> float | None:
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - now.timestamp())
