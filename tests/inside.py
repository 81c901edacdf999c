"""The product's doors within the test's own process: the real front, worker and dispatcher, without a socket between.

What a door sees of a request, and a client of an answer, is what the real server would have handed over. A test holds
the two against each other. What only a server can get wrong (framing, connections, several processes) is not here.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast
from urllib.parse import unquote

import httpx2
from granian.rsgi import HTTPProtocol, ProtocolClosed, Scope

from mainstay.backing.folder import DataFolder
from mainstay.backing.wakeups import Bell, Wakeups
from mainstay.catalogue import CATALOGUE
from mainstay.doors.http import Front
from mainstay.kernel.catalogue import Catalogue
from mainstay.kernel.perform import Stage
from mainstay.main import open_front
from mainstay.serving import prepare
from mainstay.settings import Settings
from mainstay.staging import open_stage
from mainstay.values.moments import Clock, system_clock
from mainstay.worker.process import beside
from mainstay.working import open_dispatcher, open_worker
from running import RunningServer

_PATIENCE_SECONDS = 60.0


@dataclass
class Inside(RunningServer):
    """A server without processes of its own."""

    front: Front
    loop: asyncio.AbstractEventLoop

    def client(self) -> httpx2.Client:
        """A client whose requests go straight to the front."""
        return httpx2.Client(transport=_Passage(self.front, self.loop), trust_env=False)


@contextmanager
def open_inside(
    settings: Settings, clock: Clock = system_clock, catalogue: Catalogue = CATALOGUE, *, working: bool = True
) -> Iterator[Inside]:
    """Serve these settings within this process until the block ends.

    Perhaps with more that its pages can do, and perhaps with no worker beside it.
    """
    prepare(settings)
    worker = _working(settings, open_stage(settings, clock)) if working else nullcontext()
    with _loop_in_a_thread() as loop, worker:
        # The front closes its stage at its end.
        front = open_front(settings, replace(open_stage(settings, clock), catalogue=catalogue), row=0)
        _wait_for(front.start(), loop)
        try:
            yield Inside(settings, front, loop)
        finally:
            _wait_for(front.stop(), loop)


@contextmanager
def _loop_in_a_thread() -> Iterator[asyncio.AbstractEventLoop]:
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        try:
            yield loop
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()


@contextmanager
def _working(settings: Settings, stage: Stage) -> Iterator[None]:
    """Empty the outbox, and send what is due to webhooks, as the process beside the server does."""
    bell = DataFolder(settings.data).bell
    worker, dispatcher, stopping = open_worker(settings, stage), open_dispatcher(settings, stage), threading.Event()

    def work(ear: Wakeups) -> None:
        with ear, beside(dispatcher, stopping):
            worker.run(ear, stopping, dispatcher.wake)

    with ThreadPoolExecutor(1) as thread:
        working = thread.submit(work, Wakeups.listen(bell))
        try:
            yield
        finally:
            stopping.set()
            Bell(bell).ring()
            working.result(_PATIENCE_SECONDS)
            stage.database.close()


def _wait_for(coming: Awaitable[None], loop: asyncio.AbstractEventLoop) -> None:
    async def come() -> None:
        await coming

    asyncio.run_coroutine_threadsafe(come(), loop).result(_PATIENCE_SECONDS)


class _Passage(httpx2.BaseTransport):
    """The way from a client to the front and back."""

    def __init__(self, front: Front, loop: asyncio.AbstractEventLoop) -> None:
        self._front = front
        self._loop = loop

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Ask the front."""
        protocol = _Exchange([*cast("httpx2.SyncByteStream", request.stream)])
        scope = cast("Scope", _Scope(request))
        _wait_for(self._front.__rsgi__(scope, cast("HTTPProtocol", protocol)), self._loop)
        assert protocol.answer, "the front did not answer"
        return protocol.answer


class _Scope:
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
        self.headers = _Headers(request.headers.raw)


class _Headers:
    """Names in lower case, each line by itself; the values that are not visible ASCII are there, but not told."""

    def __init__(self, lines: Sequence[tuple[bytes, bytes]]) -> None:
        self._lines = [(name.decode("ascii").lower(), value.strip(b" \t")) for name, value in lines]

    def get_all(self, name: str) -> list[str]:
        """Every line of this name."""
        return [value.decode("ascii") for known, value in self._lines if known == name and _is_visible(value)]

    def __contains__(self, name: str) -> bool:
        return any(known == name for known, _ in self._lines)


def _is_visible(value: bytes) -> bool:
    return all(byte == ord("\t") or ord(" ") <= byte < 0x7F for byte in value)


class _Exchange:
    """A request's body on its way in, and the answer on its way out."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts
        self._taken = False
        self.answer: httpx2.Response | None = None

    async def __call__(self) -> bytes:
        return b"".join([part async for part in self])

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._taken:
            raise ProtocolClosed
        self._taken = True
        for part in self._parts:
            yield part

    def response_empty(self, status: int, headers: list[tuple[str, str]]) -> None:
        """Answer without a body."""
        self.answer = httpx2.Response(status, headers=headers)

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Answer with a body."""
        length = [] if status == httpx2.codes.NO_CONTENT else [("content-length", str(len(body)))]
        self.answer = httpx2.Response(status, headers=[*headers, *length], content=body)

    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
        """Answer with what is in a file; where there is none, the server says so in words of its own."""
        path = Path(file)
        if path.is_file():
            self.answer = httpx2.Response(status, headers=headers, content=path.read_bytes())
        else:
            self.answer = httpx2.Response(httpx2.codes.NOT_FOUND, content=b"Not found")
