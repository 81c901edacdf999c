"""Receivers of every character, on real sockets, and a web that finds them."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from mainstay.backing.guard import Guard
from mainstay.backing.web import DEADLINE_SECONDS, Web

BODY = b'{"id":"evt_1","name":"K\xc3\xb6ln"}'
HEADERS = {"content-type": "application/json", "webhook-id": "evt_1"}
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CERTIFICATE = Path(__file__).parent / "backing" / "web_test_certificate.pem"
# The name on the certificate.
NAME = "hooks.example.com"
# A deadline for those who are meant to miss it.
SHORT = 0.2
# How long a test waits for what must come; a sound one never waits that long.
_PATIENCE = 20.0


class Receiver:
    """One receiver; `talk` says how it behaves on each connection, until it ends or is hung up on."""

    def __init__(self, talk: "Talk") -> None:
        self._talk = talk
        self._talking: set[asyncio.Task[None]] = set()
        self.port = 0
        self.connections = 0
        self.requests: list[bytes] = []
        self.names: list[str | None] = []
        self.heard = asyncio.Event()
        self.left = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def hear(self, reader: asyncio.StreamReader) -> None:
        """Take in one whole request."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        self.requests.append(head + await reader.readexactly(int(length.split(b":")[1])))
        self.heard.set()

    def welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        talking = asyncio.ensure_future(self._talk_until_left(reader, writer))
        self._talking.add(talking)
        talking.add_done_callback(self._talking.discard)

    async def end(self) -> None:
        for talking in self._talking:
            talking.cancel()
        await asyncio.gather(*self._talking, return_exceptions=True)

    async def _talk_until_left(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, EOFError):
                await self._talk(self, reader, writer)
        finally:
            self.left.set()
            writer.transport.abort()


Talk = Callable[[Receiver, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def receiving(talk: Talk, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    receiver = Receiver(talk)
    if tls:
        tls.sni_callback = lambda _object, name, _context: receiver.names.append(name)
    async with (
        asyncio.timeout(_PATIENCE),
        await asyncio.start_server(receiver.welcome, "127.0.0.1", 0, ssl=tls) as listening,
    ):
        receiver.port = listening.sockets[0].getsockname()[1]
        try:
            yield receiver
        finally:
            await receiver.end()


def saying(answer: bytes, *, close: bool = False) -> Talk:
    """Gives the same answer to each request, and closes then or goes on."""

    async def talk(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await receiver.hear(reader)
            writer.write(answer)
            await writer.drain()
            if close:
                writer.close()
                await writer.wait_closed()
                return

    return talk


async def hang(receiver: Receiver, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Takes a request, and says nothing."""
    await receiver.hear(reader)
    await reader.read()


async def close_at_once(_receiver: Receiver, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Does not even listen."""
    writer.close()


def a_web(*, deadline: float = DEADLINE_SECONDS) -> Web:
    """Trusts the certificate of the tests, and finds every name on this machine."""
    trusting = ssl.create_default_context(cafile=CERTIFICATE)
    return Web(Guard(allow_private=True, resolve=lambda _host, _port: ["127.0.0.1"]), tls=trusting, deadline=deadline)


def proving() -> ssl.SSLContext:
    """The context of a receiver that has the certificate of the tests."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    return context
