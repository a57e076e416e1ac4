"""A gateway on a real socket before a scripted endpoint on another one."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
from aiohttp import web

from inspan.gateway.contract import Upstream, WireRecord
from inspan.gateway.journal import read_journal
from inspan.gateway.server import Gateway
from inspan.redact import Redactor

KEY = "sk-real-credential-0123456789abcdef"
PATHS = {"anthropic": "/v1/messages", "openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses"}
HEADER = {"anthropic": "x-api-key", "openai-chat": "authorization", "openai-responses": "authorization"}

Reply = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Seen(NamedTuple):
    """One request as the endpoint got it."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> list[str]:
        return [v for k, v in self.headers if k.lower() == name]


class Endpoint:
    """An endpoint that answers as ``reply`` says and remembers what it saw."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.seen: list[Seen] = []
        self.begun = asyncio.Event()
        self.aborted = asyncio.Event()
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.seen.append(Seen(request.method, request.raw_path, list(request.headers.items()), body))
        self.begun.set()
        try:
            return await self.reply(request)
        except (asyncio.CancelledError, ConnectionError):
            self.aborted.set()
            raise

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Endpoint]:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/{tail:.*}", self.handle)
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        sock = listener()
        await web.SockSite(runner, sock).start()
        self.url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        try:
            yield self
        finally:
            await runner.cleanup()


def listener() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


class Desk(NamedTuple):
    """A gateway at work."""

    gateway: Gateway
    url: str
    journal: Path
    client: aiohttp.ClientSession

    def records(self) -> list[WireRecord]:
        return read_journal(self.journal)

    async def settled(self, count: int = 1) -> list[WireRecord]:
        """The records, once ``count`` requests have ended."""
        for _ in range(500):
            records = self.records()
            if len([r for r in records if r.state != "open"]) >= count:
                return records
            await asyncio.sleep(0.01)
        raise AssertionError(f"still open: {self.records()}")


@asynccontextmanager
async def desk(upstream: Upstream, tmp_path: Path, *, credential: str | None = KEY, **more: Any) -> AsyncIterator[Desk]:
    """A gateway for ``upstream`` and a client that adds nothing of its own."""
    journal = tmp_path / "wire.jsonl"
    redactor = Redactor([credential] if credential else [])
    gateway = Gateway(upstream, credential=credential, journal=journal, redactor=redactor, **more)
    sock = listener()
    await gateway.serve(sock)
    try:
        async with aiohttp.ClientSession(auto_decompress=False, timeout=aiohttp.ClientTimeout(total=20)) as client:
            yield Desk(gateway, f"http://127.0.0.1:{sock.getsockname()[1]}", journal, client)
    finally:
        await gateway.close()


def http(url: str, wire: str, model: str = "m") -> Upstream:
    return Upstream(kind="http", provider="stub", model=model, wire=wire, base_url=url, credential_header=HEADER[wire])


def streamed(*chunks: bytes, **headers: str) -> Reply:
    """Answer with these chunks as an event stream."""

    async def reply(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream", **headers})
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
            await asyncio.sleep(0)
        return response

    return reply


def document(body: bytes, status: int = 200, **headers: str) -> Reply:
    """Answer with one document."""

    async def reply(request: web.Request) -> web.StreamResponse:
        return web.Response(body=body, status=status, headers={"content-type": "application/json", **headers})

    return reply


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a test's coroutine within half a minute."""
    asyncio.run(asyncio.wait_for(main, 30))
