"""The gateway on real sockets: what passes, what is swapped, what is refused, and what is written down."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sys
import zlib
from pathlib import Path

import aiohttp
import msgspec
import pytest
from aiohttp import web
from yarl import URL

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from gateway_kit import HEADER, KEY, PATHS, Desk, Endpoint, desk, document, http, run, streamed
from wire_samples import DOCUMENTS, STREAMS, TOKENS

from inspan.errors import InvalidSpec
from inspan.gateway.contract import Upstream, WireRecord
from inspan.gateway.journal import signals, usage
from inspan.gateway.server import Gateway
from inspan.gateway.wire import WIRES
from inspan.redact import Redactor

wires = pytest.mark.parametrize("wire", WIRES)


def asked(wire: str, stream: bool = True, model: str = "m") -> bytes:
    options = {"stream_options": {"include_usage": True}} if wire == "openai-chat" and stream else {}
    return msgspec.json.encode({"model": model, "stream": stream, "x_new_field": [1], **options})


def counted(record: WireRecord) -> tuple[int | None, ...]:
    return (record.input, record.cache_read, record.cache_write, record.output, record.reasoning)


@wires
def test_a_stream_passes_byte_for_byte_and_is_metered(wire: str, tmp_path: Path) -> None:
    async def main() -> None:
        content = STREAMS[wire]
        odd = [content[i : i + 37] for i in range(0, len(content), 37)]
        async with Endpoint(streamed(*odd, **{"x-request-id": "r1"})).running() as endpoint:
            touched: list[int] = []
            async with desk(http(endpoint.url, wire), tmp_path, on_activity=lambda: touched.append(1)) as d:
                headers = {
                    "x-api-key": "inside",
                    "authorization": "Bearer inside",
                    "x-new": "ä",
                    "anthropic-beta": "a,b",
                }
                target = f"{PATHS[wire]}?beta=true&x=%2F"
                async with d.client.post(
                    URL(d.url + target, encoded=True), data=asked(wire), headers=headers
                ) as answer:
                    assert answer.status == 200 and answer.headers["x-request-id"] == "r1"
                    assert await answer.read() == content
                [record] = await d.settled()
                assert (record.state, record.status, record.kind, record.path) == (
                    "done",
                    200,
                    "inference",
                    PATHS[wire],
                )
                assert counted(record) == TOKENS and record.tool_calls == 2 and record.text
                assert record.model_requested == "m" and record.model_served and record.first_byte is not None
                assert usage([record]).source == "gateway" and signals([record]) == []
                assert d.gateway.in_flight() == [] and len(touched) >= 3
            [seen] = endpoint.seen
            assert seen.target == target and seen.body == asked(wire)
            assert seen.header("x-new") == ["ä"] and seen.header("anthropic-beta") == ["a,b"]
            assert seen.header("accept-encoding") == ["identity"]
            assert seen.header("host") == [endpoint.url.removeprefix("http://")]
            own = KEY if HEADER[wire] == "x-api-key" else f"Bearer {KEY}"
            other = "authorization" if HEADER[wire] == "x-api-key" else "x-api-key"
            assert seen.header(HEADER[wire]) == [own] and seen.header(other) == []

    run(main())


@wires
def test_a_document_passes_and_is_metered(wire: str, tmp_path: Path) -> None:
    async def main() -> None:
        content = msgspec.json.encode(DOCUMENTS[wire])
        async with Endpoint(document(content)).running() as endpoint, desk(http(endpoint.url, wire), tmp_path) as d:
            async with d.client.post(d.url + PATHS[wire], data=asked(wire, False)) as answer:
                assert await answer.read() == content
            [record] = await d.settled()
            assert (record.state, counted(record)) == ("done", TOKENS)

    run(main())


def test_usage_is_asked_for_on_chat_and_the_client_does_not_see_it(tmp_path: Path) -> None:
    async def main() -> None:
        content = STREAMS["openai-chat"]
        usage_frame = next(f for f in content.split(b"\n\n") if b'"usage"' in f) + b"\n\n"
        async with (
            Endpoint(streamed(content)).running() as endpoint,
            desk(http(endpoint.url, "openai-chat", "real"), tmp_path) as d,
        ):
            body = b'{"model":"alias","stream":true,"messages":[ 1.0 ]}'
            async with d.client.post(d.url + "/chat/completions", data=body) as answer:
                assert await answer.read() == content.replace(usage_frame, b"")
            [record] = await d.settled()
            assert counted(record) == TOKENS and record.model_requested == "alias"
            [seen] = endpoint.seen
            assert seen.target == "/v1/chat/completions" and b"[ 1.0 ]" in seen.body
            assert json.loads(seen.body)["model"] == "real"

    run(main())


@wires
@pytest.mark.parametrize("shape", ["before any byte", "headers only", "mid stream", "document", "mid document"])
def test_when_the_client_goes_the_request_upstream_ends(wire: str, shape: str, tmp_path: Path) -> None:
    async def reply(request: web.Request) -> web.StreamResponse:
        if shape not in ("before any byte", "document"):
            kind = "application/json" if shape == "mid document" else "text/event-stream"
            response = web.StreamResponse(headers={"content-type": kind})
            await response.prepare(request)
            if shape == "mid stream":
                await response.write(STREAMS[wire][: STREAMS[wire].index(b"\n\n") + 2])
            elif shape == "mid document":
                await response.write(b"{")
            else:
                await response.write(b"")
        await asyncio.Event().wait()
        raise AssertionError

    async def main() -> None:
        async with Endpoint(reply).running() as endpoint, desk(http(endpoint.url, wire), tmp_path) as d:
            task = asyncio.create_task(_hold(d, wire, stream="document" not in shape))
            await endpoint.begun.wait()
            await asyncio.sleep(0.1)
            assert len(d.gateway.in_flight()) == 1
            assert not endpoint.aborted.is_set()
            task.cancel()
            await asyncio.wait_for(endpoint.aborted.wait(), 5)
            [record] = await d.settled()
            assert record.state == "aborted" and d.gateway.in_flight() == []
            assert usage([record]).source in ("none", "partial") and usage([record]).requests == 1

    run(main())


@wires
def test_a_client_that_hangs_up_on_the_last_event_has_the_whole_answer(wire: str, tmp_path: Path) -> None:
    async def reply(request: web.Request) -> web.StreamResponse:
        await streamed(STREAMS[wire])(request)
        await asyncio.Event().wait()
        raise AssertionError

    async def main() -> None:
        async with Endpoint(reply).running() as endpoint, desk(http(endpoint.url, wire), tmp_path) as d:
            async with d.client.post(d.url + PATHS[wire], data=asked(wire)) as answer:
                assert await answer.content.readexactly(len(STREAMS[wire])) == STREAMS[wire]
                answer.close()
            await asyncio.wait_for(endpoint.aborted.wait(), 5)
            [record] = await d.settled()
            assert (record.state, counted(record)) == ("done", TOKENS)
            assert usage([record]).source == "gateway"

    run(main())


async def _hold(d: Desk, wire: str, stream: bool) -> None:
    async with d.client.post(d.url + PATHS[wire], data=asked(wire, stream)) as answer:
        await answer.read()


@wires
def test_closing_the_gateway_ends_requests_upstream(wire: str, tmp_path: Path) -> None:
    async def forever(request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    async def main() -> None:
        async with Endpoint(forever).running() as endpoint, desk(http(endpoint.url, wire), tmp_path) as d:
            task = asyncio.create_task(_hold(d, wire, stream=True))
            await endpoint.begun.wait()
            await d.gateway.close()
            await asyncio.wait_for(endpoint.aborted.wait(), 5)
            [record] = d.records()
            assert record.state == "aborted"
            with pytest.raises(aiohttp.ClientError):
                await task

    run(main())


@wires
def test_a_stream_that_ends_early_ends_in_an_error_of_the_dialect(wire: str, tmp_path: Path) -> None:
    whole = STREAMS[wire]
    first = whole[: whole.index(b"\n\n") + 2]

    async def main() -> None:
        async with (
            Endpoint(streamed(first, b'data: {"half')).running() as endpoint,
            desk(http(endpoint.url, wire), tmp_path) as d,
        ):
            async with d.client.post(d.url + PATHS[wire], data=asked(wire)) as answer:
                content = await answer.read()
            assert content.startswith(first) and b"half" not in content
            error = content[len(first) :]
            assert error == WIRES[wire].error_event("inspan gateway: the answer broke off before its end")
            [record] = await d.settled()
            assert (record.state, record.status, record.error_type) == ("broken", 200, "connection_lost")
            assert usage([record]).source != "gateway"
            assert len(signals([record])) == 1

    run(main())


@wires
@pytest.mark.parametrize("stream", [True, False])
def test_a_connection_cut_upstream_is_told(wire: str, stream: bool, tmp_path: Path) -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        kind = "text/event-stream" if stream else "application/json"
        response = web.StreamResponse(headers={"content-type": kind})
        await response.prepare(request)
        await response.write(b": hello\n\n" if stream else b"{")
        assert request.transport is not None
        request.transport.abort()
        await asyncio.Event().wait()
        return response

    async def main() -> None:
        async with Endpoint(cut).running() as endpoint, desk(http(endpoint.url, wire), tmp_path) as d:
            if stream:
                async with d.client.post(d.url + PATHS[wire], data=asked(wire)) as answer:
                    assert b"broke" in await answer.read()
            else:
                with pytest.raises(aiohttp.ClientError):
                    await _hold(d, wire, stream=False)
            [record] = await d.settled()
            assert (record.state, record.error_type) == ("broken", "connection_lost")

    run(main())


IN_BAND = {
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    "openai-chat": {"error": {"type": "server_error", "message": "Overloaded"}},
    "openai-responses": {"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_is_overloaded", "message": "Overloaded"}}},
}  # fmt: skip


@wires
def test_an_error_event_passes_as_it_is_and_breaks_the_request(wire: str, tmp_path: Path) -> None:
    content = b"data: " + msgspec.json.encode(IN_BAND[wire]) + b"\n\n"

    async def main() -> None:
        async with Endpoint(streamed(content)).running() as endpoint, desk(http(endpoint.url, wire), tmp_path) as d:
            async with d.client.post(d.url + PATHS[wire], data=asked(wire)) as answer:
                assert await answer.read() == content
            [record] = await d.settled()
            assert (record.state, record.status, record.error_message) == ("broken", 200, "Overloaded")

    run(main())


@wires
@pytest.mark.parametrize(
    ("headers", "wait"),
    [({"retry-after": "7"}, 7.0), ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5), ({"llm_provider-retry-after": "9"}, 9.0), ({"retry-after": "soon"}, None)],
)  # fmt: skip
def test_an_error_status_is_evidence(wire: str, headers: dict[str, str], wait: float | None, tmp_path: Path) -> None:
    body = WIRES[wire].error_body(429, "Rate limit reached")

    async def main() -> None:
        async with (
            Endpoint(document(body, 429, **headers)).running() as endpoint,
            desk(http(endpoint.url, wire), tmp_path) as d,
        ):
            async with d.client.post(d.url + PATHS[wire], data=asked(wire)) as answer:
                assert (answer.status, await answer.read()) == (429, body)
                assert {k: answer.headers[k] for k in headers} == headers
            [record] = await d.settled()
            assert (record.state, record.status, record.retry_after) == ("done", 429, wait)
            assert record.error_message == "Rate limit reached"
            assert (usage([record]).source, usage([record]).requests, usage([record]).input) == ("none", 1, None)

    run(main())


@wires
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("stream", [True, False])
def test_what_is_compressed_all_the_same_is_undone(wire: str, encoding: str, stream: bool, tmp_path: Path) -> None:
    plain = STREAMS[wire] if stream else msgspec.json.encode(DOCUMENTS[wire])
    packed = gzip.compress(plain) if encoding == "gzip" else zlib.compress(plain)
    pieces = [packed[:50], packed[50:]]
    kind = "text/event-stream" if stream else "application/json"

    async def main() -> None:
        reply = streamed(*pieces, **{"content-encoding": encoding, "content-type": kind})
        async with Endpoint(reply).running() as endpoint, desk(http(endpoint.url, wire), tmp_path) as d:
            async with d.client.post(d.url + PATHS[wire], data=asked(wire, stream)) as answer:
                assert "content-encoding" not in answer.headers
                assert await answer.read() == plain
            [record] = await d.settled()
            assert (record.state, counted(record)) == ("done", TOKENS)

    run(main())


@wires
@pytest.mark.parametrize("stream", [True, False])
def test_a_key_the_endpoint_repeats_never_reaches_the_client_or_the_journal(
    wire: str, stream: bool, tmp_path: Path
) -> None:
    async def main() -> None:
        error = json.dumps({"error": {"type": "t", "message": f"bad key {KEY}"}, "type": "error", "code": "x"}).encode()
        whole = b"data: " + error + b"\n\n" if stream else error
        half = whole.index(KEY.encode()) + 9
        kind = "text/event-stream" if stream else "application/json"
        reply = streamed(whole[:half], whole[half:], **{"x-echo": f"key={KEY}", "content-type": kind})
        async with Endpoint(reply).running() as endpoint, desk(http(endpoint.url, wire), tmp_path) as d:
            async with d.client.post(d.url + PATHS[wire], data=asked(wire, stream)) as answer:
                content = await answer.read()
                assert b"bad key [redacted]" in content and KEY not in str(answer.headers)
            assert KEY.encode() not in content
            await d.settled()
            assert KEY not in d.journal.read_text()
            # The control: the endpoint did get the key and did send it back.
            assert any(KEY in v for _, v in endpoint.seen[0].headers) and KEY.encode() in whole

    run(main())


def test_a_redirect_is_not_followed_and_the_key_stays_with_its_host(tmp_path: Path) -> None:
    async def main() -> None:
        async with Endpoint(document(b"{}")).running() as elsewhere:
            there = elsewhere.url + "/v1/messages"
            async with Endpoint(document(b"{}", 307, location=there)).running() as endpoint:
                async with desk(http(endpoint.url, "anthropic"), tmp_path) as d:
                    async with d.client.post(
                        d.url + "/v1/messages", data=asked("anthropic"), allow_redirects=False
                    ) as answer:
                        assert answer.status == 307
                    [record] = await d.settled()
                    assert record.status == 307
                assert elsewhere.seen == [] and len(endpoint.seen) == 1

    run(main())


async def _raw(d: Desk, head: str, body: bytes = b"") -> bytes:
    host, port = d.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(head.replace("\n", "\r\n").encode() + b"\r\n" + body)
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer


def test_nobody_else_is_ever_contacted(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            Endpoint(document(b"{}")).running() as elsewhere,
            Endpoint(document(b"{}")).running() as endpoint,
            desk(http(endpoint.url, "anthropic"), tmp_path) as d,
        ):
            host = elsewhere.url.removeprefix("http://")
            tail = "content-length: 2\nconnection: close\n"
            for head in (
                f"POST {elsewhere.url}/v1/messages HTTP/1.1\nhost: {host}\n{tail}",
                f"POST {elsewhere.url}/v1/messages HTTP/1.1\nhost: 127.0.0.1\n{tail}",
                f"POST //{host}/v1/messages HTTP/1.1\nhost: 127.0.0.1\n{tail}",
                f"POST /v1/messages HTTP/1.1\nhost: evil.example\n{tail}",
                f"CONNECT {host} HTTP/1.1\nhost: {host}\nconnection: close\n",
            ):
                answer = await _raw(d, head, b"" if head.startswith("CONNECT") else b"{}")
                assert answer.split()[1] in (b"400", b"403", b"404", b"405"), answer
            assert elsewhere.seen == [] and endpoint.seen == []
            assert {r.state for r in d.records()} == {"refused"}
            # The control: the same request for us does pass.
            await _raw(d, f"POST /v1/messages HTTP/1.1\nhost: localhost:1\n{tail}", b"{}")
            assert len(endpoint.seen) == 1 and elsewhere.seen == []

    run(main())


def test_a_client_that_asks_before_it_sends_is_told_to_go_on(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            Endpoint(document(b"{}")).running() as endpoint,
            desk(http(endpoint.url, "anthropic"), tmp_path) as d,
        ):
            async with d.client.post(d.url + "/v1/messages", data=b'{"model":"m"}', expect100=True) as answer:
                assert (answer.status, await answer.read()) == (200, b"{}")
            assert endpoint.seen[0].header("expect") == []

    run(main())


@wires
def test_paths_that_are_not_of_the_wire_are_refused_and_written_down(wire: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with Endpoint(document(b"{}")).running() as endpoint, desk(http(endpoint.url, wire), tmp_path) as d:
            others = [p for w, p in PATHS.items() if w != wire]
            for path in (
                *others,
                "/v1/files",
                "/v1/models/other",
                "/v1//messages",
                "/v1/messages/%2e%2e/files",
                "/admin",
            ):
                async with d.client.post(d.url + path, data=b"{}") as answer:
                    assert answer.status == 404, path
                    assert b"inspan gateway" in await answer.read()
            async with d.client.get(d.url + PATHS[wire]) as answer:
                assert answer.status == 405
            for bad in (b"", b"[]", b"\xff"):
                async with d.client.post(d.url + PATHS[wire], data=bad) as answer:
                    assert answer.status == 400
            records = d.records()
            assert {r.state for r in records} == {"refused"} and len(records) >= 10
            assert usage(records).requests == 0 and signals(records) == []
            assert endpoint.seen == []

    run(main())


@wires
def test_probes_are_answered_and_not_metered(wire: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            Endpoint(document(b'{"input_tokens": 12}')).running() as endpoint,
            desk(http(endpoint.url, wire), tmp_path) as d,
        ):
            async with d.client.head(d.url + "/") as answer:
                assert answer.status == 200
            async with d.client.options(d.url + PATHS[wire]) as answer:
                assert answer.status == 204
            async with d.client.get(d.url + "/v1/models?limit=1000") as answer:
                assert [m["id"] for m in (await answer.json())["data"]] == ["m"]
            assert endpoint.seen == []
            async with d.client.post(d.url + "/v1/messages/count_tokens", data=b'{"model":"m"}') as answer:
                assert answer.status == (200 if wire == "anthropic" else 404)
            records = d.records()
            assert {r.kind for r in records} == {"probe"} and usage(records).requests == 0
            assert len(endpoint.seen) == (1 if wire == "anthropic" else 0)

    run(main())


def test_a_token_is_demanded_where_one_is_set(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            Endpoint(document(b"{}")).running() as endpoint,
            desk(http(endpoint.url, "anthropic"), tmp_path, token="right-token") as d,
        ):
            for headers in (
                {},
                {"x-api-key": "wrong"},
                {"authorization": "Basic right-token"},
                {"x-api-key": "right-tokenx"},
            ):
                async with d.client.post(d.url + "/v1/messages", data=b"{}", headers=headers) as answer:
                    assert answer.status == 401
            assert endpoint.seen == []
            for headers in ({"x-api-key": "right-token"}, {"authorization": "Bearer right-token"}):
                async with d.client.post(d.url + "/v1/messages", data=b"{}", headers=headers) as answer:
                    assert answer.status == 200
            assert len(endpoint.seen) == 2 and not any("right-token" in v for s in endpoint.seen for _, v in s.headers)
            assert "right-token" not in d.journal.read_text()

    run(main())


@wires
def test_an_endpoint_that_is_not_there(wire: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with desk(http("http://127.0.0.1:9", wire), tmp_path) as d:
            async with d.client.post(d.url + PATHS[wire], data=asked(wire)) as answer:
                assert answer.status == 502 and b"could not be reached" in await answer.read()
            [record] = await d.settled()
            assert (record.state, record.status, record.error_type) == ("broken", None, "connection_failed")
            assert usage([record]).requests == 0

    run(main())


def test_proxies_of_the_environment_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with Endpoint(document(b"{}")).running() as proxy, Endpoint(document(b"{}")).running() as endpoint:
            monkeypatch.setenv("http_proxy", proxy.url)
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
            async with (
                desk(http(endpoint.url, "anthropic"), tmp_path) as d,
                d.client.post(d.url + "/v1/messages", data=b"{}") as answer,
            ):
                assert answer.status == 200
            assert proxy.seen == [] and len(endpoint.seen) == 1

    run(main())


def test_a_body_over_the_cap_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspan.gateway.server.LARGEST_REQUEST", 1000)

    async def main() -> None:
        async with (
            Endpoint(document(b"{}")).running() as endpoint,
            desk(http(endpoint.url, "anthropic"), tmp_path) as d,
        ):

            async def chunks() -> object:
                for _ in range(3):
                    yield b" " * 500

            for body in (b" " * 1001, chunks()):
                async with d.client.post(d.url + "/v1/messages", data=body) as answer:
                    assert answer.status == 413
            async with d.client.post(d.url + "/v1/messages", data=b'{"model":"m"}' + b" " * 900) as answer:
                assert answer.status == 200
            assert len(endpoint.seen) == 1

    run(main())


def test_the_journal_says_open_while_a_request_is_open_and_survives_a_torn_line(tmp_path: Path) -> None:
    async def main() -> None:
        hold = asyncio.Event()

        async def reply(request: web.Request) -> web.StreamResponse:
            await hold.wait()
            return await streamed(STREAMS["anthropic"])(request)

        async with Endpoint(reply).running() as endpoint, desk(http(endpoint.url, "anthropic"), tmp_path) as d:
            task = asyncio.create_task(_hold(d, "anthropic", stream=True))
            await endpoint.begun.wait()
            [record] = d.records()
            assert record.state == "open" and usage([record]).source == "none" and usage([record]).requests == 1
            hold.set()
            await task
            await d.settled()
        with (tmp_path / "wire.jsonl").open("ab") as file:
            file.write(b'{"id": "torn')
        async with (
            Endpoint(streamed(STREAMS["anthropic"])).running() as endpoint,
            desk(http(endpoint.url, "anthropic"), tmp_path) as d,
        ):
            await _hold(d, "anthropic", stream=True)
            records = await d.settled(2)
            assert [r.state for r in records] == ["done", "done"]
            assert usage(records).input == 2 * TOKENS[0] and usage(records).source == "gateway"
        assert os.stat(tmp_path / "wire.jsonl").st_mode & 0o777 == 0o600

    run(main())


def test_a_gateway_without_a_usable_endpoint_is_not_made(tmp_path: Path) -> None:
    for upstream in (
        Upstream(kind="http", provider="p", model="m", wire="anthropic", base_url=None),
        Upstream(kind="http", provider="p", model="m", wire="anthropic", base_url="ftp://x"),
        Upstream(kind="http", provider="p", model="m", wire="nope", base_url="https://x"),
    ):
        with pytest.raises(InvalidSpec):
            Gateway(upstream, credential=None, journal=tmp_path / "wire.jsonl", redactor=Redactor())
