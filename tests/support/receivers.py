"""Receivers of every behaviour, on real sockets, and an HTTP client that may reach them."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.webhook_client import DEADLINE_SECONDS, WebhookClient

BODY = b'{"id":"evt_1","name":"K\xc3\xb6ln"}'
HEADERS = {"content-type": "application/json", "webhook-id": "evt_1"}
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CERTIFICATE = Path(__file__).parents[1] / "infrastructure" / "web_test_certificate.pem"
# The name on the certificate.
HOST_NAME = "hooks.example.com"
# A deadline that a test means to miss.
SHORT_DEADLINE = 0.2
# How long a test waits at most; one that passes never waits that long.
_TIMEOUT_SECONDS = 20.0


class Receiver:
    """One receiver; its handler decides what happens on each connection."""

    def __init__(self, handler: "ConnectionHandler") -> None:
        self._handler = handler
        self._handling: set[asyncio.Task[None]] = set()
        self.port = 0
        self.connections = 0
        self.requests: list[bytes] = []
        self.server_names: list[str | None] = []
        self.request_received = asyncio.Event()
        self.connection_closed = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def read_request(self, reader: asyncio.StreamReader) -> None:
        """Read one whole request."""
        head = await reader.readuntil(b"\r\n\r\n")
        named = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        self.requests.append(head + await reader.readexactly(int(named[0].split(b":")[1]) if named else 0))
        self.request_received.set()

    def accept_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.ensure_future(self._handle_connection(reader, writer))
        self._handling.add(task)
        task.add_done_callback(self._handling.discard)

    async def stop(self) -> None:
        for task in self._handling:
            task.cancel()
        await asyncio.gather(*self._handling, return_exceptions=True)

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, EOFError):
                await self._handler(self, reader, writer)
        finally:
            self.connection_closed.set()
            writer.transport.abort()


ConnectionHandler = Callable[[Receiver, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def run_receiver(handler: ConnectionHandler, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    receiver = Receiver(handler)
    if tls:
        tls.sni_callback = lambda _object, name, _context: receiver.server_names.append(name)
    async with (
        asyncio.timeout(_TIMEOUT_SECONDS),
        await asyncio.start_server(receiver.accept_connection, "127.0.0.1", 0, ssl=tls) as server,
    ):
        receiver.port = server.sockets[0].getsockname()[1]
        try:
            yield receiver
        finally:
            await receiver.stop()


def answer_with(answer: bytes, *, close: bool = False) -> ConnectionHandler:
    """Make a handler that gives the same answer to each request, and then closes or goes on."""

    async def handle(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await receiver.read_request(reader)
            writer.write(answer)
            await writer.drain()
            if close:
                writer.close()
                await writer.wait_closed()
                return

    return handle


async def never_answer(receiver: Receiver, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Read a request, and never answer."""
    await receiver.read_request(reader)
    await reader.read()


async def close_at_once(_receiver: Receiver, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close without reading."""
    writer.close()


def make_test_client(*, deadline: float = DEADLINE_SECONDS) -> WebhookClient:
    """Make a client that trusts the certificate of the tests and resolves every name to this machine."""
    guard = AddressGuard(allow_private=True, resolve=lambda _host, _port: ["127.0.0.1"])
    return WebhookClient(guard, tls=make_client_tls(), deadline=deadline)


def make_client_tls() -> ssl.SSLContext:
    """Make the TLS context of a client that trusts the certificate of the tests."""
    return ssl.create_default_context(cafile=CERTIFICATE)


def make_server_tls() -> ssl.SSLContext:
    """Make the TLS context of a receiver with the certificate of the tests."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    return context
