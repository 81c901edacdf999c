"""The client of webhooks and of documents about apps: it calls addresses that others named and that are not trusted."""

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import httpcore2

from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.guarded_connection import (
    GuardedConnection,
    GuardedConnector,
    NoResponse,
    translate_errors,
)
from mainstay.infrastructure.http_stream import TooMuchData

DEADLINE_SECONDS = 15.0
MAX_ANSWER_BYTES = 16_384
# The size of a response with all its headers, as it arrives.
_WIRE_BYTES = 2 * MAX_ANSWER_BYTES
# Connections are reused for less than the five seconds after which many servers close them.
_KEPT_SECONDS = 4.0
_MAX_KEPT = 64


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """The other side's response; a redirect is a response like any other."""

    status: int
    # Its beginning, if it is longer than the limit.
    body: bytes
    retry_after: str | None
    # By their names in lower case.
    headers: Mapping[str, str] = field(default_factory=dict, compare=False)


class WebhookClient:
    """Sends requests, and reuses connections: `async with WebhookClient(guard) as client`, then `client.post(…)`.

    It uses no redirects and no cookies.
    """

    def __init__(
        self,
        guard: AddressGuard,
        *,
        tls: ssl.SSLContext | None = None,
        deadline: float = DEADLINE_SECONDS,
        user_agent: str = "Mainstay-Webhooks/1",
    ) -> None:
        self._connector = GuardedConnector(guard, user_agent, tls)
        self._deadline = deadline
        self._kept: list[GuardedConnection] = []  # the one that was idle longest comes first

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> WebhookResponse:
        """Post, and read the response up to its limit, all within the deadline; raise NoResponse if that fails."""
        return await self._send_in_time(self._connector.build_request(url, headers, body))

    async def get(self, url: str, accept: str) -> WebhookResponse:
        """Get, with the same limits; `accept` is the kind of content. The connection is not reused."""
        headers = {"accept": accept, "connection": "close"}
        return await self._send_in_time(self._connector.build_request(url, headers, None))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        while self._kept:
            self._kept.pop().stream.close()

    async def _send_in_time(self, request: httpcore2.Request) -> WebhookResponse:
        try:
            async with asyncio.timeout(self._deadline):
                return await self._send_over_any(request)
        except TimeoutError as expired:
            raise NoResponse("no answer in time") from expired

    async def _send_over_any(self, request: httpcore2.Request) -> WebhookResponse:
        kept = self._take_kept(request.url.origin)
        if kept is not None:
            # The receiver may have just closed it; then a new one is tried.
            with suppress(NoResponse):
                return await self._send_request(kept, request)
        opened = await self._connector.open_connection(request.url.origin, _WIRE_BYTES, _KEPT_SECONDS)
        return await self._send_request(opened, request)

    async def _send_request(self, opened: GuardedConnection, request: httpcore2.Request) -> WebhookResponse:
        try:
            with translate_errors(opened.stream):
                response = await opened.connection.handle_async_request(request)
                headers = {name.decode().lower(): value.decode("latin-1") for name, value in response.headers}
                body = await _read_body(response)
                return WebhookResponse(response.status, body, headers.get("retry-after"), headers)
        finally:
            self._put_back(opened)

    def _take_kept(self, origin: httpcore2.Origin) -> GuardedConnection | None:
        for opened in self._kept[::-1]:
            if opened.connection.can_handle_request(origin):
                self._kept.remove(opened)
                if not opened.connection.has_expired():
                    return opened
                opened.stream.close()
        return None

    def _put_back(self, opened: GuardedConnection) -> None:
        if opened.connection.is_idle():
            self._kept.append(opened)
        else:
            opened.stream.close()
        while self._kept and (len(self._kept) > _MAX_KEPT or self._kept[0].connection.has_expired()):
            self._kept.pop(0).stream.close()


async def _read_body(response: httpcore2.Response) -> bytes:
    body = bytearray()
    with suppress(TooMuchData):
        async with aclosing(response.aiter_stream()) as parts:
            async for part in parts:
                body += part
                if len(body) >= MAX_ANSWER_BYTES:
                    break
    await response.aclose()
    return bytes(body[:MAX_ANSWER_BYTES])
