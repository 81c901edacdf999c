"""The only outgoing web client: it posts to receivers that customers configured and that are not trusted."""

import asyncio
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import TracebackType
from typing import Self

import httpcore2
import httpx2

from mainstay.infrastructure.address_guard import AddressDenied, AddressGuard
from mainstay.infrastructure.http_stream import LimitedStream, TooMuchData

DEADLINE_SECONDS = 15.0
MAX_ANSWER_BYTES = 16_384
# The size of a response with all its headers, as it arrives.
_WIRE_BYTES = 2 * MAX_ANSWER_BYTES
# Connections are reused for less than the five seconds after which many servers close them.
_KEPT_SECONDS = 4.0
_MAX_KEPT = 64
# The first few addresses of a host are tried, each except the last for this long.
_ADDRESSES_TRIED = 4
_ADDRESS_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """The receiver's response; a redirect is a response like any other."""

    status: int
    body: bytes
    retry_after: str | None


class NoResponse(Exception):
    """No response arrived; the kind is a short phrase for the log."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class WebhookClient:
    """Posts requests, and reuses connections: `async with WebhookClient(guard) as client`, then `client.post(…)`.

    It uses no proxies from the environment, no redirects and no cookies. httpcore2 only speaks HTTP, over connections
    that are opened and kept here, to addresses that were checked here.
    """

    def __init__(
        self, guard: AddressGuard, *, tls: ssl.SSLContext | None = None, deadline: float = DEADLINE_SECONDS
    ) -> None:
        self._guard = guard
        self._parse_url = lru_cache(maxsize=1024)(guard.parse_url)  # the same receivers are called repeatedly
        self._given_tls = tls
        self._deadline = deadline
        self._kept: list[_OpenConnection] = []  # the one that was idle longest comes first

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """The trusted certificates: loaded at the first connection, because it takes a large part of a start."""
        tls = self._given_tls or httpx2.create_ssl_context(trust_env=False)
        tls.set_alpn_protocols(["http/1.1"])
        return tls

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> WebhookResponse:
        """Post, and read the response up to its limit, all within the deadline; raise NoResponse if that fails."""
        try:
            request = _build_request(self._parse_url(url), headers, body)
        except AddressDenied as refused:
            raise NoResponse("address refused") from refused
        try:
            async with asyncio.timeout(self._deadline):
                return await self._post_request(request)
        except TimeoutError as expired:
            raise NoResponse("no answer in time") from expired

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        while self._kept:
            self._kept.pop().stream.close()

    async def _post_request(self, request: httpcore2.Request) -> WebhookResponse:
        kept = self._take_kept(request.url.origin)
        if kept is not None:
            # The receiver may have just closed it; then a new one is tried.
            with suppress(NoResponse):
                return await self._send_request(kept, request)
        return await self._send_request(await self._open_connection(request.url.origin), request)

    async def _send_request(self, opened: "_OpenConnection", request: httpcore2.Request) -> WebhookResponse:
        try:
            with _translate_errors(opened.stream):
                response = await opened.connection.handle_async_request(request)
                return WebhookResponse(response.status, await _read_body(response), _find_retry_after(response))
        finally:
            self._put_back(opened)

    async def _open_connection(self, origin: httpcore2.Origin) -> "_OpenConnection":
        host = origin.host.decode()
        try:
            addresses = await asyncio.wrap_future(self._guard.start_lookup(host, origin.port))
        except AddressDenied as refused:
            raise NoResponse("address refused") from refused
        except OSError as error:
            raise NoResponse("name not found") from error
        try:
            connection = await _connect_to_any(addresses, origin.port)
        except OSError as error:
            raise NoResponse("connection refused") from error
        try:
            stream = await LimitedStream.connect(
                connection, _WIRE_BYTES, self._tls if origin.scheme == b"https" else None, host
            )
        except OSError as error:
            raise NoResponse("TLS failed") from error
        return _OpenConnection(httpcore2.AsyncHTTP11Connection(origin, stream, keepalive_expiry=_KEPT_SECONDS), stream)

    def _take_kept(self, origin: httpcore2.Origin) -> "_OpenConnection | None":
        for opened in self._kept[::-1]:
            if opened.connection.can_handle_request(origin):
                self._kept.remove(opened)
                if not opened.connection.has_expired():
                    return opened
                opened.stream.close()
        return None

    def _put_back(self, opened: "_OpenConnection") -> None:
        if opened.connection.is_idle():
            self._kept.append(opened)
        else:
            opened.stream.close()
        while self._kept and (len(self._kept) > _MAX_KEPT or self._kept[0].connection.has_expired()):
            self._kept.pop(0).stream.close()


@dataclass(frozen=True, slots=True)
class _OpenConnection:
    """An open connection and its stream."""

    connection: httpcore2.AsyncHTTP11Connection
    stream: LimitedStream


def _build_request(url: httpx2.URL, headers: Mapping[str, str], body: bytes) -> httpcore2.Request:
    return httpcore2.Request(
        b"POST",
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=[
            (b"host", url.netloc),
            (b"user-agent", b"Mainstay-Webhooks/1"),
            (b"accept-encoding", b"identity"),
            (b"content-length", str(len(body)).encode()),
            *((name.encode(), value.encode()) for name, value in headers.items()),
        ],
        content=body,
    )


async def _connect_to_any(addresses: Sequence[str], port: int) -> socket.socket:
    """Return a connection to the first address that accepts one."""
    *others, last = addresses[:_ADDRESSES_TRIED]
    for address in others:
        with suppress(OSError):  # includes a timeout
            async with asyncio.timeout(_ADDRESS_SECONDS):
                return await _connect(address, port)
    return await _connect(last, port)


async def _connect(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # The protocol is given as TCP, because otherwise asyncio would not disable Nagle's algorithm.
    connection = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        connection.settimeout(0)
        await asyncio.get_running_loop().sock_connect(connection, (address, port))
    except BaseException:
        connection.close()
        raise
    return connection


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


def _find_retry_after(response: httpcore2.Response) -> str | None:
    return next((value.decode("latin-1") for name, value in response.headers if name.lower() == b"retry-after"), None)


@contextmanager
def _translate_errors(stream: LimitedStream) -> Iterator[None]:
    try:
        yield
    except ssl.SSLError as error:
        raise NoResponse("TLS failed") from error
    except OSError as error:
        raise NoResponse("connection broken") from error
    except (httpcore2.RemoteProtocolError, TooMuchData) as error:
        raise NoResponse("connection broken" if stream.received_end else "answer not understood") from error
