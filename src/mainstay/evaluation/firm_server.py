"""Serves the tools of a firm to agents outside this process."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from granian.constants import HTTPModes, Interfaces
from granian.server.embed import Server

from mainstay.doors.http import HttpApp
from mainstay.kernel.perform import Performer
from mainstay.serve_command import check_port
from mainstay.server_app import open_app
from mainstay.settings import Settings

_START_SECONDS = 30.0


@contextmanager
def serve_firm(settings: Settings, performer: Performer) -> Iterator[None]:
    """Serve all doors in this process until the block ends, so that every call can be noted; closes the performer."""
    check_port(settings)
    app = open_app(settings, performer, slot=0)
    started: Future[Callable[[], None]] = Future()
    thread = threading.Thread(target=_run_server, args=[app, settings, started])
    thread.start()
    try:
        stop = started.result(_START_SECONDS)
        try:
            yield
        finally:
            stop()
    finally:
        thread.join()


def _run_server(app: HttpApp, settings: Settings, started: "Future[Callable[[], None]]") -> None:
    try:
        asyncio.run(_serve(app, settings, started))
    except Exception as error:
        if started.done():
            raise
        started.set_exception(error)


async def _serve(app: HttpApp, settings: Settings, started: "Future[Callable[[], None]]") -> None:
    loop = asyncio.get_running_loop()
    server = Server(
        # Only its handler: the application is started and stopped here, because the loop runs already.
        app.__rsgi__,
        address=settings.host,
        port=settings.port,
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        websockets=False,
        log_enabled=False,
    )

    def stop() -> None:
        loop.call_soon_threadsafe(server.stop)

    await app.start()
    try:
        server.on_startup(lambda: started.set_result(stop))
        await server.serve()
    finally:
        await app.stop()
