"""One suite for who answers: the rehearsal in process, and the same answers from an endpoint over HTTP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from gateway_kit import PATHS, Desk, Endpoint, desk, http, run

from inspan.gateway.contract import Upstream
from inspan.gateway.journal import signals, usage
from inspan.gateway.rehearsal import RehearsalSource
from inspan.gateway.upstream import Ask
from inspan.gateway.wire import WIRES
from inspan.routing.failure import classify

every = [pytest.mark.parametrize("wire", WIRES), pytest.mark.parametrize("kind", ["rehearsal", "http"])]
FILE = "schema: inspan.rehearsal/1\nusage: {input: 50, cache_read: 700, cache_write: 300, output: 40, reasoning: 15}\nsteps:\n- bash: 'true'\n- write: {path: a, content: b}\n- say: bye\n"


def both(test: Any) -> Any:
    for mark in every:
        test = mark(test)
    return test


@asynccontextmanager
async def provider(kind: str, wire: str, scenario: str, tmp_path: Path) -> AsyncIterator[Desk]:
    own = Upstream(
        kind="rehearsal", provider="rehearsal", model="any", wire=wire, scenario=scenario, workspace_inside="/w"
    )
    if kind == "rehearsal":
        async with desk(own, tmp_path, credential=None) as d:
            yield d
        return
    source = RehearsalSource(own)

    async def reply(request: web.Request) -> web.StreamResponse:
        ask = Ask("POST", request.raw_path, [], await request.read())
        try:
            async with source.ask(ask) as answer:
                response = web.StreamResponse(status=answer.status, headers=dict(answer.headers))
                await response.prepare(request)
                async for chunk in answer.chunks:
                    await response.write(chunk)
                return response
        except Exception:
            assert request.transport is not None
            request.transport.abort()
            await asyncio.Event().wait()
            raise

    async with Endpoint(reply).running() as endpoint, desk(http(endpoint.url, wire, "any"), tmp_path) as d:
        yield d


TOOL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = {
    "anthropic": {"name": "Bash", "input_schema": TOOL},
    "openai-chat": {"type": "function", "function": {"name": "bash", "parameters": TOOL}},
    "openai-responses": {"type": "function", "name": "shell", "parameters": TOOL},
}
HISTORY = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input"}


def results(wire: str, call_id: str) -> list[dict[str, Any]]:
    if wire == "anthropic":
        return [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": "ok"}]}]
    if wire == "openai-chat":
        return [{"role": "tool", "tool_call_id": call_id, "content": "ok"}]
    return [{"type": "function_call_output", "call_id": call_id, "output": "ok"}]


def last_call(wire: str, body: bytes) -> str | None:
    """The id of the tool call in an answer, stream or document, by plain search: no code of ours reads it."""
    import re

    field = {
        "anthropic": rb'"id":"(call_[^"]+)"',
        "openai-chat": rb'"id":"(call_[^"]+)"',
        "openai-responses": rb'"call_id":"(call_[^"]+)"',
    }[wire]
    found = re.findall(field, body)
    return found[-1].decode() if found else None


async def converse(d: Desk, wire: str, stream: bool) -> list[bytes]:
    """A harness in twenty lines: ask, do what is said, ask again."""
    history: list[dict[str, Any]] = []
    bodies = []
    for _ in range(10):
        request = {"model": "any", "stream": stream, "tools": [TOOLS[wire]], HISTORY[wire]: history}
        async with d.client.post(d.url + PATHS[wire], data=msgspec.json.encode(request)) as answer:
            assert answer.status == 200
            bodies.append(await answer.read())
        call_id = last_call(wire, bodies[-1])
        if call_id is None:
            return bodies
        history += results(wire, call_id)
    raise AssertionError("the script has no end")


@both
@pytest.mark.parametrize("stream", [True, False])
def test_a_script_is_played_and_counted_exactly(kind: str, wire: str, stream: bool, tmp_path: Path) -> None:
    async def main() -> None:
        async with provider(kind, wire, FILE, tmp_path) as d:
            bodies = await converse(d, wire, stream)
            assert len(bodies) == 3 and b"bye" in bodies[-1]
            if stream and wire == "openai-chat":
                assert not any(b'"usage"' in b for b in bodies)
            records = await d.settled(3)
            assert {(r.state, r.status, r.model_served) for r in records} == {("done", 200, "any")}
            assert [r.tool_calls for r in records] == [1, 1, 0] and records[-1].text
            counted = usage(records)
            assert (counted.source, counted.requests) == ("gateway", 3)
            sums = (counted.input, counted.cache_read, counted.cache_write, counted.output, counted.reasoning)
            assert sums == (150, 2100, 900, 120, 45)

    run(main())


@both
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("scenario", "status", "reason"),
    [
        ("error-401", 401, "auth"),
        ("error-429", 429, "rate_limited"),
        ("error-429-quota", 429, "out_of_credits"),
        ("error-400-context", 400, "context_length"),
        ("error-500", 500, "provider_error"),
    ],
)
def test_errors_carry_their_reason(
    kind: str, wire: str, stream: bool, scenario: str, status: int, reason: str, tmp_path: Path
) -> None:
    async def main() -> None:
        async with provider(kind, wire, scenario, tmp_path) as d:
            request = {"model": "any", "stream": stream, "tools": [TOOLS[wire]]}
            async with d.client.post(d.url + PATHS[wire], data=msgspec.json.encode(request)) as answer:
                assert answer.status == status and "retry-after" not in answer.headers
                assert (await answer.json())["error"]["message"]
            records = await d.settled()
            cause = classify(signals(records), datetime.now(UTC))
            assert cause is not None and (cause.reason, cause.retry_at) == (reason, None)
            assert usage(records).source == "none" and usage(records).requests == 1

    run(main())


@both
@pytest.mark.parametrize("stream", [True, False])
def test_a_drop_is_a_broken_connection(kind: str, wire: str, stream: bool, tmp_path: Path) -> None:
    async def main() -> None:
        async with provider(kind, wire, "drop", tmp_path) as d:
            request = {"model": "any", "stream": stream, "tools": [TOOLS[wire]]}
            async with d.client.post(d.url + PATHS[wire], data=msgspec.json.encode(request)) as answer:
                assert answer.status == (200 if stream else 502)
                assert b"inspan gateway" in await answer.read()
            records = await d.settled()
            assert [r.state for r in records] == ["broken"]
            cause = classify(signals(records), datetime.now(UTC))
            assert cause is not None and cause.reason == "network"
            assert usage(records).source in ("none", "partial")

    run(main())


@both
def test_a_hang_stays_in_flight_until_the_client_goes(kind: str, wire: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with provider(kind, wire, "hang", tmp_path) as d:
            request = msgspec.json.encode({"model": "any", "stream": True, "tools": [TOOLS[wire]]})
            task = asyncio.create_task(d.client.post(d.url + PATHS[wire], data=request).__aenter__())
            await asyncio.sleep(0.3)
            assert len(d.gateway.in_flight()) == 1 and d.records()[0].state == "open" and not task.done()
            task.cancel()
            [record] = await d.settled()
            assert record.state == "aborted" and d.gateway.in_flight() == []

    run(main())


@both
def test_a_slow_stream_shows_life_and_comes_to_its_end(kind: str, wire: str, tmp_path: Path) -> None:
    slow = FILE.replace("bye", "one two three four five") + "prefill: 0.2\npace: 0.02\n"

    async def main() -> None:
        async with provider(kind, wire, slow, tmp_path) as d:
            task = asyncio.create_task(converse(d, wire, True))
            seen = set()
            while not task.done():
                seen |= set(d.gateway.in_flight())
                await asyncio.sleep(0.005)
            assert len(await task) == 3 and len(seen) > 12
            assert {r.state for r in await d.settled(3)} == {"done"}

    run(main())


def test_tokens_are_counted_by_probe_without_metering(tmp_path: Path) -> None:
    async def main() -> None:
        async with provider("rehearsal", "anthropic", "write-file", tmp_path) as d:
            async with d.client.post(d.url + "/v1/messages/count_tokens", data=b'{"model":"any"}') as answer:
                assert await answer.json() == {"input_tokens": 100}
            assert usage(d.records()).requests == 0

    run(main())
