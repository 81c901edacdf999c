"""Connections to servers that others named and that are not trusted: to checked addresses, with limits.

No proxies from the environment are used. httpcore2 only speaks HTTP, over connections that are opened here.
"""

import asyncio
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache

import httpcore2
import httpx2

from mainstay.infrastructure.address_guard import AddressDenied, AddressGuard
from mainstay.infrastructure.http_stream import LimitedStream, TooMuchData

# The first few addresses of a host are tried, each except the last for this long.
_ADDRESSES_TRIED = 4
_ADDRESS_SECONDS = 3.0


class NoResponse(Exception):
    """No response arrived; the kind is a short phrase for the log."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class GuardedConnection:
    """An open connection and its stream."""

    connection: httpcore2.AsyncHTTP11Connection
    stream: LimitedStream


class GuardedConnector:
    """Opens connections to addresses that the guard allows."""

    def __init__(self, guard: AddressGuard, user_agent: str, tls: ssl.SSLContext | None = None) -> None:
        self._guard = guard
        self._user_agent = user_agent.encode()
        self._parse_url = lru_cache(maxsize=1024)(guard.parse_url)  # the same servers are called repeatedly
        self._given_tls = tls

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """The trusted certificates: loaded at the first connection, because it takes a large part of a start."""
        tls = self._given_tls or httpx2.create_ssl_context(trust_env=False)
        tls.set_alpn_protocols(["http/1.1"])
        return tls

    def build_request(self, url: str, headers: Mapping[str, str], body: bytes | None) -> httpcore2.Request:
        """Return a POST, or a GET without a body; raise NoResponse if the guard refuses the form of the address."""
        try:
            parsed = self._parse_url(url)
        except AddressDenied as error:
            raise NoResponse("address refused") from error
        return httpcore2.Request(
            b"GET" if body is None else b"POST",
            httpcore2.URL(scheme=parsed.raw_scheme, host=parsed.raw_host, port=parsed.port, target=parsed.raw_path),
            headers=[
                (b"host", parsed.netloc),
                (b"user-agent", self._user_agent),
                (b"accept-encoding", b"identity"),
                *(() if body is None else ((b"content-length", str(len(body)).encode()),)),
                *((name.encode(), value.encode()) for name, value in headers.items()),
            ],
            content=body or b"",
        )

    async def open_connection(
        self, origin: httpcore2.Origin, limit: int, keepalive_seconds: float | None = None
    ) -> GuardedConnection:
        """Return a new connection that accepts so many bytes after each request, or raise NoResponse."""
        host = origin.host.decode()
        try:
            addresses = await asyncio.wrap_future(self._guard.start_lookup(host, origin.port))
        except AddressDenied as error:
            raise NoResponse("address refused") from error
        except OSError as error:
            raise NoResponse("name not found") from error
        try:
            connection = await _connect_to_any(addresses, origin.port)
        except OSError as error:
            raise NoResponse("connection refused") from error
        tls = self._tls if origin.scheme == b"https" else None
        try:
            stream = await LimitedStream.connect(connection, limit, tls, host)
        except OSError as error:
            raise NoResponse("TLS failed") from error
        return GuardedConnection(
            httpcore2.AsyncHTTP11Connection(origin, stream, keepalive_expiry=keepalive_seconds), stream
        )


@contextmanager
def translate_errors(stream: LimitedStream) -> Iterator[None]:
    """Raise NoResponse instead of any error of a connection."""
    try:
        yield
    except ssl.SSLError as error:
        raise NoResponse("TLS failed") from error
    except OSError as error:
        raise NoResponse("connection broken") from error
    except (httpcore2.RemoteProtocolError, TooMuchData) as error:
        raise NoResponse("connection broken" if stream.received_end else "answer not understood") from error


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
