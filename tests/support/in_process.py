"""The product's doors in the test's own process: the real HTTP app, worker and dispatcher, without a socket.

Requests and responses look as they would from the real server. A test holds
the two against each other. What only a server can get wrong (framing, connections, several processes) is not here.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast
from urllib.parse import unquote

import httpx2
from granian.rsgi import HTTPProtocol, ProtocolClosed, Scope

from mainstay.catalogue import CATALOGUE
from mainstay.composition import open_document_client, open_performer
from mainstay.doors.http import HttpApp
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.webhook_client import WebhookClient
from mainstay.infrastructure.worker_wakeups import WakeupListener, WakeupSender
from mainstay.kernel.catalogue import Catalogue
from mainstay.kernel.perform import Performer
from mainstay.serve_command import prepare_shared_files
from mainstay.server_app import open_app
from mainstay.settings import Settings
from mainstay.values.moments import Clock, system_clock
from mainstay.worker.worker_process import run_dispatcher
from mainstay.worker_command import open_dispatcher, open_worker
from support.servers import RunningServer, link_template_cache

_TIMEOUT_SECONDS = 60.0


@dataclass
class InProcessServer(RunningServer):
    """A server without processes of its own."""

    app: HttpApp
    loop: asyncio.AbstractEventLoop

    def client(self) -> httpx2.Client:
        """Make a client whose requests go straight to the HTTP app."""
        return httpx2.Client(transport=_InProcessTransport(self.app, self.loop), trust_env=False)

    def async_transport(self) -> httpx2.AsyncBaseTransport:
        """Make a transport for asynchronous clients, whose requests go straight to the HTTP app."""
        return _AsyncTransport(_InProcessTransport(self.app, self.loop))


@contextmanager
def run_in_process(
    settings: Settings,
    clock: Clock = system_clock,
    catalogue: Catalogue = CATALOGUE,
    *,
    with_worker: bool = True,
    performer: Performer | None = None,
    open_web: Callable[[], WebhookClient] = open_document_client,
) -> Iterator[InProcessServer]:
    """Serve these settings in this process until the block ends.

    The catalogue can be a larger one, the worker can be left out, and the performer can be one that is open already.
    `open_web` opens the client that fetches the documents of apps.
    """
    link_template_cache(DataFolder(settings.data))
    prepare_shared_files(settings)
    worker = _run_worker(settings, open_performer(settings, clock)) if with_worker else nullcontext()
    with _run_loop_in_thread() as loop, worker:
        # The app closes its performer when it stops.
        performer = replace(performer or open_performer(settings, clock), catalogue=catalogue)
        app = open_app(settings, performer, slot=0, open_web=open_web)
        _run_in_loop(app.start(), loop)
        try:
            yield InProcessServer(settings, app, loop)
        finally:
            _run_in_loop(app.stop(), loop)


@contextmanager
def _run_loop_in_thread() -> Iterator[asyncio.AbstractEventLoop]:
    started: Future[asyncio.AbstractEventLoop] = Future()

    def run() -> None:
        # Closed in this thread as well: a browser may have a loop of its own running in the main one.
        with asyncio.Runner() as runner:
            started.set_result(runner.get_loop())
            runner.get_loop().run_forever()

    thread = threading.Thread(target=run)
    thread.start()
    loop = started.result(_TIMEOUT_SECONDS)
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


@contextmanager
def _run_worker(settings: Settings, performer: Performer) -> Iterator[None]:
    """Run the worker and the dispatcher, as the worker process of the server does."""
    worker_socket = DataFolder(settings.data).worker_socket
    worker, dispatcher, stopping = (
        open_worker(settings, performer),
        open_dispatcher(settings, performer),
        threading.Event(),
    )

    def work(wakeups: WakeupListener) -> None:
        with wakeups, run_dispatcher(dispatcher, stopping):
            worker.run(wakeups, stopping, dispatcher.wake)

    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(work, WakeupListener.listen(worker_socket))
        try:
            yield
        finally:
            stopping.set()
            WakeupSender(worker_socket).wake()
            running.result(_TIMEOUT_SECONDS)
            performer.database.close()


def _run_in_loop(awaitable: Awaitable[None], loop: asyncio.AbstractEventLoop) -> None:
    async def wait_for_it() -> None:
        await awaitable

    asyncio.run_coroutine_threadsafe(wait_for_it(), loop).result(_TIMEOUT_SECONDS)


class _InProcessTransport(httpx2.BaseTransport):
    """Hands requests of a client to the HTTP app."""

    def __init__(self, app: HttpApp, loop: asyncio.AbstractEventLoop) -> None:
        self._app = app
        self._loop = loop

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Have the app answer a request."""
        protocol = _RsgiProtocol([*cast("httpx2.SyncByteStream", request.stream)])
        scope = cast("Scope", _RequestScope(request))
        _run_in_loop(self._app.__rsgi__(scope, cast("HTTPProtocol", protocol)), self._loop)
        assert protocol.answer, "the front did not answer"
        return protocol.answer


class _AsyncTransport(httpx2.AsyncBaseTransport):
    """Hands requests of an asynchronous client to the HTTP app, which has a loop of its own."""

    def __init__(self, transport: _InProcessTransport) -> None:
        self._transport = transport

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Have the app answer a request."""
        return await asyncio.to_thread(self._transport.handle_request, request)


class _RequestScope:
    """A request's head as the server hands it over."""

    proto = "http"
    http_version = "1.1"
    rsgi_version = "1.5"
    scheme = "http"
    authority = None
    client = "127.0.0.1:50000"

    def __init__(self, request: httpx2.Request) -> None:
        path, _, query = request.url.raw_path.decode("ascii").partition("?")
        self.server = request.url.netloc.decode("ascii")
        self.method = request.method
        self.path = unquote(path)
        self.query_string = query
        self.headers = RequestHeaders(request.headers.raw)


class RequestHeaders:
    """Headers by names in lower case; a value that is not visible ASCII is counted as present, but not returned."""

    def __init__(self, lines: Sequence[tuple[bytes, bytes]]) -> None:
        self._lines = [(name.decode("ascii").lower(), value.strip(b" \t")) for name, value in lines]

    def items(self) -> list[tuple[str, str]]:
        """The name and the value of every line with such a value."""
        return [(name, value.decode("ascii")) for name, value in self._lines if _is_visible_ascii(value)]

    def keys(self) -> list[str]:
        """Each name once."""
        return [*dict.fromkeys(name for name, _ in self._lines)]


def _is_visible_ascii(value: bytes) -> bool:
    return all(byte == ord("\t") or ord(" ") <= byte < 0x7F for byte in value)


class _RsgiProtocol:
    """A request's body on its way in, and the answer on its way out."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts
        self._is_read = False
        self.answer: httpx2.Response | None = None

    async def __call__(self) -> bytes:
        return b"".join([part async for part in self])

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._is_read:
            raise ProtocolClosed
        self._is_read = True
        for part in self._parts:
            yield part

    def response_empty(self, status: int, headers: list[tuple[str, str]]) -> None:
        """Answer without a body."""
        self.answer = httpx2.Response(status, headers=headers)

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Answer with a body."""
        length = [] if status == httpx2.codes.NO_CONTENT else [("content-length", str(len(body)))]
        self.answer = httpx2.Response(status, headers=[*headers, *length], content=body)

    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> "_StreamTransport":
        """Answer with a body that is sent piece by piece; it is whole when the request ends."""
        transport = _StreamTransport()
        self.answer = httpx2.Response(status, headers=headers, stream=transport)
        return transport

    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
        """Answer with the content of a file; 404 if there is none, as the real server does."""
        path = Path(file)
        if path.is_file():
            self.answer = httpx2.Response(status, headers=headers, content=path.read_bytes())
        else:
            self.answer = httpx2.Response(httpx2.codes.NOT_FOUND, content=b"Not found")


class _StreamTransport(httpx2.SyncByteStream):
    """The pieces of a streamed body, which are read after its end."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    async def send_bytes(self, piece: bytes) -> None:
        """Send a piece."""
        self._pieces.append(piece)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces)
