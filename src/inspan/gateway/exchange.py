"""One model request on its way to the endpoint, and its answer on the way back."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from inspan.errors import ProviderError
from inspan.gateway.contract import WireRecord
from inspan.gateway.headers import forwarded, retry_after, returned
from inspan.gateway.journal import Journal
from inspan.gateway.meter import Meter
from inspan.gateway.request import Prepared
from inspan.gateway.upstream import Answer, Ask, Source
from inspan.gateway.wire import Wire
from inspan.redact import Redactor
from inspan.times import timestamp

if TYPE_CHECKING:
    from aiohttp import web


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """What all requests of one attempt share.

    Attributes:
        credential_header: the header for ``credential``; both None when the endpoint wants none.
        scrub: takes the credential out of answers, None when there is none.
        open: when each open model request last showed life, by its id and ``time.monotonic``.
    """

    wire: Wire
    source: Source
    journal: Journal
    credential_header: str | None
    credential: str | None
    scrub: Redactor | None
    on_activity: Callable[[], None]
    open: dict[str, float]


class Exchange:
    """One request and its answer. ``record`` is what the journal will say of it."""

    def __init__(self, line: Line, request: web.BaseRequest, path: str, query: str, prepared: Prepared) -> None:
        self._line, self._request, self._prepared = line, request, prepared
        self._target = f"{path}?{query}" if query else path
        self._metered = path == line.wire.INFERENCE
        self._started = time.monotonic()
        self._response: web.StreamResponse | None = None
        self._meter: Meter | None = None
        self.record = WireRecord(
            id=uuid.uuid4().hex,
            state="open",
            at=timestamp(),
            kind="inference" if self._metered else "probe",
            method=request.method,
            path=path,
            model_requested=prepared.model,
        )

    async def run(self) -> web.StreamResponse:
        """Pass request and answer. Whatever happens, the journal gets exactly one ending.

        Raises:
            OSError: when the journal cannot be written; nothing was sent then.
        """
        line = self._line
        line.journal.write(self.record)
        self._alive()
        try:
            try:
                async with line.source.ask(self._ask()) as answer:
                    return await self._pass(answer)
            except ProviderError as broken:
                return await self._broken(broken)
        except (asyncio.CancelledError, ConnectionError):
            # Some clients hang up on the last event, before the endpoint closes the stream: that answer is whole.
            whole = self._meter is not None and self._meter.reading.finished and not self._meter.reading.failed
            self._note(state="done" if whole else "aborted")
            raise
        except BaseException:
            self._note(state="broken", error_type="gateway_error", error_message="the gateway failed")
            raise
        finally:
            line.open.pop(self.record.id, None)
            line.on_activity()
            line.journal.write(self._ended())

    def _ask(self) -> Ask:
        line = self._line
        headers = forwarded(self._request.headers.items(), line.credential_header, line.credential)
        return Ask(self._request.method, self._target, headers, self._prepared.body)

    async def _pass(self, answer: Answer) -> web.StreamResponse:
        good = 200 <= answer.status < 300
        self._note(status=answer.status, retry_after=None if good else retry_after(answer.headers, datetime.now(UTC)))
        stream = good and self._metered and _is_stream(answer, self._prepared.stream)
        strip = stream and self._prepared.strip
        self._meter = meter = Meter(self._line.wire, stream=stream, strip=strip, scrub=self._line.scrub)
        response = await self._respond(answer)
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
            raise ProviderError("the answer broke off before its end", reason="network")
        self._note(state="broken" if good and meter.reading.failed else "done")
        await response.write_eof()
        return response

    async def _respond(self, answer: Answer) -> web.StreamResponse:
        from aiohttp import web

        self._response = response = web.StreamResponse(status=answer.status)
        scrub = self._line.scrub
        for name, value in returned(answer.headers, decoded=answer.decoded):
            response.headers.add(name, scrub.text(value) if scrub is not None else value)
        await response.prepare(self._request)
        return response

    async def _broken(self, broken: ProviderError) -> web.StreamResponse:
        """There is no whole answer: say so in the client's dialect, or by breaking off where no dialect can."""
        from aiohttp import web

        wire, response = self._line.wire, self._response
        kind = "connection_failed" if response is None else "connection_lost"
        self._note(state="broken", error_type=kind, error_message=broken.what)
        message = f"inspan gateway: {broken.what}"
        if response is None:
            return web.Response(status=502, body=wire.error_body(502, message), content_type="application/json")
        if self._meter is not None and self._meter.stream:
            await response.write(wire.error_event(message))
            await response.write_eof()
        elif self._request.transport is not None:
            self._request.transport.abort()
        return response

    def _alive(self) -> None:
        if self._metered:
            self._line.open[self.record.id] = time.monotonic()
            self._line.on_activity()

    def _note(self, **changes: Any) -> None:
        self.record = msgspec.structs.replace(self.record, **changes)

    def _ended(self) -> WireRecord:
        """The record with all the meter read. An error in the answer stands over what we found about the connection."""
        record = msgspec.structs.replace(self.record, ended=timestamp())
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


def _is_stream(answer: Answer, asked: bool) -> bool:
    kind = next((v for k, v in answer.headers if k.lower() == "content-type"), "").lower()
    encoded = any(k.lower() == "content-encoding" and v.lower() != "identity" for k, v in answer.headers)
    if encoded and not answer.decoded:
        return False
    return kind.startswith("text/event-stream") or (asked and not kind.startswith("application/json"))
