"""The one endpoint a gateway may talk to."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, NamedTuple, Protocol

from inspan.errors import ProviderError
from inspan.gateway.headers import Headers


class Ask(NamedTuple):
    """One request. ``target`` is path and query, beginning with ``/v1/``."""

    method: str
    target: str
    headers: Headers
    body: bytes


class Answer(NamedTuple):
    """One answer.

    Attributes:
        chunks: the body as it comes, with any content encoding we know taken off. Raises ``ProviderError`` (reason
            ``network``) when the connection breaks.
        decoded: whether a content encoding was taken off.
    """

    status: int
    headers: Headers
    chunks: AsyncIterator[bytes]
    decoded: bool = False


class Source(Protocol):
    """Who answers: a provider's endpoint, or the rehearsal."""

    def ask(self, ask: Ask) -> AbstractAsyncContextManager[Answer]:
        """Ask. Leaving the context aborts what is still under way.

        Raises:
            ProviderError: (``network``) when there is no answer.
        """

    async def close(self) -> None:
        """Let go of every connection."""


class HttpSource:
    """A provider's endpoint over HTTP. Redirects are never followed and the environment's proxies never used."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url.rstrip("/").removesuffix("/v1")
        self._session: Any = None

    def _open(self) -> Any:
        import aiohttp

        if self._session is None:
            # Idle connections are dropped before any usual server drops them: a POST that meets a connection the
            # server is just closing would fail for nothing and cannot be repeated safely.
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=4)
            self._session = aiohttp.ClientSession(
                connector=connector,
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=10),
                trust_env=False,
                skip_auto_headers=("user-agent", "accept", "accept-encoding", "content-type"),
                max_line_size=65536,
                max_field_size=65536,
            )
        return self._session

    @asynccontextmanager
    async def ask(self, ask: Ask) -> AsyncIterator[Answer]:
        """Ask the endpoint. See ``Source``."""
        import aiohttp
        from multidict import CIMultiDict
        from yarl import URL

        url = URL(self._base + ask.target, encoded=True)
        try:
            response = await self._open().request(
                ask.method,
                url,
                headers=CIMultiDict(ask.headers),
                data=ask.body if ask.body or ask.method == "POST" else None,
                allow_redirects=False,
            )
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as broken:
            raise _network("the provider could not be reached", broken) from broken
        try:
            headers = [(k, v) for k, v in response.headers.items()]
            encoding = response.headers.get("content-encoding", "identity").strip().lower()
            decoder = _decoder(encoding)
            yield Answer(response.status, headers, _chunks(response, decoder), decoder is not None)
        finally:
            response.close()  # returns a finished connection to the pool, aborts any other

    async def close(self) -> None:
        """Let go of every connection."""
        if self._session is not None:
            await self._session.close()


def _network(what: str, cause: BaseException) -> ProviderError:
    return ProviderError(f"{what} ({type(cause).__name__})", where="gateway", do="try again", reason="network")


def _decoder(encoding: str) -> Any:
    # We ask for identity; what compresses all the same is undone, so that the meter can read it.
    if encoding in ("gzip", "x-gzip"):
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    return zlib.decompressobj() if encoding == "deflate" else None


async def _chunks(response: Any, decoder: Any) -> AsyncIterator[bytes]:
    import aiohttp

    try:
        async for chunk in response.content.iter_any():
            yield decoder.decompress(chunk) if decoder is not None else chunk
        if decoder is not None:
            yield decoder.flush()
            if not decoder.eof:
                raise zlib.error("incomplete")
    except (TimeoutError, aiohttp.ClientError, OSError, zlib.error) as broken:
        raise _network("the connection to the provider broke", broken) from broken
