"""Receivers in a thread of their own, for whoever sends from another thread or another process."""

import asyncio
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from receivers import OK, Receiver, Talk

_PATIENCE_SECONDS = 60.0
_GLANCE_SECONDS = 0.01


@dataclass(frozen=True)
class Heard:
    """A request as a receiver takes it in."""

    headers: dict[str, str]
    body: bytes


def heard(receiver: Receiver) -> list[Heard]:
    """Every request so far."""
    return [_heard(request) for request in [*receiver.requests]]


def _heard(request: bytes) -> Heard:
    head, _, body = request.partition(b"\r\n\r\n")
    lines = [line.decode().partition(": ") for line in head.split(b"\r\n")[1:]]
    return Heard({name.lower(): value for name, _, value in lines}, body)


class Street:
    """Where receivers stand."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._opened: list[tuple[Receiver, asyncio.Server]] = []

    def open(self, talk: Talk, tls: ssl.SSLContext | None = None) -> Receiver:
        """A new receiver that talks like this."""
        return asyncio.run_coroutine_threadsafe(self._open(talk, tls), self._loop).result(_PATIENCE_SECONDS)

    async def _open(self, talk: Talk, tls: ssl.SSLContext | None) -> Receiver:
        receiver = Receiver(talk)
        server = await asyncio.start_server(receiver.welcome, "127.0.0.1", 0, ssl=tls)
        receiver.port = server.sockets[0].getsockname()[1]
        self._opened.append((receiver, server))
        return receiver

    async def close(self) -> None:
        for receiver, server in self._opened:
            server.close()
            await receiver.end()
            await server.wait_closed()


@contextmanager
def a_street() -> Iterator[Street]:
    """A street that is there until the block ends."""
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        street = Street(loop)
        try:
            yield street
        finally:
            asyncio.run_coroutine_threadsafe(street.close(), loop).result(_PATIENCE_SECONDS)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()


@dataclass
class Crowd:
    """Counts who is being answered at the same time, under as many names as each talk has."""

    now: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)

    def answering(self, *names: str) -> Talk:
        """A receiver that takes a moment for each answer."""

        async def talk(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                await receiver.hear(reader)
                self.now.update(names)
                for name in names:
                    self.most[name] = max(self.most[name], self.now[name])
                await asyncio.sleep(_GLANCE_SECONDS)
                self.now.subtract(names)
                writer.write(OK)
                await writer.drain()

        return talk


def holding(let_go: threading.Event) -> Talk:
    """A receiver that answers when it is let go."""

    async def talk(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await receiver.hear(reader)
            await asyncio.to_thread(let_go.wait, _PATIENCE_SECONDS)
            writer.write(OK)
            await writer.drain()

    return talk
