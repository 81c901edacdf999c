"""The client of servers that answer piece by piece, such as the one of the assistant's model."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import NamedTuple

import httpcore2

from mainstay.infrastructure.address_guard import AddressGuard, Resolve, resolve
from mainstay.infrastructure.guarded_connection import (
    GuardedConnection,
    GuardedConnector,
    NoResponse,
    translate_errors,
)

_USER_AGENT = "Mainstay-Assistant/1"


class StreamLimits(NamedTuple):
    """How long a server may be silent, how long its response may take in all, and how many bytes it may send."""

    silence_seconds: float = 120.0
    total_seconds: float = 300.0
    max_bytes: int = 16 * 1024 * 1024


class StreamingClient:
    """Posts requests whose responses are read while they arrive: `async with client.post(…) as response`.

    Each request has a connection of its own. It is closed at once when the block ends or is cancelled, because that is
    how the other side learns to stop. It uses no proxies from the environment, no redirects and no cookies.
    """

    def __init__(
        self, limits: StreamLimits | None = None, *, tls: ssl.SSLContext | None = None, resolve: Resolve = resolve
    ) -> None:
        self._limits = limits or StreamLimits()
        self._connectors = {
            allows_private: GuardedConnector(
                AddressGuard(allow_private=allows_private, resolve=resolve), _USER_AGENT, tls
            )
            for allows_private in (False, True)
        }

    @asynccontextmanager
    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, allows_private: bool
    ) -> AsyncIterator["StreamedResponse"]:
        """Post, and yield the response as soon as its headers are there; raise NoResponse if that fails.

        Only if `allows_private`, the address may be in a private network or without TLS.
        """
        connector = self._connectors[allows_private]
        request = connector.build_request(url, headers, body)
        clock = _ResponseClock(self._limits)
        async with clock.limit_wait():
            opened = await connector.open_connection(request.url.origin, self._limits.max_bytes)
        try:
            async with clock.limit_wait():
                with translate_errors(opened.stream):
                    response = await opened.connection.handle_async_request(request)
            yield StreamedResponse(response, opened, clock)
        finally:
            opened.stream.close()


class _ResponseClock:
    """Ends each waiting for a response when its server was silent for too long, or when it has taken too long."""

    def __init__(self, limits: StreamLimits) -> None:
        self._silence = limits.silence_seconds
        self._loop = asyncio.get_running_loop()
        self._ends_at = self._loop.time() + limits.total_seconds

    @asynccontextmanager
    async def limit_wait(self) -> AsyncIterator[None]:
        """Raise NoResponse if the block takes too long."""
        try:
            async with asyncio.timeout_at(min(self._loop.time() + self._silence, self._ends_at)):
                yield
        except TimeoutError as expired:
            is_over = self._loop.time() >= self._ends_at
            raise NoResponse("took too long" if is_over else "no answer in time") from expired


class StreamedResponse:
    """A response whose body is still arriving."""

    def __init__(self, response: httpcore2.Response, opened: GuardedConnection, clock: _ResponseClock) -> None:
        self.status = response.status
        # By their names in lower case.
        self.headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        self._response = response
        self._opened = opened
        self._clock = clock

    async def iterate_body(self) -> AsyncGenerator[bytes, None]:
        """Yield the body in pieces as they arrive; raise NoResponse if it does not arrive as a whole."""
        async with aclosing(self._response.aiter_stream()) as pieces:
            while True:
                async with self._clock.limit_wait():
                    with translate_errors(self._opened.stream):
                        piece = await anext(pieces, None)
                if piece is None:
                    return
                yield piece

    async def read_beginning(self, max_bytes: int) -> bytes:
        """Return the body, or its beginning if it is longer or breaks off."""
        body = bytearray()
        try:
            async with aclosing(self.iterate_body()) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) >= max_bytes:
                        break
        except NoResponse:
            return bytes(body[:max_bytes])
        return bytes(body[:max_bytes])
