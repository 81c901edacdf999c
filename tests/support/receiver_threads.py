"""Receivers in a thread of their own, for tests that send from another thread or process."""

import asyncio
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field

from support.receivers import OK, ConnectionHandler, Receiver

_TIMEOUT_SECONDS = 60.0
_ANSWER_SECONDS = 0.01


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that a receiver got."""

    headers: dict[str, str]
    body: bytes


def received_requests(receiver: Receiver) -> list[ReceivedRequest]:
    """Return every request of a receiver so far."""
    return [_parse_request(request) for request in [*receiver.requests]]


def _parse_request(request: bytes) -> ReceivedRequest:
    head, _, body = request.partition(b"\r\n\r\n")
    lines = [line.decode().partition(": ") for line in head.split(b"\r\n")[1:]]
    return ReceivedRequest({name.lower(): value for name, _, value in lines}, body)


class ReceiverThread:
    """Opens receivers in the loop of a thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._opened: list[tuple[Receiver, asyncio.Server]] = []

    def open_receiver(self, handler: ConnectionHandler, tls: ssl.SSLContext | None = None) -> Receiver:
        """Open a receiver with this handler."""
        return asyncio.run_coroutine_threadsafe(self._open_in_loop(handler, tls), self._loop).result(_TIMEOUT_SECONDS)

    async def _open_in_loop(self, handler: ConnectionHandler, tls: ssl.SSLContext | None) -> Receiver:
        receiver = Receiver(handler)
        server = await asyncio.start_server(receiver.accept_connection, "127.0.0.1", 0, ssl=tls)
        receiver.port = server.sockets[0].getsockname()[1]
        self._opened.append((receiver, server))
        return receiver

    async def close(self) -> None:
        for receiver, server in self._opened:
            server.close()
            await receiver.stop()
            await server.wait_closed()


@contextmanager
def run_receiver_thread() -> Iterator[ReceiverThread]:
    """Run a thread for receivers until the block ends."""
    started: Future[asyncio.AbstractEventLoop] = Future()

    def run() -> None:
        # Closed in this thread as well: a browser may have a loop of its own running in the main one.
        with asyncio.Runner() as runner:
            started.set_result(runner.get_loop())
            runner.get_loop().run_forever()

    thread = threading.Thread(target=run)
    thread.start()
    loop = started.result(_TIMEOUT_SECONDS)
    receivers = ReceiverThread(loop)
    try:
        yield receivers
    finally:
        asyncio.run_coroutine_threadsafe(receivers.close(), loop).result(_TIMEOUT_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


@dataclass
class ConcurrencyCounter:
    """Counts answers at the same time, under each name that a handler has."""

    current: Counter[str] = field(default_factory=Counter)
    highest: Counter[str] = field(default_factory=Counter)

    def make_handler(self, *names: str) -> ConnectionHandler:
        """Make a handler that takes a moment for each answer."""

        async def handle(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                await receiver.read_request(reader)
                self.current.update(names)
                for name in names:
                    self.highest[name] = max(self.highest[name], self.current[name])
                await asyncio.sleep(_ANSWER_SECONDS)
                self.current.subtract(names)
                writer.write(OK)
                await writer.drain()

        return handle


def answer_after(event: threading.Event) -> ConnectionHandler:
    """Make a handler that answers once the event is set."""

    async def handle(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await receiver.read_request(reader)
            await asyncio.to_thread(event.wait, _TIMEOUT_SECONDS)
            writer.write(OK)
            await writer.drain()

    return handle
