"""The egress proxy alone: real sockets on loopback, a resolver handed in, small caps. No confinement, no network."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import ipaddress
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from inspan.outcome.records import EgressRecord
from inspan.sandbox import egress
from inspan.sandbox.egress import Caps, EgressProxy, resolve_outside
from inspan.sandbox.ledger import LISTED

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
PATIENCE = 60.0


def play(scene: Coroutine[Any, Any, None]) -> None:
    """Run one scene; nothing of it may be open afterwards."""
    before = len(os.listdir("/proc/self/fd"))
    asyncio.run(asyncio.wait_for(scene, PATIENCE))
    assert len(os.listdir("/proc/self/fd")) == before


async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send everything back in capitals once the other side has ended."""
    writer.write((await reader.read()).upper())
    writer.close()


@asynccontextmanager
async def served(serve: Serve = shout) -> AsyncIterator[int]:
    """A server to be reached; gives its port."""
    tasks: set[asyncio.Task[None]] = set()

    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(accepted, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Names:
    """A resolver that answers from a list, the last answer for ever."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers, self.asked = list(answers), 0

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@asynccontextmanager
async def proxied(
    *granted: str, private: tuple[str, ...] | None = None, **how: Any
) -> AsyncIterator[tuple[EgressProxy, int]]:
    """A proxy; gives it and its port. Everything granted is private unless told otherwise."""
    proxy = EgressProxy(granted, granted if private is None else private, **how)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    await proxy.serve(listener)
    try:
        yield proxy, port
    finally:
        await proxy.close()
        await proxy.close()
        await asyncio.sleep(0)


async def ask(port: int, head: bytes | str) -> tuple[int, bytes, Streams]:
    """Send a head, or ``CONNECT`` for a target; status and head of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    if isinstance(head, str):
        head = f"CONNECT {head} HTTP/1.1\r\nHost: {head}\r\n\r\n".encode()
    writer.write(head)
    answer = await reader.readuntil(b"\r\n\r\n")
    return int(answer.split()[1]), answer, (reader, writer)


async def status(port: int, head: bytes | str) -> int:
    found, _, (reader, writer) = await ask(port, head)
    writer.transport.abort() if found == 200 else await ended(reader, writer)
    return found


async def ended(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """What still comes until the other side ends."""
    try:
        rest = await reader.read()
    except ConnectionError:
        rest = b""
    writer.transport.abort()
    return rest


def told(record: EgressRecord) -> list[tuple[str, str, str, int]]:
    return [(f"{d.host}:{d.port}", d.decision, d.why, d.count) for d in record.decisions]


async def until(proxy: EgressProxy, why: str) -> None:
    """Wait for a decision."""
    while why not in {d.why for d in proxy.record().decisions}:
        await asyncio.sleep(0.005)


def test_a_tunnel_carries_bytes_both_ways_and_counts_them() -> None:
    async def scene() -> None:
        async with served() as far, proxied(f"a.example:{far}", resolve=Names(["127.0.0.1"])) as (proxy, port):
            code, _, (reader, writer) = await ask(port, f"A.Example.:{far}")
            assert code == 200
            writer.write(b"hello")
            writer.write_eof()
            assert await ended(reader, writer) == b"HELLO"
            (line,) = proxy.record().decisions
            assert (line.host, line.port, line.address) == ("a.example", far, "127.0.0.1")
            assert (line.sent, line.received, proxy.record().sent, proxy.record().received) == (5, 5, 5, 5)

    play(scene())


def test_what_was_sent_before_the_answer_is_not_lost() -> None:
    async def scene() -> None:
        async with served() as far, proxied(f"127.0.0.1:{far}") as (_, port):
            head = f"CONNECT 127.0.0.1:{far} HTTP/1.1\r\n\r\nearly".encode()
            code, _, (reader, writer) = await ask(port, head)
            writer.write_eof()
            assert (code, await ended(reader, writer)) == (200, b"EARLY")

    play(scene())


def test_many_tunnels_at_once_keep_their_bytes_apart() -> None:
    async def mirror(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while block := await reader.read(1 << 16):
            writer.write(block)
            await writer.drain()
        writer.write_eof()
        await reader.read()

    async def one(port: int, far: int, number: int) -> bool:
        code, _, (reader, writer) = await ask(port, f"127.0.0.1:{far}")
        data = hashlib.sha256(b"%d" % number).digest() * (1 << 15)

        async def feed() -> None:
            writer.write(data)
            await writer.drain()
            writer.write_eof()

        feeding = asyncio.ensure_future(feed())
        back = await ended(reader, writer)
        await feeding
        return code == 200 and back == data

    async def scene() -> None:
        async with served(mirror) as far, proxied(f"127.0.0.1:{far}") as (proxy, port):
            assert all(await asyncio.gather(*(one(port, far, n) for n in range(16))))
            assert proxy.record().sent == proxy.record().received == 16 << 20

    play(scene())


def test_either_side_may_end_first_and_still_be_answered() -> None:
    async def speaks_then_listens(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"first")
        writer.write_eof()
        heard.set_result(await reader.read())

    async def scene() -> None:
        nonlocal heard
        heard = asyncio.get_running_loop().create_future()
        async with served(speaks_then_listens) as far, proxied(f"127.0.0.1:{far}") as (_, port):
            _, _, (reader, writer) = await ask(port, f"127.0.0.1:{far}")
            assert await reader.read() == b"first"  # the far side has ended
            writer.write(b"and more")
            writer.write_eof()
            assert await heard == b"and more"
            writer.transport.abort()

    heard: asyncio.Future[bytes]
    play(scene())


def test_a_side_that_breaks_off_takes_the_tunnel_with_it() -> None:
    async def breaks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(1)
        writer.transport.abort()

    async def waits(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            heard.set_result(await reader.read())
        except ConnectionError:
            heard.set_result(b"")

    async def scene() -> None:
        nonlocal heard
        heard = asyncio.get_running_loop().create_future()
        async with (
            served(breaks) as far,
            served(waits) as other,
            proxied(f"127.0.0.1:{far}", f"127.0.0.1:{other}") as (_, port),
        ):
            _, _, (reader, writer) = await ask(port, f"127.0.0.1:{far}")
            writer.write(b"xx")
            assert await ended(reader, writer) == b""
            _, _, (_, writer) = await ask(port, f"127.0.0.1:{other}")
            writer.transport.abort()
            assert await heard == b""

    heard: asyncio.Future[bytes]
    play(scene())


def test_what_is_not_granted_is_refused_before_anything_is_looked_up() -> None:
    async def scene() -> None:
        names = Names(["127.0.0.1"])
        async with proxied("a.example:443", resolve=names) as (proxy, port):
            asked = [
                "b.example:443",
                "a.example:444",
                "a.example.b.example:443",
                "127.0.0.1:443",
                "[::1]:443",
                "b.a.example:443",
            ]
            assert [await status(port, target) for target in asked] == [403] * 6
            assert names.asked == 0
            assert {why for _, _, why, _ in told(proxy.record())} == {"not_granted"}
            code, _, (reader, writer) = await ask(port, "b.example:443")
            assert (code, await ended(reader, writer)) == (403, b"inspan: b.example:443: not_granted\n")
            assert told(proxy.record())[0] == ("b.example:443", "refused", "not_granted", 2)

    play(scene())


def test_a_token_is_wanted_before_anything_else_is_said() -> None:
    async def scene() -> None:
        async with served() as far, proxied(f"127.0.0.1:{far}", token="right") as (proxy, port):
            good = base64.b64encode(b"anybody:right").decode()
            for line, wanted in (
                ("", 407), ("Proxy-Authorization: Basic !!!", 407), ("Proxy-Authorization: Basic " + good[:-4], 407),
                ("Authorization: Basic " + good, 407), ("proxy-authorization:basic " + good, 200),
            ):  # fmt: skip
                head = f"CONNECT 127.0.0.1:{far} HTTP/1.1\r\n{line + chr(13) + chr(10) if line else ''}\r\n".encode()
                code, answer, (_, writer) = await ask(port, head)
                assert (code, b"Proxy-Authenticate: Basic" in answer) == (wanted, wanted == 407), line
                writer.transport.abort()
            assert await status(port, b"GET / HTTP/1.1\r\n\r\n") == 407
            assert {d.why for d in proxy.record().decisions} == {"no_token", "granted"}

    play(scene())


@pytest.mark.parametrize("method", ["GET http://a.example/ HTTP/1.1", "POST / HTTP/1.1", "OPTIONS * HTTP/1.1"])
def test_only_connect_is_served(method: str) -> None:
    async def scene() -> None:
        async with proxied("a.example:80") as (proxy, port):
            code, head, (reader, writer) = await ask(
                port, f"{method}\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhello".encode()
            )
            assert code == 405 and b"\r\nAllow: CONNECT\r\n" in head
            writer.write_eof()
            assert await ended(reader, writer) == b"inspan: only CONNECT host:port is served here\n"
            assert told(proxy.record()) == [("None:None", "refused", "method", 1)]

    play(scene())


@pytest.mark.parametrize(
    "answer",
    [["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["::1"], ["fe80::1%lo"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"],
     ["2002:7f00:1::"], ["1.1.1.1", "127.0.0.1"], ["127.0.0.1", "1.1.1.1"], ["100.64.0.1"], ["0.0.0.0"], ["224.0.0.1"]],
)  # fmt: skip
def test_a_name_that_leads_inwards_is_refused(answer: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        async with served() as far, proxied(f"a.example:{far}", private=(), resolve=Names(answer)) as (proxy, port):
            monkeypatch.setattr(EgressProxy, "_connected", None)  # nothing is even tried
            assert await status(port, f"a.example:{far}") == 403
            (line,) = proxy.record().decisions
            bad = next(a for a in answer if a != "1.1.1.1")
            assert (line.why, line.count, line.address) == ("not_global", 1, str(ipaddress.ip_address(bad)))

    play(scene())


def test_control_the_users_word_lets_a_name_lead_inwards() -> None:
    async def scene() -> None:
        async with (
            served() as far,
            proxied(f"a.example:{far}", resolve=Names(["127.0.0.1"], ["169.254.169.254"])) as (proxy, port),
        ):
            assert await status(port, f"a.example:{far}") == 200
            assert await status(port, f"a.example:{far}") == 403  # credentials of machines: never
            assert [why for _, _, why, _ in told(proxy.record())] == ["granted", "not_global"]

    play(scene())


def test_a_name_that_changes_its_mind_is_asked_once_a_connection() -> None:
    """Rebinding: what is connected to is what was looked at, and there is no second question whose answer would count."""

    async def scene() -> None:
        names = Names(["127.0.0.1"], ["10.0.0.1"])
        async with served() as far, proxied(f"a.example:{far}", resolve=names) as (_, port):
            code, _, (reader, writer) = await ask(port, f"a.example:{far}")
            assert (code, names.asked) == (200, 1)
            writer.write(b"x")
            writer.write_eof()
            assert await ended(reader, writer) == b"X"
            assert names.asked == 1

    play(scene())


def test_this_machine_under_its_public_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen by the connection itself: both of its ends have the same address."""
    monkeypatch.setattr(egress, "first_refused", lambda found, private: None)

    async def scene() -> None:
        heard: list[bytes] = []

        async def listens(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heard.append(await reader.read())

        async with (
            served(listens) as far,
            proxied(f"a.example:{far}", private=(), resolve=Names(["127.0.0.1"])) as (proxy, port),
        ):
            assert await status(port, f"a.example:{far}") == 403
            assert [(d.why, d.address, d.count) for d in proxy.record().decisions] == [("not_global", "127.0.0.1", 1)]
        assert b"".join(heard) == b""

    play(scene())


def test_a_literal_address_needs_the_users_word_although_it_is_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        async with served() as far, proxied(f"127.0.0.1:{far}", private=()) as (_, port):
            assert await status(port, f"127.0.0.1:{far}") == 403
        async with served() as far, proxied(f"127.0.0.1:{far}") as (_, port):
            assert await status(port, f"127.0.0.1:{far}") == 200
        async with proxied("169.254.169.254:80") as (_, port):
            assert await status(port, "169.254.169.254:80") == 403
        monkeypatch.setattr(EgressProxy, "_connected", None)
        async with proxied("1.1.1.1:443", private=()) as (_, port):
            assert await status(port, "1.1.1.1:443") == 403

    play(scene())


def test_what_cannot_be_reached_says_why() -> None:
    async def fails(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    async def hangs(host: str, port: int) -> list[str]:
        await asyncio.sleep(1000)
        return []

    async def scene() -> None:
        with socket.create_server(("127.0.0.1", 0)) as closed:
            free = closed.getsockname()[1]
        cases = [(fails, "unresolved"), (hangs, "unresolved"), (Names([]), "unresolved"), (Names(["nonsense"]), "unresolved"),
                 (Names(["127.0.0.1", "::1"]), "unreachable")]  # fmt: skip
        for resolve, why in cases:
            async with proxied(f"a.example:{free}", resolve=resolve, caps=Caps(resolve=0.05)) as (proxy, port):
                assert await status(port, f"a.example:{free}") == 502
                assert told(proxy.record()) == [(f"a.example:{free}", "failed", why, 1)]

    play(scene())


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    async def scene() -> None:
        async with served() as far, proxied(f"a.example:{far}", resolve=Names(["::1", "127.0.0.1"])) as (proxy, port):
            assert await status(port, f"a.example:{far}") == 200
            assert [d.address for d in proxy.record().decisions] == ["127.0.0.1"]

    play(scene())


def test_a_head_that_never_ends_is_cut() -> None:
    async def scene() -> None:
        async with proxied("a.example:1", caps=Caps(head=0.3)) as (proxy, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            dripping = asyncio.ensure_future(drip(writer))
            answer = await ended(reader, writer)
            dripping.cancel()
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert told(proxy.record()) == [("None:None", "failed", "timeout", 1)]
            assert await status(port, b"CONNECT a.example:1 HTTP/1.1\r\nA: " + b"x" * (1 << 17) + b"\r\n\r\n") == 431
            quiet_reader, quiet = await asyncio.open_connection("127.0.0.1", port)
            quiet.write_eof()  # a connection without a word is counted and is no decision
            assert await ended(quiet_reader, quiet) == b""
            assert told(proxy.record())[1:] == [("None:None", "refused", "malformed", 1)]
            assert proxy.record().connections == 3

    async def drip(writer: asyncio.StreamWriter) -> None:
        for byte in b"CONNECT a.example:1 HTTP/1.1\r\n" + b"A: b\r\n" * 1000:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.01)

    play(scene())


def test_open_connections_are_bounded_and_come_back() -> None:
    async def scene() -> None:
        async with served() as far, proxied(f"127.0.0.1:{far}", caps=Caps(open=2)) as (proxy, port):
            first, second = await ask(port, f"127.0.0.1:{far}"), await ask(port, f"127.0.0.1:{far}")
            assert (first[0], second[0]) == (200, 200)
            assert await status(port, f"127.0.0.1:{far}") == 503
            assert ("None:None", "refused", "too_many", 1) in told(proxy.record())
            for _, _, (_, writer) in (first, second):
                writer.transport.abort()
            while await status(port, f"127.0.0.1:{far}") != 200:
                await asyncio.sleep(0.01)

    play(scene())


def test_a_flood_of_connections_takes_no_more_descriptors_than_it_may() -> None:
    async def scene() -> None:
        async with proxied("a.example:1", caps=Caps(open=4)) as (proxy, port):
            before = len(os.listdir("/proc/self/fd"))
            flood = [await asyncio.open_connection("127.0.0.1", port) for _ in range(60)]
            while proxy.record().connections < 60:
                await asyncio.sleep(0.005)
            await asyncio.sleep(0)
            assert len(os.listdir("/proc/self/fd")) - before <= 60 + 2 * 4
            assert ("None:None", "refused", "too_many", 56) in told(proxy.record())
            for _, writer in flood:
                writer.transport.abort()
            while await status(port, "b.example:1") != 403:  # and they come back
                await asyncio.sleep(0.01)

    play(scene())


@pytest.mark.parametrize("outwards", [True, False])
def test_bytes_are_bounded(outwards: bool) -> None:
    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"x" * 4096)
            await writer.drain()
            if outwards:
                await reader.read()

    async def scene() -> None:
        caps = Caps(sent=100_000) if outwards else Caps(received=100_000)
        async with served(flood) as far, proxied(f"127.0.0.1:{far}", caps=caps) as (proxy, port):
            _, _, (reader, writer) = await ask(port, f"127.0.0.1:{far}")
            if outwards:
                writer.write(b"x" * 400_000)
            await ended(reader, writer)
            record = proxy.record()
            assert told(record) == [
                (f"127.0.0.1:{far}", "allowed", "granted", 1),
                (f"127.0.0.1:{far}", "refused", "byte_limit", 1),
            ]
            assert 100_000 <= (record.sent if outwards else record.received) < 100_000 + (1 << 17)
            assert await status(port, f"127.0.0.1:{far}") == 403  # and no new one is opened
            assert told(proxy.record())[1][3] == 2

    play(scene())


def test_a_tunnel_on_which_nothing_passes_is_closed() -> None:
    async def scene() -> None:
        over = asyncio.Event()

        async def shouts(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await shout(reader, writer)
            finally:
                over.set()

        async with served(shouts) as far, proxied(f"127.0.0.1:{far}", caps=Caps(idle=2.0)) as (proxy, port):
            (_, _, silent), (_, _, (reader, writer)) = (
                await ask(port, f"127.0.0.1:{far}"),
                await ask(port, f"127.0.0.1:{far}"),
            )
            closed = asyncio.ensure_future(ended(*silent))
            drops = 0
            while not closed.done():  # control: one that drips outlives it
                writer.write(b"x")
                drops += 1
                await asyncio.sleep(0.1)
            await over.wait()  # at its far end as well
            writer.write_eof()
            assert (await closed, await ended(reader, writer)) == (b"", b"X" * drops)
            assert told(proxy.record())[1] == (f"127.0.0.1:{far}", "failed", "idle", 1)

    play(scene())


def test_one_that_does_not_read_is_closed_too() -> None:
    async def scene() -> None:
        cut = asyncio.Event()

        async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while True:
                    writer.write(b"x" * 65536)
                    await writer.drain()
            except ConnectionError:
                cut.set()

        async with served(flood) as far, proxied(f"127.0.0.1:{far}", caps=Caps(idle=0.3)) as (proxy, port):
            _, _, (_, writer) = await ask(port, f"127.0.0.1:{far}")
            await until(proxy, "idle")
            await cut.wait()  # at its far end as well
            assert proxy.record().received < 64 << 20, "what nobody reads is not taken in"
            writer.transport.abort()

    play(scene())


def test_a_flood_of_strangers_is_counted_and_hides_nothing() -> None:
    async def scene() -> None:
        async with served() as far, proxied(f"127.0.0.1:{far}", "a.example:1", private=(f"127.0.0.1:{far}",),
                                             resolve=Names(["10.0.0.1"])) as (proxy, port):  # fmt: skip
            for number in range(LISTED + 20):
                assert await status(port, f"h{number}.example:443") == 403
            await status(port, "h0.example:443")
            await status(port, f"127.0.0.1:{far}")
            await status(port, "a.example:1")
            record = proxy.record()
            assert (record.more, record.connections) == (20, LISTED + 23)
            assert len(record.decisions) == LISTED + 2
            assert told(record)[-2:] == [
                (f"127.0.0.1:{far}", "allowed", "granted", 1),
                ("a.example:1", "refused", "not_global", 1),
            ]
            assert told(record)[0] == ("h0.example:443", "refused", "not_granted", 2)

    play(scene())


def test_closing_cuts_what_is_open_and_takes_no_more() -> None:
    async def scene() -> None:
        async with served() as far, proxied(f"127.0.0.1:{far}") as (proxy, port):
            _, _, (reader, writer) = await ask(port, f"127.0.0.1:{far}")
            silent_reader, silent = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.wait_for(proxy.close(), 10)
            assert await ended(reader, writer) == b""
            assert await ended(silent_reader, silent) == b""
            with pytest.raises(OSError):
                await asyncio.open_connection("127.0.0.1", port)

    play(scene())


def test_names_are_looked_up_as_this_machine_does() -> None:
    assert set(asyncio.run(resolve_outside("localhost", 80))) <= {"127.0.0.1", "::1"}
    with pytest.raises(OSError):
        asyncio.run(resolve_outside("no-such-host.invalid", 80))
    with pytest.raises(OSError):
        asyncio.run(resolve_outside("a" * 70 + ".invalid", 80))
