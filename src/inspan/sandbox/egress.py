"""The egress proxy: tunnels from inside a sandbox to the destinations its user granted, and to nothing else.

It serves ``CONNECT`` on a listening socket that the launcher made inside, from outside: names are resolved here, every
address of an answer is looked at, and the connection goes to an address that was looked at, never to the name again.
Every decision is counted. What passes through a tunnel is not read.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import threading
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final, NamedTuple

from inspan.outcome.records import EgressRecord
from inspan.sandbox import connect
from inspan.sandbox.addresses import first_refused
from inspan.sandbox.ledger import Ledger, Line
from inspan.spec.egress import Address, Destination

BLOCK: Final = 64 << 10
_LINGER: Final = 2.0
_MOST_ADDRESSES: Final = 16

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""From a name and a port to addresses; OSError when there are none."""


class Caps(NamedTuple):
    """Bounds of one proxy: connections open at once, seconds, bytes over its life."""

    open: int = 128
    head: float = 20.0
    resolve: float = 20.0
    connect: float = 15.0
    idle: float = 300.0
    sent: int = 4 << 30
    received: int = 32 << 30


class EgressProxy:
    """Serves one process tree.

    Args:
        granted: destinations in normal form (``spec.egress``).
        private: those that may lead to an address that is not global.
        caps: bounds.
        token: what a client must present; None where nobody but the tree can reach the listener.
        resolve: turns names into addresses, outside.
    """

    def __init__(
        self,
        granted: tuple[str, ...],
        private: tuple[str, ...] = (),
        *,
        caps: Caps = Caps(),  # noqa: B008  # immutable
        token: str | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self._ledger = Ledger(granted, private)
        self._caps, self._token, self._resolve = caps, token, resolve or resolve_outside
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def serve(self, listener: socket.socket) -> None:
        """Start serving and return. The listener is the proxy's from now on."""
        self._server = await asyncio.start_server(self._accepted, sock=listener, limit=connect.LONGEST)

    async def close(self) -> None:
        """Cut what is open and stop serving. Idempotent."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def record(self) -> EgressRecord:
        """What was decided so far."""
        return self._ledger.record()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self._ledger.connections += 1
        try:
            await self._answer(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # either side went away, or the proxy is being closed; a cancelled task has nothing left to do
        finally:
            self._open.discard(task)
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) > self._caps.open:
            self._ledger.note(None, "refused", "too_many")
            if len(self._open) > 2 * self._caps.open:
                return None  # not even an answer: it would hold a descriptor while it waits to be read
            return await _refuse(reader, writer, 503, "too many connections are open")
        asked = await self._asked(reader)
        if asked is None:
            return None
        if isinstance(asked, connect.Refusal):
            self._ledger.note(None, _decision(asked.status), asked.why)
            return await _refuse(reader, writer, asked.status, "only CONNECT host:port is served here")
        refusal = self._policy(asked)
        if refusal is not None:
            return await self._refused(reader, writer, asked, refusal)
        found = await self._addresses(asked)
        if isinstance(found, connect.Refusal):
            return await self._refused(reader, writer, asked, found)
        far = await self._connected(asked, found)
        if isinstance(far, connect.Refusal):
            return await self._refused(reader, writer, asked, far)
        line = self._ledger.note(asked, "allowed", "granted", str(far.getpeername()[0]))
        far_reader, far_writer = await asyncio.open_connection(sock=far, limit=BLOCK)
        try:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await self._tunnel(asked, line, (reader, writer), (far_reader, far_writer))
        finally:
            far_writer.transport.abort()
        return None

    async def _asked(self, reader: asyncio.StreamReader) -> Destination | connect.Refusal | None:
        """What the other side wants; None when it went away without a word."""
        try:
            async with asyncio.timeout(self._caps.head):
                head = await reader.readuntil(connect.END)
        except TimeoutError:
            return connect.Refusal(408, "timeout")
        except asyncio.LimitOverrunError:
            return connect.Refusal(431, "malformed")
        except asyncio.IncompleteReadError as ended:
            return connect.Refusal(400, "malformed") if ended.partial else None
        if self._token is not None and not connect.shows(head, self._token):
            return connect.Refusal(407, "no_token")
        return connect.parse(head)

    def _policy(self, asked: Destination) -> connect.Refusal | None:
        if str(asked) not in self._ledger.granted:
            return connect.Refusal(403, "not_granted")
        if asked.address is not None and str(asked) not in self._ledger.private:
            return connect.Refusal(403, "not_global")
        return connect.Refusal(403, "byte_limit") if self._spent() else None

    def _spent(self) -> bool:
        return self._ledger.sent >= self._caps.sent or self._ledger.received >= self._caps.received

    async def _addresses(self, asked: Destination) -> list[Address] | connect.Refusal:
        """Where the name leads, every answer looked at."""
        try:
            async with asyncio.timeout(self._caps.resolve):
                texts = [asked.host] if asked.address else await self._resolve(asked.host, asked.port)
            found = [ipaddress.ip_address(text) for text in texts]
        except (OSError, ValueError):  # TimeoutError is an OSError
            return connect.Refusal(502, "unresolved")
        if not found:
            return connect.Refusal(502, "unresolved")
        bad = first_refused(found, private=str(asked) in self._ledger.private)
        if bad is not None:
            self._ledger.note(asked, "refused", "not_global", str(bad), count=0)
            return connect.Refusal(403, "not_global")
        return found[:_MOST_ADDRESSES]

    async def _connected(self, asked: Destination, addresses: list[Address]) -> socket.socket | connect.Refusal:
        """A connection to the first address that takes one."""
        loop = asyncio.get_running_loop()
        for address in addresses:
            far = socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
            far.setblocking(False)
            try:
                async with asyncio.timeout(self._caps.connect):
                    await loop.sock_connect(far, (str(address), asked.port))
            except OSError:
                far.close()
                continue
            except BaseException:
                far.close()
                raise
            if far.getsockname()[0] == far.getpeername()[0] and str(asked) not in self._ledger.private:
                # Under its public address this very machine may serve what it would not serve to the world.
                self._ledger.note(asked, "refused", "not_global", str(address), count=0)
                far.close()
                return connect.Refusal(403, "not_global")
            return far
        return connect.Refusal(502, "unreachable")

    async def _refused(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: Destination, refusal: connect.Refusal
    ) -> None:
        self._ledger.note(asked, _decision(refusal.status), refusal.why)
        await _refuse(reader, writer, refusal.status, f"{asked}: {refusal.why}")

    async def _tunnel(
        self,
        asked: Destination,
        line: Line,
        near: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        far: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Carry bytes both ways until both sides have ended, one broke off, nothing passed for long or a cap is met."""
        loop = asyncio.get_running_loop()
        last = loop.time()

        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, outwards: bool) -> bool:
            nonlocal last
            while block := await reader.read(BLOCK):
                last = loop.time()
                self._ledger.spend(line, len(block), outwards)
                if self._spent():
                    return False
                writer.write(block)
                await writer.drain()
                last = loop.time()
            writer.write_eof()  # a side that has ended may still be answered
            return True

        running = {
            asyncio.ensure_future(carry(near[0], far[1], True)),
            asyncio.ensure_future(carry(far[0], near[1], False)),
        }
        waiting = set(running)
        try:
            while waiting:
                left = last + self._caps.idle - loop.time()
                if left <= 0:
                    self._ledger.note(asked, "failed", "idle")
                    return
                done, waiting = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                for one in done:
                    if not one.result():
                        self._ledger.note(asked, "refused", "byte_limit")
                        return
        finally:
            for one in running:
                one.cancel()
            await asyncio.gather(*running, return_exceptions=True)


def _decision(status: int) -> str:
    return "failed" if status in (408, 502) else "refused"


async def _refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, status: int, text: str) -> None:
    """Answer, and listen a little longer: closing on unread bytes would take the answer back."""
    body = f"inspan: {text}\n".encode()
    more = {405: "Allow: CONNECT\r\n", 407: 'Proxy-Authenticate: Basic realm="inspan"\r\n'}.get(status, "")
    writer.write(
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{more}Content-Type: text/plain\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
        + body
    )
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LINGER):
            await writer.drain()
            writer.write_eof()
            while await reader.read(BLOCK):
                pass


async def resolve_outside(host: str, port: int) -> list[str]:
    """The addresses of a name as this machine resolves it. In a thread that nobody waits for: a resolver can hang."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def settle(found: list[str] | OSError) -> None:
        if answer.done():
            return
        if isinstance(found, OSError):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    def look() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found: list[str] | OSError = list(dict.fromkeys(str(row[4][0]) for row in rows))
        except OSError as error:
            found = error
        except UnicodeError as error:
            found = OSError(str(error))
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, found)

    threading.Thread(target=look, name="resolve", daemon=True).start()
    return await answer
