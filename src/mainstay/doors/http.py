"""What every HTTP door shares: the application, request ids, body limits and deadlines, and common headers."""

import asyncio
import errno
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from itertools import count
from pathlib import Path

import orjson
from granian.rsgi import Headers as ServerHeaders
from granian.rsgi import HTTPProtocol, ProtocolClosed, Scope

from mainstay.doors.compression import accepts_gzip, compress, is_worth_compressing
from mainstay.doors.server_names import ServerNames
from mainstay.doors.shared_timeout import SharedTimeout
from mainstay.infrastructure.database import DatabaseUnavailable
from mainstay.infrastructure.files import FileStoreUnavailable
from mainstay.infrastructure.log import log, log_error
from mainstay.infrastructure.metrics import RequestMetrics
from mainstay.infrastructure.processes import unblock_sigterm
from mainstay.values.message import PROGRAM_FORMAT, Message

Headers = Sequence[tuple[str, str]]

BODY_SECONDS = 10.0
# How much of a refused body is read and dropped, and for how long: as much as the widest door for small bodies accepts.
DRAIN_BYTES = 1_048_576
DRAIN_SECONDS = 1.0
# The same for a large body, such as a form with a photograph that is too large.
LARGE_BODY_SECONDS = 60.0
LARGE_DRAIN_BYTES = 76_000_000
LARGE_DRAIN_SECONDS = 10.0
# How long a temporary file is kept after its answer: the server opens it soon, but does not tell when.
TEMPORARY_FILE_SECONDS = 10.0
_COMPRESSED_BODY = Message(
    "Send the body as it is, without the header Content-Encoding: compressed bodies are not read."
)
# What pages, links and probes answer while nothing can be read or saved.
UNAVAILABLE = Message("Mainstay is not available at the moment. Nothing was changed; try again in a minute.")
RETRY_LATER: Headers = (("retry-after", "60"),)
SERVER_ERROR = Message("Something went wrong on our side; it is safe to try again.")


@dataclass(frozen=True, slots=True)
class FileBody:
    """A body that the server streams from a file, as fast as the client reads it."""

    path: Path
    size: int
    # Whether the file was made for this answer and is deleted after it.
    is_temporary: bool = False

    def __len__(self) -> int:
        return self.size


@dataclass(frozen=True, slots=True)
class StreamBody:
    """A body that is sent piece by piece, for as long as the client stays."""

    pieces: AsyncGenerator[bytes, None]


@dataclass(slots=True)
class Response:
    """An answer of a door. `route_number` identifies its route in the metrics."""

    status: int
    body: bytes | FileBody | StreamBody
    headers: Headers = ()
    route_number: int = 0
    content_type: str = "application/json"
    # The Cache-Control header; nearly no answer may be cached.
    cache_control: str = "no-store"
    # Whether to leave it out of the log, because it succeeded and changed nothing.
    quiet: bool = False
    # The body as gzip, if it was compressed before.
    gzipped_body: bytes | None = None


def read_headers(headers: ServerHeaders) -> Mapping[str, str]:
    """Return the headers by lower-case name; a header that was sent several times is joined into one list."""
    names, lines = headers.keys(), headers.items()
    values = dict(lines)
    if len(values) == len(lines) == len(names):
        return values
    # The server hides values that are not ASCII. They count as present, but are equal to nothing.
    joined = dict.fromkeys(names, _NOT_ASCII)
    for name, value in lines:
        joined[name] = value if joined[name] == _NOT_ASCII else f"{joined[name]}, {value}"
    return joined


_NOT_ASCII = "\0"


class Request:
    """One HTTP request, as the doors see it."""

    __slots__ = (
        "_body_stream",
        "_body_timeout",
        "_is_large",
        "_is_unread",
        "_protocol",
        "_scope",
        "headers",
        "id",
        "method",
        "path",
        "query",
    )

    def __init__(self, scope: Scope, protocol: HTTPProtocol, body_timeout: SharedTimeout, request_id: str) -> None:
        self._protocol = protocol
        self._body_timeout = body_timeout
        # The stream of the body (the server allows only one), and whether a part of the body may be unread.
        self._body_stream: AsyncIterator[bytes] | None = None
        self._is_unread = True
        self._is_large = False
        self.id = request_id
        self.method = scope.method
        self.path = scope.path
        self.query = scope.query_string.encode()
        self.headers = read_headers(scope.headers)
        self._scope = scope

    @property
    def peer(self) -> str:
        """The address at the other end of the connection: the client's, or a proxy's."""
        return self._scope.client

    @property
    def accepts_gzip(self) -> bool:
        """Whether the client accepts an answer compressed with gzip."""
        return accepts_gzip(self.headers.get("accept-encoding", ""))

    async def read_body(self, limit: int) -> bytes:
        """Read the whole body; refuse it if it is larger than the limit or arrives too late."""
        self.refuse_compressed()
        self._is_unread = False
        announced = self.headers.get("content-length")
        length = None if announced is None else int(announced)
        # A body with a known small length need not be counted while it is read.
        reading = self._protocol() if length is not None and length <= limit else self._read_limited(limit)
        try:
            body = await self._body_timeout.wait(reading)
        except TimeoutError:
            raise HttpError(408, Message("The body did not arrive in time. Send it again.")) from None
        except ProtocolClosed:
            body = b""
        if length is not None and length != len(body):
            # A client that has only closed its sending side still gets the answer.
            raise HttpError(400, Message("The body ended before it was complete."))
        return body

    async def stream_body(self, limit: int) -> AsyncIterator[bytes]:
        """Stream the body of a large request; refuse it if it is larger than the limit or arrives too late."""
        self.refuse_compressed()
        self.expect_large_body()
        announced = self.headers.get("content-length")
        length = None if announced is None else int(announced)
        received, until = 0, asyncio.get_running_loop().time() + LARGE_BODY_SECONDS
        while length is None or length <= limit:
            try:
                async with asyncio.timeout_at(until):
                    piece = await anext(self._open_stream(), None)
            except TimeoutError:
                raise HttpError(408, Message("The body did not arrive in time. Send it again.")) from None
            except ProtocolClosed:
                piece = None
            if piece is None:
                self._is_unread = False
                if length is not None and length != received:
                    raise HttpError(400, Message("The body ended before it was complete."))
                return
            received += len(piece)
            if received > limit:
                break
            yield piece
        raise HttpError(413, Message("The body is larger than {limit} bytes.", limit=limit))

    def expect_large_body(self) -> None:
        """Read and drop a large body too if the request is refused."""
        self._is_large = True

    async def drain_body(self) -> None:
        """Read and drop the rest of a body, within bounds, because a client reads no answer while it still sends."""
        bytes_left = LARGE_DRAIN_BYTES if self._is_large else DRAIN_BYTES
        length = int(self.headers.get("content-length", "0"))
        has_body = length > 0 or self.headers.get("transfer-encoding") is not None
        # A client that sends an Expect header has not sent the body yet.
        if not (self._is_unread and has_body) or length > bytes_left or self.headers.get("expect") is not None:
            return
        with suppress(TimeoutError, ProtocolClosed):
            async with asyncio.timeout(LARGE_DRAIN_SECONDS if self._is_large else DRAIN_SECONDS):
                async for part in self._open_stream():
                    bytes_left -= len(part)
                    if bytes_left < 0:
                        return

    def refuse_compressed(self) -> None:
        """Refuse a compressed body, because its bytes would be read as text."""
        encodings = self.headers.get("content-encoding")
        if encodings and any(one.strip() not in {"", "identity"} for one in encodings.lower().split(",")):
            raise HttpError(415, _COMPRESSED_BODY, (("accept-encoding", "identity"),))

    async def _read_limited(self, limit: int) -> bytes:
        body = bytearray()
        async for part in self._open_stream():
            body += part
            if len(body) > limit:
                self._is_unread = True
                raise HttpError(413, Message("The body is larger than {limit} bytes.", limit=limit))
        return bytes(body)

    def _open_stream(self) -> AsyncIterator[bytes]:
        self._body_stream = self._body_stream or _stream_parts(self._protocol)
        return self._body_stream


async def _stream_parts(protocol: HTTPProtocol) -> AsyncIterator[bytes]:
    async for part in protocol:
        yield part


class HttpError(Exception):
    """A request that fails at the level of HTTP, before any operation is performed."""

    def __init__(self, status: int, message: Message | str, headers: Headers = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers

    @property
    def text(self) -> str:
        """The message in the format for programs."""
        return PROGRAM_FORMAT.render(self.message)


RequestHandler = Callable[[Request], Awaitable[Response]]
LifecycleHook = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class HttpApp:
    """The RSGI application: finds the door of a request, measures it, and turns every exception into an answer."""

    # The doors of single paths, and those of everything below a prefix of one or two segments, such as `/api/v1`.
    doors: Mapping[str, RequestHandler]
    prefix_doors: Mapping[str, RequestHandler]
    default_door: RequestHandler
    server_names: ServerNames
    meters: RequestMetrics
    # The route numbers of single paths, for the metrics, if the response does not have one.
    route_numbers: Mapping[str, int]
    start: LifecycleHook
    stop: LifecycleHook
    # Paths that are answered for any Host header, because a load balancer's probe knows no name.
    any_host_paths: frozenset[str] = frozenset({"/healthz"})
    temporary_file_seconds: float = TEMPORARY_FILE_SECONDS
    # A request id is the prefix of this process and a number.
    _id_prefix: str = field(default_factory=lambda: "req_" + secrets.token_hex(6))
    _request_counter: Iterator[int] = field(default_factory=count)
    _body_timeout: SharedTimeout = field(default_factory=lambda: SharedTimeout(BODY_SECONDS))

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the application when the server process begins."""
        loop.run_until_complete(self.start())
        # Called only once the loop runs.
        loop.call_soon(unblock_sigterm)

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop the application when the server process ends."""
        loop.run_until_complete(self.stop())

    async def __rsgi__(self, scope: Scope, protocol: HTTPProtocol) -> None:
        """Answer one request."""
        began = time.perf_counter()
        request = Request(scope, protocol, self._body_timeout, f"{self._id_prefix}{next(self._request_counter):08x}")
        try:
            response = self._check_host_and_origin(request) or await self._find_door(request.path)(request)
        except HttpError as http_error:
            response = error_response(http_error.status, http_error.text, http_error.headers)
        except Exception as error:
            # A bug becomes an answer here: the log gets the details, the client never does.
            log_fault(error, request)
            response = error_response(500, str(SERVER_ERROR))
        seconds = time.perf_counter() - began
        self.meters.observe(response.route_number or self.route_numbers.get(request.path, 0), response.status, seconds)
        if not response.quiet and (response.status != _OK or request.method not in _READ_METHODS):
            log(
                "request",
                request=request.id,
                method=request.method,
                path=request.path,
                status=response.status,
                ms=round(seconds * 1000, 1),
                address=self.server_names.client_address(request.peer, request.headers),
            )
        if response.status >= _MULTIPLE_CHOICES:
            await request.drain_body()
        if isinstance(response.body, StreamBody):
            await _send_stream(request, response, response.body, protocol)
            return
        body = _send_response(request, response, response.body, protocol)
        if body is not None and body.is_temporary:
            asyncio.get_running_loop().call_later(
                self.temporary_file_seconds, partial(body.path.unlink, missing_ok=True)
            )

    def _check_host_and_origin(self, request: Request) -> Response | None:
        headers = request.headers
        if request.path in self.any_host_paths:
            return None
        if not self.server_names.is_own_host(headers.get("host", "")):
            return error_response(421, "This server does not answer under that name.")
        if (origin := headers.get("origin")) and not self.server_names.is_origin_allowed(origin):
            return error_response(403, "A page of another site may not call this server.")
        return None

    def _find_door(self, path: str) -> RequestHandler:
        if door := self.doors.get(path):
            return door
        first = path.find("/", 1)
        second = path.find("/", first + 1) if first > 0 else -1
        prefix_door = self.prefix_doors.get(path[:second] if second > 0 else path)
        return prefix_door or (self.prefix_doors.get(path[:first]) if first > 0 else None) or self.default_door


_READ_METHODS = {"GET", "HEAD"}
# Plain numbers, because looking up a member of an enum at every request costs more than comparing it.
_OK, _MULTIPLE_CHOICES = HTTPStatus.OK.value, HTTPStatus.MULTIPLE_CHOICES.value


def is_unavailable(error: Exception) -> bool:
    """Return whether an unexpected exception will go away by itself: a store is away, or a disk is full."""
    return isinstance(error, DatabaseUnavailable | FileStoreUnavailable) or (
        isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    )


def log_fault(fault: Exception, request: Request) -> None:
    """Log an unexpected exception; for an unreachable store, log its message without a traceback."""
    if isinstance(fault, DatabaseUnavailable | FileStoreUnavailable):
        message = str(fault)
        log(
            "database away" if isinstance(fault, DatabaseUnavailable) else "files away",
            level="error",
            request=request.id,
            method=request.method,
            path=request.path,
            message=message,
        )
        return
    log_error("fault", fault, request=request.id, method=request.method, path=request.path)


def error_response(status: int, text: str, headers: Headers = (), route_number: int = 0) -> Response:
    """Return an error answer in the shape that all errors of the application have."""
    return Response(status, orjson.dumps({"error": text}), headers, route_number)


async def _send_stream(request: Request, response: Response, body: StreamBody, protocol: HTTPProtocol) -> None:
    """Send a body piece by piece until it ends or the client is gone."""
    headers = [*_common_headers(request, response), *response.headers]
    transport = protocol.response_stream(response.status, headers)
    async with aclosing(body.pieces) as pieces:
        with suppress(ProtocolClosed):
            async for piece in pieces:
                await transport.send_bytes(piece)


def _common_headers(request: Request, response: Response) -> list[tuple[str, str]]:
    return [
        ("content-type", response.content_type),
        ("x-request-id", request.id),
        # A browser must not guess another content type from the content.
        ("x-content-type-options", "nosniff"),
        ("cache-control", response.cache_control),
    ]


def _send_response(
    request: Request, response: Response, body: bytes | FileBody, protocol: HTTPProtocol
) -> FileBody | None:
    """Send an answer, and return the file that it is sent from, if any."""
    headers = [*_common_headers(request, response), *response.headers]
    if isinstance(body, bytes) and is_worth_compressing(response.content_type, len(body)):
        headers.append(("vary", "Accept-Encoding"))
        if request.accepts_gzip:
            headers.append(("content-encoding", "gzip"))
            body = response.gzipped_body or compress(body, response.content_type)
    if request.method == "HEAD":
        headers.append(("content-length", str(len(body))))
        protocol.response_empty(response.status, headers)
    elif isinstance(body, bytes):
        protocol.response_bytes(response.status, headers, body)
    else:
        headers.append(("content-length", str(len(body))))
        protocol.response_file(response.status, headers, str(body.path))
    return None if isinstance(body, bytes) else body
