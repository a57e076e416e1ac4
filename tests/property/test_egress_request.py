"""The request parser takes nothing but ``CONNECT host:port``, whatever it is fed."""

from __future__ import annotations

import asyncio
import socket

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inspan.sandbox.connect import LONGEST, Refusal, parse
from inspan.sandbox.egress import EgressProxy
from inspan.spec.egress import Destination


def test_what_clients_send() -> None:
    wanted = Destination("index.example", 443)
    assert parse(b"CONNECT index.example:443 HTTP/1.1\r\n\r\n") == wanted
    assert parse(b"CONNECT index.example:443 HTTP/1.0\r\n\r\n") == wanted
    assert (
        parse(b"CONNECT Index.EXAMPLE.:443 HTTP/1.1\r\nHost: index.example:443\r\nUser-Agent: pip/1 (\xc3\xbc)\r\n\r\n")
        == wanted
    )
    assert parse(b"CONNECT [::1]:443 HTTP/1.1\r\nHost:\r\n\r\n") == Destination("::1", 443)


@pytest.mark.parametrize("method", ["GET", "POST", "connect", "OPTIONS", "PRI"])
@pytest.mark.parametrize("target", ["http://index.example/", "index.example:443", "/", "*"])
def test_other_methods_are_not_allowed(method: str, target: str) -> None:
    assert parse(f"{method} {target} HTTP/1.1\r\n\r\n".encode()) == Refusal(405, "method")


@pytest.mark.parametrize(
    "head",
    [
        b"", b"\r\n\r\n", b"CONNECT index.example:443 HTTP/1.1\r\n", b"CONNECT index.example:443 HTTP/1.1\n\n",
        b"CONNECT  index.example:443 HTTP/1.1\r\n\r\n", b"CONNECT index.example:443  HTTP/1.1\r\n\r\n", b" CONNECT index.example:443 HTTP/1.1\r\n\r\n",
        b"CONNECT index.example:443 HTTP/2\r\n\r\n", b"CONNECT index.example:443\r\n\r\n", b"CONNECT index.example HTTP/1.1\r\n\r\n",
        b"CONNECT http://index.example:443 HTTP/1.1\r\n\r\n", b"CONNECT a@index.example:443 HTTP/1.1\r\n\r\n",
        b"CONNECT index.example\xff:443 HTTP/1.1\r\n\r\n", b"CONNECT index.example\0:443 HTTP/1.1\r\n\r\n",
        b"CONNECT index.example:443 HTTP/1.1\r\nHost : x\r\n\r\n", b"CONNECT index.example:443 HTTP/1.1\r\n folded: x\r\n\r\n",
        b"CONNECT index.example:443 HTTP/1.1\r\nA: b\nC: d\r\n\r\n", b"CONNECT index.example:443 HTTP/1.1\r\nA: b\rC\r\n\r\n",
        b"CONNECT index.example:443 HTTP/1.1\r\nA: \0\r\n\r\n", b"CONNECT index.example:443 HTTP/1.1\r\nno field\r\n\r\n",
        b"CONNECT index.example:443 HTTP/1.1\r\nA: " + b"x" * LONGEST + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    ],
)  # fmt: skip
def test_what_is_malformed(head: bytes) -> None:
    assert parse(head) == Refusal(400, "malformed")


pieces = st.sampled_from(
    [b"CONNECT", b"GET", b" ", b"index.example", b":443", b":", b"443", b" HTTP/1.1", b"\r\n", b"\n", b"\r", b"Host: a", b"[::1]",
     b"127.1", b"\0", b"\xff", b"%", b"@", b"/", b"..", b"."]
)  # fmt: skip


@given(st.one_of(st.binary(max_size=200), st.lists(pieces, max_size=12).map(b"".join)))
@example(b"CONNECT index.example:443 HTTP/1.1\r\n\r\nCONNECT evil.org:443 HTTP/1.1\r\n\r\n")
def test_anything_else_is_refused_and_nothing_raises(data: bytes) -> None:
    for head in (data, data + b"\r\n\r\n", b"CONNECT " + data + b" HTTP/1.1\r\n\r\n"):
        found = parse(head)
        if isinstance(found, Refusal):
            assert found.status in (400, 405)
            continue
        # What was understood is what stands there, in the only place it can stand.
        line = head.split(b"\r\n")[0]
        assert line.startswith(b"CONNECT ") and line.count(b" ") == 2
        asked = line.split(b" ")[1].decode().lower()
        assert asked.rpartition(":")[2] == str(found.port)
        assert found.address is not None or asked.rpartition(":")[0].removesuffix(".") == found.host


whole = st.sampled_from(
    [
        b"CONNECT a.example:1 HTTP/1.1\r\n\r\n",
        b"CONNECT b.example:1 HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\r\n\r\n",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.one_of(whole, pieces, st.binary(max_size=40)), max_size=6), min_size=1, max_size=4),
    st.booleans(),
)
def test_a_live_proxy_survives_anything_and_connects_to_nothing(streams: list[list[bytes]], ends: bool) -> None:
    """Each connection sends its chunks and goes, or ends its side and listens; then the proxy still answers."""

    async def one(port: int, chunks: list[bytes]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for chunk in chunks:
                writer.write(chunk)
                await writer.drain()
            if ends:
                writer.write_eof()
                answer = await reader.read()
                assert not answer or answer.split(b" ")[1] in (b"400", b"403", b"405", b"431", b"502"), answer
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()

    async def nowhere(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    async def scene() -> None:
        proxy = EgressProxy(("a.example:1",), resolve=nowhere)
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        await proxy.serve(listener)
        try:
            await asyncio.gather(*(one(port, chunks) for chunks in streams))
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"CONNECT b.example:1 HTTP/1.1\r\n\r\n")
            assert b" 403 " in await reader.readline()
            writer.transport.abort()
            record = proxy.record()
            assert record.connections == len(streams) + 1
            assert not any(d.decision == "allowed" for d in record.decisions) and record.sent == record.received == 0
        finally:
            await proxy.close()

    asyncio.run(asyncio.wait_for(scene(), 60))
