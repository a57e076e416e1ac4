"""The model gateway of one attempt: every model request of a harness passes here, and nothing else does.

It listens on the socket it is given, talks to one configured endpoint, puts the real credential in, passes answers on
as they come and writes down what it saw. It never retries and never invents an answer: retries belong to the harness,
and an answer that broke off ends in an error of the harness's own dialect.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec

from inspan.errors import InvalidSpec, ProviderError
from inspan.gateway.contract import Upstream, WireRecord
from inspan.gateway.headers import forwarded, presented, retry_after, returned
from inspan.gateway.journal import Journal, stamp
from inspan.gateway.meter import Meter
from inspan.gateway.request import Prepared, prepare
from inspan.gateway.upstream import Answer, Ask, HttpSource, Source
from inspan.gateway.wire import WIRES, Wire
from inspan.redact import Redactor

if TYPE_CHECKING:
    from aiohttp import web

LARGEST_REQUEST: Final = 64 << 20
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
        self._upstream = upstream
        self._wire: Wire = WIRES[upstream.wire]
        self._source = _source(upstream)
        self._credential = credential if upstream.kind == "http" else None
        self._scrub = Redactor([credential], patterns=False) if credential else None
        self._journal = Journal(journal, redactor)
        self._token = token.encode() if token is not None else None
        self._on_activity = on_activity or _nothing
        self._open: dict[str, float] = {}
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
                max_line_size=65536,
                max_field_size=65536,
            )
            self._runner = web.ServerRunner(server, shutdown_timeout=0.1)
            await self._runner.setup()
        await web.SockSite(self._runner, sock).start()

    def in_flight(self) -> list[float]:
        """When each open model request last showed life (its start or its last byte), by ``time.monotonic``."""
        return list(self._open.values())

    async def close(self) -> None:
        """Abort what is open, stop serving, close the journal. Idempotent."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        await self._source.close()
        self._journal.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        path, _, query = request.raw_path.partition("?")
        refusal = self._refusal(request, path)
        if refusal is not None:
            return self._refuse(request, path, *refusal)
        own = self._own(request, path)
        if own is not None:
            return own
        canonical = _canonical(path)
        body = await _body(request)
        if body is None:
            return self._refuse(request, path, 413, f"a request may have at most {LARGEST_REQUEST >> 20} MiB")
        prepared = prepare(self._wire, body, self._upstream.model)
        if prepared is None:
            return self._refuse(request, path, 400, "the request body is not a JSON object")
        exchange = _Exchange(self, request, canonical, query, prepared)
        return await exchange.run()

    def _refusal(self, request: web.BaseRequest, path: str) -> tuple[int, str] | None:
        if not path.startswith("/") or path.startswith("//") or not _loopback(request.headers.get("host")):
            return 403, "this gateway serves one model endpoint and is no proxy"
        if request.method in ("HEAD", "OPTIONS"):
            return None if path == "/" or _canonical(path) in self._paths() else (404, f"no such path: {path}")
        if self._token is not None:
            key = (presented(request.headers.items()) or "").encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(key, self._token):
                return 401, "the key is not the one of this attempt"
        wanted = "GET" if _canonical(path).startswith("/v1/models") else "POST"
        if _canonical(path) not in self._paths():
            return 404, f"no such path on this wire: {path}"
        return None if request.method == wanted else (405, f"{request.method} is not served for {path}")

    def _paths(self) -> tuple[str, ...]:
        models = ("/v1/models", f"/v1/models/{self._upstream.model}")
        return (self._wire.INFERENCE, *self._wire.PROBES, *models)

    def _own(self, request: web.BaseRequest, path: str) -> web.StreamResponse | None:
        """Probes that need no endpoint."""
        from aiohttp import web

        if request.method in ("HEAD", "OPTIONS"):
            answer = web.Response(status=200 if request.method == "HEAD" else 204, headers={"allow": "GET, HEAD, POST"})
        elif request.method == "GET":
            content = self._wire.models_body(self._upstream.model)
            answer = web.Response(body=content, content_type="application/json")
        else:
            return None
        now = stamp()
        self._journal.write(
            WireRecord(
                id=uuid.uuid4().hex, state="done", at=now, ended=now, kind="probe", method=request.method, path=path
            )
        )
        return answer

    def _refuse(self, request: web.BaseRequest, path: str, status: int, message: str) -> web.StreamResponse:
        from aiohttp import web

        now = stamp()
        record = WireRecord(
            id=uuid.uuid4().hex,
            state="refused",
            at=now,
            ended=now,
            kind="inference" if _canonical(path) == self._wire.INFERENCE else "probe",
            method=request.method,
            path=path,
            error_type="refused",
            error_message=f"{status}: {message}",
        )
        self._journal.write(record)
        content = self._wire.error_body(status, f"inspan gateway: {message}")
        return web.Response(status=status, body=content, content_type="application/json")


class _Exchange:
    """One request on its way to the endpoint and its answer on the way back."""

    def __init__(self, gateway: Gateway, request: web.BaseRequest, path: str, query: str, prepared: Prepared) -> None:
        self._gateway, self._request, self._prepared = gateway, request, prepared
        self._target = f"{path}?{query}" if query else path
        self._metered = path == gateway._wire.INFERENCE
        self._started = time.monotonic()
        self._response: web.StreamResponse | None = None
        self._meter: Meter | None = None
        self.record = WireRecord(
            id=uuid.uuid4().hex,
            state="open",
            at=stamp(),
            kind="inference" if self._metered else "probe",
            method=request.method,
            path=path,
            model_requested=prepared.model,
        )

    async def run(self) -> web.StreamResponse:
        """Pass request and answer. Whatever happens, the journal gets exactly one ending."""
        gateway = self._gateway
        gateway._journal.write(self.record)
        self._alive()
        try:
            try:
                async with gateway._source.ask(self._ask()) as answer:
                    return await self._pass(answer)
            except ProviderError as broken:
                return await self._broken(broken)
        except (asyncio.CancelledError, ConnectionError):
            self._note(state="aborted")
            raise
        except BaseException:
            self._note(state="broken", error_type="gateway_error", error_message="the gateway failed")
            raise
        finally:
            gateway._open.pop(self.record.id, None)
            gateway._on_activity()
            gateway._journal.write(self._ended())

    def _ask(self) -> Ask:
        upstream = self._gateway._upstream
        name = upstream.credential_header if upstream.kind == "http" else None
        headers = forwarded(self._request.headers.items(), name, self._gateway._credential)
        return Ask(self._request.method, self._target, headers, self._prepared.body)

    async def _pass(self, answer: Answer) -> web.StreamResponse:
        from aiohttp import web

        gateway, good = self._gateway, 200 <= answer.status < 300
        wait = None if good else retry_after(answer.headers, datetime.now(UTC))
        self._note(status=answer.status, retry_after=wait)
        stream = good and self._metered and _is_stream(answer, self._prepared.stream)
        strip = stream and self._prepared.strip
        self._meter = meter = Meter(gateway._wire, stream=stream, strip=strip, scrub=gateway._scrub)
        self._response = response = web.StreamResponse(status=answer.status)
        for name, value in returned(answer.headers, decoded=answer.decoded):
            response.headers.add(name, gateway._scrub.text(value) if gateway._scrub is not None else value)
        await response.prepare(self._request)
        async for chunk in answer.chunks:
            if self.record.first_byte is None:
                self._note(first_byte=round(time.monotonic() - self._started, 4))
            self._alive()
            passed = meter.feed(chunk)
            if passed:
                await response.write(passed)
        rest = meter.finish()
        if rest:
            await response.write(rest)
        if stream and not meter.reading.finished and not meter.reading.failed:
            raise ProviderError("the answer ended before its end", reason="network")
        self._note(state="broken" if good and meter.reading.failed else "done")
        await response.write_eof()
        return response

    async def _broken(self, broken: ProviderError) -> web.StreamResponse:
        """There is no whole answer: say so in the client's dialect, or by breaking off where no dialect can."""
        from aiohttp import web

        wire, response = self._gateway._wire, self._response
        kind = "connection_failed" if response is None else "connection_lost"
        self._note(state="broken", error_type=kind, error_message=broken.what)
        if response is None:
            content = wire.error_body(502, f"inspan gateway: {broken.what}")
            return web.Response(status=502, body=content, content_type="application/json")
        if self._meter is not None and self._meter.stream:
            await response.write(wire.error_event(f"inspan gateway: {broken.what}"))
            await response.write_eof()
        elif self._request.transport is not None:
            self._request.transport.abort()
        return response

    def _alive(self) -> None:
        if self._metered:
            self._gateway._open[self.record.id] = time.monotonic()
            self._gateway._on_activity()

    def _note(self, **changes: Any) -> None:
        self.record = msgspec.structs.replace(self.record, **changes)

    def _ended(self) -> WireRecord:
        """The record with all the meter read. The gateway's own finding stands over a later error in the answer."""
        record = msgspec.structs.replace(self.record, ended=stamp())
        if self._meter is None or not self._metered:
            return record
        read = self._meter.reading
        return msgspec.structs.replace(
            record,
            model_served=read.model,
            input=read.input,
            cache_read=read.cache_read,
            cache_write=read.cache_write,
            output=read.output,
            reasoning=read.reasoning,
            tool_calls=read.tool_calls,
            text=read.text,
            stop=read.stop,
            error_type=read.error_type if read.failed else record.error_type,
            error_code=read.error_code,
            error_message=read.error_message if read.failed else record.error_message,
        )


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
    return path if path.startswith("/v1/") else f"/v1{path}"


def _loopback(host: str | None) -> bool:
    """Whether a Host header means us; any other name is a rebound one or a request for somebody else."""
    if not host:
        return True
    try:
        return urlsplit(f"//{host}").hostname in _LOOPBACK
    except ValueError:
        return False


def _is_stream(answer: Answer, asked: bool) -> bool:
    kind = next((v for k, v in answer.headers if k.lower() == "content-type"), "").lower()
    encoded = any(k.lower() == "content-encoding" and v.lower() != "identity" for k, v in answer.headers)
    if encoded and not answer.decoded:
        return False
    return kind.startswith("text/event-stream") or (asked and not kind.startswith("application/json"))


async def _body(request: web.BaseRequest) -> bytes | None:
    """The request body, None when it is too large."""
    if (request.content_length or 0) > LARGEST_REQUEST:
        return None
    parts: list[bytes] = []
    length = 0
    async for chunk in request.content.iter_any():
        length += len(chunk)
        if length > LARGEST_REQUEST:
            return None
        parts.append(chunk)
    return b"".join(parts)
