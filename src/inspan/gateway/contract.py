"""What the gateway is told and what it witnesses."""

from __future__ import annotations

from typing import Literal

import msgspec


class Upstream(msgspec.Struct, frozen=True, kw_only=True):
    """Where model requests of one attempt go.

    Attributes:
        kind: ``http`` (a provider's endpoint) or ``rehearsal`` (the scripted provider, in process).
        provider: the provider's name, ``rehearsal`` for a rehearsal.
        base_url: the endpoint without the wire's path (``https://api.anthropic.com``); None for a rehearsal.
        wire: the wire the endpoint speaks. In this release it equals the harness's wire.
        model: the model to ask for; what the harness asked for is replaced by it only when they differ.
        credential_header: header that carries the credential upstream: ``x-api-key`` or ``authorization``.
        scenario: for a rehearsal, the scenario document (name or ``inspan.rehearsal/1`` content).
        workspace_inside: for a rehearsal, the workspace path the scripted model uses in its tool calls.
    """

    kind: Literal["http", "rehearsal"]
    provider: str
    model: str
    wire: str
    base_url: str | None = None
    credential_header: str | None = None
    scenario: str | None = None
    workspace_inside: str | None = None


class WireRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One model request as the gateway saw it; one line of the wire journal. Written when the request starts
    (``state: "open"``) and again when it ends, under the same ``id``; the last line wins.

    Attributes:
        id: ours, unique; provider response ids are not.
        state: ``open``, ``done`` (answered to its end), ``broken`` (upstream ended early or an error event came in a
            200 stream), ``aborted`` (the client went away), ``refused`` (we never sent it).
        at, ended: RFC 3339 UTC. first_byte: seconds from start to the first upstream byte.
        path: request path. kind: ``inference`` or ``probe`` (models, count_tokens, HEAD ...; never metered).
        status: HTTP status from upstream, None when there was no answer.
        error_type, error_code, error_message: from the error body or event, redacted, at most 500 characters.
        retry_after: seconds, from ``retry-after``, ``retry-after-ms`` or ``llm_provider-retry-after``.
        model_requested, model_served: what was asked and what the answer named.
        input, cache_read, cache_write, output, reasoning: normal form; None when the wire did not say.
        tool_calls: tool calls the model made in this answer. text: whether it produced text.
        stop: the wire's stop word.
    """

    id: str
    state: Literal["open", "done", "broken", "aborted", "refused"]
    at: str
    kind: Literal["inference", "probe"] = "inference"
    method: str = "POST"
    path: str = ""
    ended: str | None = None
    first_byte: float | None = None
    status: int | None = None
    error_type: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    retry_after: float | None = None
    model_requested: str | None = None
    model_served: str | None = None
    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    tool_calls: int = 0
    text: bool = False
    stop: str | None = None
