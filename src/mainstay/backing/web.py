"""The only way out to the web: posts to receivers that others have named, and are not to be trusted."""

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

from mainstay.backing.guard import Denied, Guard
from mainstay.backing.stream import Stream, TooMuch

DEADLINE_SECONDS = 15.0
ANSWER_BYTES = 16_384
# Of an answer with all its headers, as it comes over the wire.
_WIRE_BYTES = 2 * ANSWER_BYTES
# A connection is kept for a while: shorter than the five seconds after which many servers close theirs.
_KEPT_SECONDS = 4.0
_MOST_KEPT = 64
# Of a host with many addresses the first few are tried, each but the last no longer than this.
_ADDRESSES_TRIED = 4
_ADDRESS_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What the receiver said; a redirect is an answer like any other."""

    status: int
    body: bytes
    retry_after: str | None


class Unanswered(Exception):
    """There was no answer; the kind is a short phrase for the log."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Web:
    """Posts, and keeps connections for the next: `async with Web(guard) as web`, then `web.post(…)`.

    No proxies of the environment, no redirects, no cookies: httpcore2 only speaks HTTP, over connections that are made
    and kept here, to addresses that were checked here.
    """

    def __init__(self, guard: Guard, *, tls: ssl.SSLContext | None = None, deadline: float = DEADLINE_SECONDS) -> None:
        self._guard = guard
        self._read = lru_cache(maxsize=1024)(guard.read)  # the same receivers come again and again
        self._trusted = tls
        self._deadline = deadline
        self._kept: list[_Line] = []  # the one that rests longest comes first

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Whom to trust: read when the first is spoken to, for it takes as long as much else of a start."""
        tls = self._trusted or httpx2.create_ssl_context(trust_env=False)
        tls.set_alpn_protocols(["http/1.1"])
        return tls

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Post, and read the answer up to its bound: all within the deadline, or Unanswered."""
        try:
            request = _request(self._read(url), headers, body)
        except Denied as refused:
            raise Unanswered("address refused") from refused
        try:
            async with asyncio.timeout(self._deadline):
                return await self._post(request)
        except TimeoutError as late:
            raise Unanswered("no answer in time") from late

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        while self._kept:
            self._kept.pop().stream.close()

    async def _post(self, request: httpcore2.Request) -> Reply:
        kept = self._take(request.url.origin)
        if kept is not None:
            # The receiver may have closed it this very moment, and a fresh one would do.
            with suppress(Unanswered):
                return await self._exchange(kept, request)
        return await self._exchange(await self._opened(request.url.origin), request)

    async def _exchange(self, line: "_Line", request: httpcore2.Request) -> Reply:
        try:
            with _in_plain_words(line.stream):
                response = await line.connection.handle_async_request(request)
                return Reply(response.status, await _body(response), _retry_after(response))
        finally:
            self._put_back(line)

    async def _opened(self, origin: httpcore2.Origin) -> "_Line":
        host = origin.host.decode()
        try:
            addresses = await asyncio.wrap_future(self._guard.lookup(host, origin.port))
        except Denied as refused:
            raise Unanswered("address refused") from refused
        except OSError as fault:
            raise Unanswered("name not found") from fault
        try:
            connected = await _connected(addresses, origin.port)
        except OSError as fault:
            raise Unanswered("connection refused") from fault
        try:
            stream = await Stream.over(connected, _WIRE_BYTES, self._tls if origin.scheme == b"https" else None, host)
        except OSError as fault:
            raise Unanswered("TLS failed") from fault
        return _Line(httpcore2.AsyncHTTP11Connection(origin, stream, keepalive_expiry=_KEPT_SECONDS), stream)

    def _take(self, origin: httpcore2.Origin) -> "_Line | None":
        for line in self._kept[::-1]:
            if line.connection.can_handle_request(origin):
                self._kept.remove(line)
                if not line.connection.has_expired():
                    return line
                line.stream.close()
        return None

    def _put_back(self, line: "_Line") -> None:
        if line.connection.is_idle():
            self._kept.append(line)
        else:
            line.stream.close()
        while self._kept and (len(self._kept) > _MOST_KEPT or self._kept[0].connection.has_expired()):
            self._kept.pop(0).stream.close()


@dataclass(frozen=True, slots=True)
class _Line:
    """An open connection, and the stream beneath it."""

    connection: httpcore2.AsyncHTTP11Connection
    stream: Stream


def _request(url: httpx2.URL, headers: Mapping[str, str], body: bytes) -> httpcore2.Request:
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


async def _connected(addresses: Sequence[str], port: int) -> socket.socket:
    """A connection to the first address that takes one."""
    *others, last = addresses[:_ADDRESSES_TRIED]
    for address in others:
        with suppress(OSError):  # also when time runs out
            async with asyncio.timeout(_ADDRESS_SECONDS):
                return await _connected_to(address, port)
    return await _connected_to(last, port)


async def _connected_to(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # Named as TCP, or asyncio would leave small packets waiting for one another.
    connected = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        connected.settimeout(0)
        await asyncio.get_running_loop().sock_connect(connected, (address, port))
    except BaseException:
        connected.close()
        raise
    return connected


async def _body(response: httpcore2.Response) -> bytes:
    body = bytearray()
    with suppress(TooMuch):
        async with aclosing(response.aiter_stream()) as parts:
            async for part in parts:
                body += part
                if len(body) >= ANSWER_BYTES:
                    break
    await response.aclose()
    return bytes(body[:ANSWER_BYTES])


def _retry_after(response: httpcore2.Response) -> str | None:
    return next((value.decode("latin-1") for name, value in response.headers if name.lower() == b"retry-after"), None)


@contextmanager
def _in_plain_words(stream: Stream) -> Iterator[None]:
    try:
        yield
    except ssl.SSLError as fault:
        raise Unanswered("TLS failed") from fault
    except OSError as fault:
        raise Unanswered("connection broken") from fault
    except (httpcore2.RemoteProtocolError, TooMuch) as fault:
        raise Unanswered("connection broken" if stream.heard_end else "answer not understood") from fault
