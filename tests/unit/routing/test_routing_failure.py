"""The failure table: one fixture a row at least, the words of real programs, and what is never guessed."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import available_timezones

import pytest

from inspan.outcome.reasons import REASONS
from inspan.routing.failure import TABLE, Signal, classify, match
from inspan.routing.resets import reset_time

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def wire(
    status: int | None, kind: str | None = None, message: str = "", code: str | None = None, wait: float | None = None
) -> Signal:
    return Signal(source="wire", status=status, type=kind, message=message, code=code, retry_after=wait)


def text(message: str) -> Signal:
    return Signal(source="text", message=message)


WIRE = [
    (wire(401, "authentication_error", "invalid x-api-key"), "auth"),
    (wire(401, "invalid_request_error", "Incorrect API key provided: sk-***", "invalid_api_key"), "auth"),
    (wire(401, "auth_error", "no", "token_not_found_in_db"), "auth"),
    (wire(403, "permission_error", "Your API key does not have permission"), "auth"),
    (wire(403), "auth"),
    (wire(402), "out_of_credits"),
    (wire(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."), "out_of_credits"),
    (wire(429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota"), "out_of_credits"),
    (wire(429, "rate_limit_error", "You exceeded your current quota, please check your plan and billing details."), "out_of_credits"),
    (wire(422, "budget_exceeded", "Budget has been exceeded! Current cost: 0.01"), "budget_exhausted"),
    (wire(429, "budget_exceeded", "ExceededBudget: Crossed budget"), "budget_exhausted"),
    (wire(429, "usage_limit_reached", "The usage limit has been reached"), "usage_window"),
    (wire(429, "rate_limit_error", "slow down", wait=7200.0), "usage_window"),
    (wire(429, None, "Quota exceeded for metric generate_requests: GenerateRequestsPerDayPerProject"), "usage_window"),
    (wire(429, None, "You exceeded your current quota. Quota exceeded: GenerateRequestsPerMinutePerProject"), "rate_limited"),
    (wire(429, "tokens", "Rate limit reached for gpt-x on tokens per min (TPM): Limit 30000", "rate_limit_exceeded"), "rate_limited"),
    (wire(429, "rate_limit_error", "Number of requests has exceeded your rate limit", wait=7.0), "rate_limited"),
    (wire(429), "rate_limited"),
    (wire(529, "overloaded_error", "Overloaded"), "overloaded"),
    (wire(503), "overloaded"),
    (wire(200, "overloaded_error", "Overloaded"), "overloaded"),
    (wire(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"), "context_length"),
    (wire(400, "invalid_request_error", "This model's maximum context length is 128000 tokens.", "context_length_exceeded"), "context_length"),
    (wire(400, None, "the request exceeds the available context size"), "context_length"),
    (wire(413, "request_too_large", "Request exceeds the maximum size"), "context_length"),
    (wire(413), "context_length"),
    (wire(404, "not_found_error", "model: claude-nope"), "model_unavailable"),
    (wire(404, "invalid_request_error", "The model 'x' does not exist or you do not have access to it.", "model_not_found"), "model_unavailable"),
    (wire(404, "not_found_error", "nothing here"), "model_unavailable"),
    (wire(500, "api_error", "Internal server error"), "provider_error"),
    (wire(502), "provider_error"),
    (wire(418, None, "I am a teapot"), "provider_error"),
    (wire(200, "error", "something new"), "provider_error"),
    (wire(None, "connection_failed", "the provider could not be reached (ClientConnectorError)"), "network"),
    (wire(200, "connection_lost", "the answer broke off before its end"), "network"),
]  # fmt: skip

TEXT = [
    ("Failed to authenticate. API Error: 401 Invalid API key provided", "auth"),
    ("Not logged in · Please run /login", "auth"),
    ("unexpected status 401 Unauthorized: Invalid API key provided, url: http://127.0.0.1:1/v1/responses", "auth"),
    ("API Error: Request rejected (429) · Rate limit reached for requests", "rate_limited"),
    ("exceeded retry limit, last status: 429 Too Many Requests", "rate_limited"),
    ("exceeded retry limit, last status: 402 Payment Required", "out_of_credits"),
    ("Quota exceeded. Check your plan and billing details.", "out_of_credits"),
    ("API Error: 500 Internal server error. This is a server-side issue, usually temporary", "provider_error"),
    ("We’re currently experiencing high demand, which may cause temporary errors.", "overloaded"),
    ("Prompt is too long · the request is ~250000 tokens (limit 200000)", "context_length"),
    ("Codex ran out of room in the model's context window. Start a new thread", "context_length"),
    ("There's an issue with the selected model (stub-1). It may not exist or you may not have access to it.", "model_unavailable"),
    ("The model 'stub-1' does not exist", "model_unavailable"),
    ("Claude AI usage limit reached|1777906800", "usage_window"),
    ("You've hit your session limit · resets 3pm (UTC)", "usage_window"),
    ("You've hit your usage limit. Upgrade to Pro or try again in 2 days 3 hours 5 minutes.", "usage_window"),
    ("5-hour limit reached ∙ resets 3pm", "usage_window"),
    ("stream disconnected before completion: error sending request", "network"),
    ("API Error: Unable to connect to API (ECONNREFUSED)", "network"),
    ("FetchError: getaddrinfo ENOTFOUND api.example", "network"),
    ("Claude requested permissions to write to /w/a, but you haven't granted it yet.", "permission_asked"),
]  # fmt: skip

UNKNOWN = [
    "", "something went wrong", "Traceback (most recent call last):", "segmentation fault", "exit status 1",
    "Model metadata for `stub-1` not found. Defaulting to fallback metadata; this can degrade performance",
    '[claude-code:unrecognized_model] {"model":"stub-1","query_source":"sdk"}',
    "Reading additional input from stdin...", "3 tests failed", "fatal: not a git repository",
    "sqlite3: connection closed by the database",
    "FileNotFoundError: [Errno 2] No such file or directory: 'x'", "ModuleNotFoundError: No module named 'x'",
]  # fmt: skip


@pytest.mark.parametrize(("signal", "reason"), WIRE, ids=lambda v: v if isinstance(v, str) else None)
def test_the_wire(signal: Signal, reason: str) -> None:
    cause = classify([signal], NOW)
    assert cause is not None and cause.reason == reason


@pytest.mark.parametrize(("message", "reason"), TEXT)
@pytest.mark.parametrize("source", ["record", "text"])
def test_the_words_of_programs(message: str, reason: str, source: str) -> None:
    cause = classify([Signal(source=source, message=message)], NOW)  # type: ignore[arg-type]
    assert cause is not None and cause.reason == reason
    assert message[:50] in cause.detail


@pytest.mark.parametrize("message", UNKNOWN)
def test_an_unknown_text_is_no_cause(message: str) -> None:
    assert classify([text(message)], NOW) is None
    assert classify([], NOW) is None


def test_every_row_has_a_fixture_and_a_known_reason() -> None:
    signals = [s for s, _ in WIRE] + [text(m) for m, _ in TEXT]
    hit = [match(s) for s in signals]
    missed = [row for row in TABLE if row not in hit]
    print(f"{len(TABLE)} rows, {len(signals)} fixtures")
    assert not missed
    assert {row.reason for row in TABLE} <= set(REASONS)


def test_the_first_specific_cause_wins_over_wrappers() -> None:
    quota = wire(429, "insufficient_quota", "You exceeded your current quota", "insufficient_quota")
    cause = classify([wire(500), quota, wire(500, "api_error", "Internal server error"), wire(401)], NOW)
    assert cause is not None and cause.reason == "out_of_credits"
    cause = classify(
        [text("API Error: Unable to connect"), text("usage limit reached"), text("internal server error")], NOW
    )
    assert cause is not None and cause.reason == "usage_window"


def test_wire_before_record_before_text() -> None:
    record = Signal(source="record", status=401, message="Failed to authenticate")
    late = text("usage limit reached")
    for signals, reason in (
        ([late, record, wire(500)], "provider_error"),
        ([late, record], "auth"),
        ([late], "usage_window"),
    ):
        cause = classify(signals, NOW)
        assert cause is not None and cause.reason == reason


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("usage limit reached|1777906800", "2026-05-04T15:00:00Z"),
        ("You've hit your session limit · resets 3pm (UTC)", "2026-05-04T15:00:00Z"),
        ("session limit, resets at 11am (UTC)", "2026-05-05T11:00:00Z"),
        ("session limit, resets 10:30am (America/New_York)", "2026-05-04T14:30:00Z"),
        ("weekly limit · resets May 9 at 5am (Europe/Berlin)", "2026-05-09T03:00:00Z"),
        ("usage limit. try again at 4:05 PM.", "2026-05-04T16:05:00Z"),
        ("usage limit: try again in 2 days 3 hours 5 minutes.", "2026-05-06T15:05:00Z"),
        ("Rate limit reached. Please try again in 1m30s.", "2026-05-04T12:01:30Z"),
        ("Rate limit reached. Please try again in 20s. Visit", "2026-05-04T12:00:20Z"),
        ("You have reached your specified API usage limits. You will regain access on 2026-06-01 at 00:00 UTC.", "2026-06-01T00:00:00Z"),
        ("usage limit, resets_at: 1777906800", "2026-05-04T15:00:00Z"),
        ("usage limit reached", None),
        ("usage limit: try again later", None),
        ("usage limit, resets 5 times", None),
    ],
)  # fmt: skip
def test_when_to_try_again(message: str, expected: str | None) -> None:
    if "/" in message and not available_timezones():
        pytest.skip("NORUN: this machine has no time zone data")
    cause = classify([text(message)], NOW)
    assert cause is not None and cause.retry_at == expected


def test_a_wait_counts_from_the_signal_and_only_where_waiting_helps() -> None:
    said = Signal(source="wire", status=429, retry_after=30.0, at="2026-05-04T11:00:00Z")
    cause = classify([said], NOW)
    assert cause is not None and (cause.reason, cause.retry_at) == ("rate_limited", "2026-05-04T11:00:30Z")
    cause = classify([wire(401, wait=30.0)], NOW)
    assert cause is not None and cause.retry_at is None


def test_impossible_times_are_no_times() -> None:
    for words in (
        "resets at 99:99",
        "resets Feb 31 at 5am",
        "regain access on 2026-13-45",
        "resets at 25:00",
        "resets 3pm (Nowhere/Land)",
    ):
        assert reset_time(words, NOW) is None, words
