"""What every HTTP door shares: the ASGI front, request ids, body limit and deadline, the headers of every answer."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import orjson

from mainstay.backing.exposition import Meters
from mainstay.backing.log import log, log_error
from mainstay.doors.addresses import Addresses

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]

BODY_SECONDS = 10.0
OUR_FAULT = "Something went wrong on our side; it is safe to try again."


@dataclass(slots=True)
class Response:
    """What a door answers. `route` says what was asked for, for the meters."""

    status: int
    body: bytes
    headers: Headers = ()
    route: int = 0
    content_type: bytes = b"application/json"
    # Whether and for how long it may be kept; nearly nothing may.
    cache: bytes = b"no-store"


class Request:
    """One request as a door sees it."""

    __slots__ = ("_receive", "headers", "id", "method", "path", "query", "scope")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self._receive = receive
        self.id = "req_" + secrets.token_hex(10)
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope["query_string"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])

    async def body(self, limit: int) -> bytes:
        """The whole body, counted while it arrives, which it must within the deadline."""
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        # Whoever has only closed their side still hears the answer.
                        raise Interrupted(400, "The body ended before it was whole.")
                    body += message.get("body", b"")
                    if len(body) > limit:
                        raise Interrupted(413, f"The body is larger than {limit} bytes.")
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise Interrupted(408, "The body did not arrive in time. Send it again.") from None


class Interrupted(Exception):
    """HTTP itself is in the way, before any operation is asked."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


Door = Callable[[Request], Awaitable[Response]]
Starting = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Front:
    """The ASGI application: finds the door, measures, and lets nothing but an answer out."""

    # The doors by the beginning of the path, as its first two segments or its first: `/api/v1`, `/healthz`.
    doors: Mapping[str, Door]
    nowhere: Door
    addresses: Addresses
    meters: Meters
    start: Starting
    stop: Starting
    # Paths that answer whatever the Host: a load balancer's probe knows no name.
    nameless: frozenset[str] = field(default=frozenset({"/healthz"}))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or one life of the process."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._answer(Request(scope, receive), send)

    async def _answer(self, request: Request, send: Send) -> None:
        began = time.perf_counter()
        try:
            response = await self._respond(request)
        except Interrupted as interrupted:
            response = error(interrupted.status, interrupted.text)
        except Exception as fault:
            # The one place where a bug becomes an answer: told to the log, never to the client.
            log_error("fault", fault, request=request.id, method=request.method, path=request.path)
            response = error(500, OUR_FAULT)
        await _send(request, response, send)
        seconds = time.perf_counter() - began
        self.meters.observe(response.route, response.status, seconds)
        if response.status != HTTPStatus.OK or request.method not in _READS:
            log(
                "request",
                request=request.id,
                method=request.method,
                path=request.path,
                status=response.status,
                ms=round(seconds * 1000, 1),
                address=self.addresses.of_client(request.scope, request.headers),
            )

    async def _respond(self, request: Request) -> Response:
        headers = request.headers
        path = request.path
        if path not in self.nameless:
            if not self.addresses.is_ours(headers.get(b"host", b"")):
                return error(421, "This server does not answer under that name.")
            if (origin := headers.get(b"origin")) and not self.addresses.is_welcome(origin):
                return error(403, "A page of another site may not call this server.")
        return await self._door(path)(request)

    def _door(self, path: str) -> Door:
        first = path.find("/", 1)
        second = path.find("/", first + 1) if first > 0 else -1
        door = self.doors.get(path[:second] if second > 0 else path)
        return door or (self.doors.get(path[:first]) if first > 0 else None) or self.nowhere

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await self.start()
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return


_READS = {"GET", "HEAD"}


def error(status: int, text: str, headers: Headers = (), route: int = 0) -> Response:
    """A refusal in the one shape that every refusal of the application has."""
    return Response(status, orjson.dumps({"error": text}), headers, route)


async def _send(request: Request, response: Response, send: Send) -> None:
    headers = [
        (b"content-type", response.content_type),
        (b"content-length", b"%d" % len(response.body)),
        (b"x-request-id", request.id.encode()),
        (b"cache-control", response.cache),
        *response.headers,
    ]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else response.body})
