"""What every HTTP door shares: the front, request ids, body limit and deadline, the headers of every answer."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import Protocol, cast, overload

import orjson
from granian.rsgi import HTTPProtocol, ProtocolClosed, Scope

from mainstay.backing.database import Unreachable
from mainstay.backing.exposition import Meters
from mainstay.backing.log import log, log_error
from mainstay.backing.processes import hear_asking
from mainstay.doors.addresses import Addresses
from mainstay.doors.packing import is_worth, packed, takes_gzip
from mainstay.doors.patience import Patience

Headers = Sequence[tuple[str, str]]

BODY_SECONDS = 10.0
# What is read away of a body that is refused: as much as the widest door takes, and for so long.
READ_AWAY_BYTES = 1_048_576
READ_AWAY_SECONDS = 1.0
# The same for a large body, such as a form with a photograph for which a smaller picture was asked.
LARGE_BODY_SECONDS = 60.0
LARGE_READ_AWAY_BYTES = 76_000_000
LARGE_READ_AWAY_SECONDS = 10.0
# A file for one answer stays so long after it: the server opens it by itself, soon, and does not tell when.
PASSING_SECONDS = 10.0
_ENCODED_BODY = "Send the body as it is, without the header Content-Encoding: compressed bodies are not read."
OUR_FAULT = "Something went wrong on our side; it is safe to try again."


@dataclass(frozen=True, slots=True)
class FromFile:
    """A body that the server reads from a file, piece by piece, as fast as it is taken."""

    path: Path
    size: int
    # Whether the file is there for this answer only.
    passing: bool = False

    def __len__(self) -> int:
        return self.size


@dataclass(slots=True)
class Response:
    """What a door answers. `route` says what was asked for, for the meters."""

    status: int
    body: bytes | FromFile
    headers: Headers = ()
    route: int = 0
    content_type: str = "application/json"
    # Whether and for how long it may be kept; nearly nothing may.
    cache: str = "no-store"
    # Whether the log need not tell of it: answered as it should be, with nothing changed.
    quiet: bool = False
    # The body as gzip, where it was packed before.
    packed: bytes | None = None


class ServerHeaders(Protocol):
    """The headers as the server hands them over; its own stubs do not know of `get_all`."""

    def get_all(self, name: str, /) -> list[str]:
        """Every line of this name."""

    def __contains__(self, name: str, /) -> bool:
        """Whether there is a line of this name."""


class RequestHeaders:
    """The headers of a request, by lower-case name; the lines of one that was sent several times make one list."""

    __slots__ = ("_headers",)

    def __init__(self, headers: ServerHeaders) -> None:
        self._headers = headers

    @overload
    def get(self, name: str) -> str | None: ...
    @overload
    def get(self, name: str, default: str) -> str: ...
    def get(self, name: str, default: str | None = None) -> str | None:
        """The value, or the default where there is none."""
        if lines := self._headers.get_all(name):
            return lines[0] if len(lines) == 1 else ", ".join(lines)
        # The server hides values that are not ASCII: they are there, and equal to nothing.
        return _NOT_ASCII if name in self._headers else default


_NOT_ASCII = "\0"


class Request:
    """One request as a door sees it."""

    __slots__ = (
        "_is_large",
        "_parts",
        "_patience",
        "_protocol",
        "_scope",
        "_unread",
        "headers",
        "id",
        "method",
        "path",
        "query",
    )

    def __init__(self, scope: Scope, protocol: HTTPProtocol, patience: Patience, identity: str) -> None:
        self._protocol = protocol
        self._patience = patience
        # What comes of the body piece by piece, of which there may be only one, and whether there may be more of it.
        self._parts: AsyncIterator[bytes] | None = None
        self._unread = True
        self._is_large = False
        self.id = identity
        self.method = scope.method
        self.path = scope.path
        self.query = scope.query_string.encode()
        self.headers = RequestHeaders(cast("ServerHeaders", scope.headers))
        self._scope = scope

    @property
    def peer(self) -> str:
        """Who is at the other end of the connection: the client, or a proxy."""
        return self._scope.client

    @property
    def takes_gzip(self) -> bool:
        """Whether the client takes an answer in fewer bytes."""
        return takes_gzip(self.headers.get("accept-encoding", ""))

    async def body(self, limit: int) -> bytes:
        """The whole body, counted while it arrives, which it must within the deadline."""
        self._refuse_encoded()
        self._unread = False
        announced = self.headers.get("content-length")
        length = None if announced is None else int(announced)
        # One that is known to be small need not be counted piece by piece.
        coming = self._protocol() if length is not None and length <= limit else self._counted(limit)
        try:
            body = await self._patience.wait(coming)
        except TimeoutError:
            raise Interrupted(408, "The body did not arrive in time. Send it again.") from None
        except ProtocolClosed:
            body = b""
        if length is not None and length != len(body):
            # Whoever has only closed their side still hears the answer.
            raise Interrupted(400, "The body ended before it was whole.")
        return body

    async def pieces(self, limit: int) -> AsyncIterator[bytes]:
        """The body of a large request piece by piece, counted while it arrives, which it must within the deadline."""
        self._refuse_encoded()
        self._is_large = True
        announced = self.headers.get("content-length")
        length = None if announced is None else int(announced)
        received, until = 0, asyncio.get_running_loop().time() + LARGE_BODY_SECONDS
        while length is None or length <= limit:
            try:
                async with asyncio.timeout_at(until):
                    piece = await anext(self._pieces(), None)
            except TimeoutError:
                raise Interrupted(408, "The body did not arrive in time. Send it again.") from None
            except ProtocolClosed:
                piece = None
            if piece is None:
                self._unread = False
                if length is not None and length != received:
                    raise Interrupted(400, "The body ended before it was whole.")
                return
            received += len(piece)
            if received > limit:
                break
            yield piece
        raise Interrupted(413, f"The body is larger than {limit} bytes.")

    async def read_away(self) -> None:
        """Take what is left of a body that nobody wanted, within bounds: who is still sending hears no answer."""
        left = LARGE_READ_AWAY_BYTES if self._is_large else READ_AWAY_BYTES
        length = int(self.headers.get("content-length", "0"))
        coming = length > 0 or self.headers.get("transfer-encoding") is not None
        # Who asks before sending a body has not sent it.
        if not (self._unread and coming) or length > left or self.headers.get("expect") is not None:
            return
        with suppress(TimeoutError, ProtocolClosed):
            async with asyncio.timeout(LARGE_READ_AWAY_SECONDS if self._is_large else READ_AWAY_SECONDS):
                async for part in self._pieces():
                    left -= len(part)
                    if left < 0:
                        return

    def _refuse_encoded(self) -> None:
        """Refuse a compressed body: its bytes are not the text that they would be read as."""
        encodings = {one.strip().lower() for one in self.headers.get("content-encoding", "").split(",")}
        if not encodings <= {"", "identity"}:
            raise Interrupted(415, _ENCODED_BODY, (("accept-encoding", "identity"),))

    async def _counted(self, limit: int) -> bytes:
        body = bytearray()
        async for part in self._pieces():
            body += part
            if len(body) > limit:
                self._unread = True
                raise Interrupted(413, f"The body is larger than {limit} bytes.")
        return bytes(body)

    def _pieces(self) -> AsyncIterator[bytes]:
        self._parts = self._parts or _streamed(self._protocol)
        return self._parts


async def _streamed(protocol: HTTPProtocol) -> AsyncIterator[bytes]:
    async for part in protocol:
        yield part


class Interrupted(Exception):
    """HTTP itself is in the way, before any operation is asked."""

    def __init__(self, status: int, text: str, headers: Headers = ()) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = headers


Answering = Callable[[Request], Awaitable[Response]]
Starting = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Front:
    """The application as the server sees it: finds the door, measures, and lets nothing but an answer out."""

    # The doors at a path, and those of everything below one, which has one segment or two: `/api/v1`.
    doors: Mapping[str, Answering]
    areas: Mapping[str, Answering]
    nowhere: Answering
    addresses: Addresses
    meters: Meters
    # The numbers for the meters of what is one path and does not say its own.
    numbers: Mapping[str, int]
    start: Starting
    stop: Starting
    # Paths that answer whatever the Host: a load balancer's probe knows no name.
    nameless: frozenset[str] = frozenset({"/healthz"})
    passing_seconds: float = PASSING_SECONDS
    # Requests are named after the process, and numbered.
    _name: str = field(default_factory=lambda: "req_" + secrets.token_hex(6))
    _numbers: Iterator[int] = field(default_factory=count)
    _patience: Patience = field(default_factory=lambda: Patience(BODY_SECONDS))

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """The server process begins."""
        loop.run_until_complete(self.start())
        # Called when the loop serves, not before.
        loop.call_soon(hear_asking)

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        """The server process ends."""
        loop.run_until_complete(self.stop())

    async def __rsgi__(self, scope: Scope, protocol: HTTPProtocol) -> None:
        """Answer one request."""
        began = time.perf_counter()
        request = Request(scope, protocol, self._patience, f"{self._name}{next(self._numbers):08x}")
        try:
            response = self._unwelcome(request) or await self._door(request.path)(request)
        except Interrupted as interrupted:
            response = error(interrupted.status, interrupted.text, interrupted.headers)
        except Exception as fault:
            # The one place where a bug becomes an answer: told to the log, never to the client.
            log_fault(fault, request)
            response = error(500, OUR_FAULT)
        seconds = time.perf_counter() - began
        self.meters.observe(response.route or self.numbers.get(request.path, 0), response.status, seconds)
        if not response.quiet and (response.status != _OK or request.method not in _READS):
            log(
                "request",
                request=request.id,
                method=request.method,
                path=request.path,
                status=response.status,
                ms=round(seconds * 1000, 1),
                address=self.addresses.of_client(request.peer, request.headers),
            )
        if response.status >= _MULTIPLE_CHOICES:
            await request.read_away()
        body = _send(request, response, protocol)
        if body is not None and body.passing:
            asyncio.get_running_loop().call_later(self.passing_seconds, partial(body.path.unlink, missing_ok=True))

    def _unwelcome(self, request: Request) -> Response | None:
        headers = request.headers
        if request.path in self.nameless:
            return None
        if not self.addresses.is_ours(headers.get("host", "")):
            return error(421, "This server does not answer under that name.")
        if (origin := headers.get("origin")) and not self.addresses.is_welcome(origin):
            return error(403, "A page of another site may not call this server.")
        return None

    def _door(self, path: str) -> Answering:
        if door := self.doors.get(path):
            return door
        first = path.find("/", 1)
        second = path.find("/", first + 1) if first > 0 else -1
        area = self.areas.get(path[:second] if second > 0 else path)
        return area or (self.areas.get(path[:first]) if first > 0 else None) or self.nowhere


_READS = {"GET", "HEAD"}
# As plain numbers: naming a member of an enum costs more than comparing it, at every request.
_OK, _MULTIPLE_CHOICES = HTTPStatus.OK.value, HTTPStatus.MULTIPLE_CHOICES.value


def log_fault(fault: Exception, request: Request) -> None:
    """Tell the log of a bug, once, where it becomes an answer; that the database is away is known by its words."""
    if isinstance(fault, Unreachable):
        told = str(fault)
        log("database away", level="error", request=request.id, method=request.method, path=request.path, message=told)
        return
    log_error("fault", fault, request=request.id, method=request.method, path=request.path)


def error(status: int, text: str, headers: Headers = (), route: int = 0) -> Response:
    """A refusal in the one shape that every refusal of the application has."""
    return Response(status, orjson.dumps({"error": text}), headers, route)


def _send(request: Request, response: Response, protocol: HTTPProtocol) -> FromFile | None:
    """Answer; the file that is answered from, if one is."""
    body = response.body
    headers = [
        ("content-type", response.content_type),
        ("x-request-id", request.id),
        # A browser takes no answer for another type than the one named, whatever is in it.
        ("x-content-type-options", "nosniff"),
        ("cache-control", response.cache),
        *response.headers,
    ]
    if isinstance(body, bytes) and is_worth(response.content_type, len(body)):
        headers.append(("vary", "Accept-Encoding"))
        if request.takes_gzip:
            headers.append(("content-encoding", "gzip"))
            body = response.packed or packed(body)
    if request.method == "HEAD":
        headers.append(("content-length", str(len(body))))
        protocol.response_empty(response.status, headers)
    elif isinstance(body, bytes):
        protocol.response_bytes(response.status, headers, body)
    else:
        headers.append(("content-length", str(len(body))))
        protocol.response_file(response.status, headers, str(body.path))
    return None if isinstance(body, bytes) else body
