"""The model gateway of one attempt: every model request of a harness passes here, and nothing else does.

It listens on the socket it is given, talks to one configured endpoint, puts the real credential in, passes answers on
as they come and writes down what it saw. It never retries and never invents an answer: retries belong to the harness,
and an answer that broke off ends in an error of the harness's own dialect.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from inspan.errors import InvalidSpec
from inspan.gateway.contract import Upstream, WireRecord
from inspan.gateway.exchange import Exchange, Line
from inspan.gateway.headers import presented
from inspan.gateway.journal import Journal
from inspan.gateway.request import prepare
from inspan.gateway.upstream import HttpSource, Source
from inspan.gateway.wire import WIRES, Wire
from inspan.redact import Redactor
from inspan.times import timestamp

if TYPE_CHECKING:
    from aiohttp import web

LARGEST_REQUEST: Final = 64 << 20
LONGEST_HEADER: Final = 64 << 10
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


class Gateway:
    """Serves one attempt.

    Args:
        upstream: where model requests go.
        credential: the real credential; never written, logged or sent anywhere but to the endpoint.
        journal: the wire journal's path; appended to.
        redactor: applied to everything that is written.
        token: what a client must present; None where nobody but the agent can reach the socket.
        on_activity: called when a request starts, whenever bytes of an answer come, and when it ends.

    Raises:
        InvalidSpec: for an unknown wire, a provider without address, or a scenario that cannot be read.
        UnknownName: for a scenario nobody knows.
        OSError: when the journal cannot be opened.
    """

    def __init__(
        self,
        upstream: Upstream,
        *,
        credential: str | None,
        journal: Path,
        redactor: Redactor,
        token: str | None = None,
        on_activity: Callable[[], None] | None = None,
    ) -> None:
        if upstream.wire not in WIRES:
            raise InvalidSpec(f"unknown wire {upstream.wire!r}", where="upstream", do=f"use one of {', '.join(WIRES)}")
        key = credential.strip() if credential and upstream.kind == "http" else None
        self._model = upstream.model
        self._wire: Wire = WIRES[upstream.wire]
        self._line = Line(
            wire=self._wire,
            source=_source(upstream),
            journal=Journal(journal, redactor),
            credential_header=upstream.credential_header,
            credential=key,
            scrub=Redactor([key], patterns=False) if key else None,
            on_activity=on_activity or _nothing,
            open={},
        )
        self._token = token.encode() if token is not None else None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._runner: web.ServerRunner | None = None

    async def serve(self, sock: socket.socket) -> None:
        """Start serving on a listening socket and return. May be called for several sockets."""
        from aiohttp import web

        if self._runner is None:
            server = web.Server(
                self._handle,
                handler_cancellation=True,
                access_log=None,
                max_line_size=LONGEST_HEADER,
                max_field_size=LONGEST_HEADER,
            )
            self._runner = web.ServerRunner(server, shutdown_timeout=0.1)
            await self._runner.setup()
        await web.SockSite(self._runner, sock).start()

    def in_flight(self) -> list[float]:
        """When each open model request last showed life (its start or its last byte), by ``time.monotonic``."""
        return list(self._line.open.values())

    async def close(self) -> None:
        """Abort what is open, stop serving, close the journal. Idempotent."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        await self._line.source.close()
        self._line.journal.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        path, _, query = request.raw_path.partition("?")
        refusal = self._refusal(request, path)
        if refusal is not None:
            return self._refuse(request, path, *refusal)
        if request.method != "POST":
            return self._own(request, path)
        body = await _body(request)
        if body is None:
            return self._refuse(request, path, 413, f"a request may have at most {LARGEST_REQUEST >> 20} MiB")
        prepared = prepare(self._wire, body, self._model)
        if prepared is None:
            return self._refuse(request, path, 400, "the request body is not a JSON object")
        return await Exchange(self._line, request, _canonical(path), query, prepared).run()

    def _refusal(self, request: web.BaseRequest, path: str) -> tuple[int, str] | None:
        """Status and words when a request is none of ours."""
        if not path.startswith("/") or path.startswith("//") or not _loopback(request.headers.get("host")):
            return 403, "this gateway serves one model endpoint and is no proxy"
        posts = (self._wire.INFERENCE, *self._wire.PROBES)
        lists = ("/v1/models", f"/v1/models/{self._model}")
        known = _canonical(path) in (*posts, *lists)
        if request.method in ("HEAD", "OPTIONS"):
            return None if known or path == "/" else (404, f"no such path on this wire: {path}")
        if self._token is not None:
            key = (presented(request.headers.items()) or "").encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(key, self._token):
                return 401, "the key is not the one of this attempt"
        if not known:
            return 404, f"no such path on this wire: {path}"
        wanted = "POST" if _canonical(path) in posts else "GET"
        return None if request.method == wanted else (405, f"{request.method} is not served for {path}")

    def _own(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        """Answer a probe that needs no endpoint."""
        from aiohttp import web

        self._jot(request, path, state="done", kind="probe")
        if request.method == "GET":
            return web.Response(body=self._wire.models_body(self._model), content_type="application/json")
        return web.Response(status=200 if request.method == "HEAD" else 204, headers={"allow": "GET, HEAD, POST"})

    def _refuse(self, request: web.BaseRequest, path: str, status: int, message: str) -> web.StreamResponse:
        from aiohttp import web

        kind = "inference" if _canonical(path) == self._wire.INFERENCE else "probe"
        said = {"error_type": "refused", "error_message": f"{status}: {message}"}
        self._jot(request, path, state="refused", kind=kind, **said)
        content = self._wire.error_body(status, f"inspan gateway: {message}")
        return web.Response(status=status, body=content, content_type="application/json")

    def _jot(self, request: web.BaseRequest, path: str, **facts: Any) -> None:
        now = timestamp()
        record = WireRecord(id=uuid.uuid4().hex, at=now, ended=now, method=request.method, path=path, **facts)
        self._line.journal.write(record)


def _nothing() -> None:
    """Activity nobody asked about."""


def _source(upstream: Upstream) -> Source:
    if upstream.kind == "rehearsal":
        from inspan.gateway.rehearsal import RehearsalSource

        return RehearsalSource(upstream)
    if upstream.base_url is None or urlsplit(upstream.base_url).scheme not in ("http", "https"):
        raise InvalidSpec(
            f"provider {upstream.provider!r} has no usable address: {upstream.base_url!r}",
            where="upstream.base_url",
            do="give it a base URL that begins with https:// or http://",
        )
    return HttpSource(upstream.base_url)


def _canonical(path: str) -> str:
    """The path as endpoints have it; clients differ in whether ``/v1`` belongs to their base URL."""
    return path if path.startswith("/v1/") else f"/v1{path}"


def _loopback(host: str | None) -> bool:
    """Whether a Host header means us; any other name is a rebound one or a request for somebody else."""
    if not host:
        return True
    try:
        return urlsplit(f"//{host}").hostname in _LOOPBACK
    except ValueError:
        return False


async def _body(request: web.BaseRequest) -> bytes | None:
    """The request body, None when it is too large."""
    if (request.content_length or 0) > LARGEST_REQUEST:
        return None
    if request.headers.get("expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # what was written so far is no part of the answer
    parts: list[bytes] = []
    length = 0
    async for chunk in request.content.iter_any():
        length += len(chunk)
        if length > LARGEST_REQUEST:
            return None
        parts.append(chunk)
    return b"".join(parts)
