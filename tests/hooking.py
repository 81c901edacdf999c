"""An installation that may send to this machine, and a receiver on it."""

import ipaddress
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeVar

from cast import Cast
from mainstay.kernel.perform import Stage
from mainstay.main import open_stage
from mainstay.settings import read_settings
from running import RunningServer, start_server
from telling import make_webhook
from visiting import Visit, words

T = TypeVar("T")

WEBHOOKS, DELIVERIES = "/settings/developer/webhooks", "/settings/developer/deliveries"
HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}'`"

_LOOKS = 3000


@dataclass(frozen=True)
class House:
    """A running server with its stage."""

    server: RunningServer
    stage: Stage


@contextmanager
def open_house(folder: Path, database: str | None) -> Iterator[House]:
    """Serve an installation of its own, whose webhooks may lead to private addresses."""
    # People sign in from several addresses, and the number of attempts from one is limited.
    loopback = (ipaddress.ip_network("127.0.0.1"),)
    settings = replace(
        read_settings({}),
        data=folder,
        database=database,
        workers=2,
        trusted_proxies=loopback,
        webhook_private_addresses="allow",
    )
    stage = open_stage(settings)
    with start_server(settings) as server:
        yield House(server, stage)
    stage.database.close()


@dataclass(frozen=True)
class Delivered:
    """What arrived at the receiver."""

    body: bytes
    headers: dict[str, str]


class Receiver:
    """Takes what is sent to it, and answers as it is told to."""

    def __init__(self) -> None:
        self.status = 200
        self.answer = b"Thanks."
        self.arrived: list[Delivered] = []
        receiver = self

        class Listening(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.arrived.append(Delivered(body, {name.lower(): value for name, value in self.headers.items()}))
                self.send_response(receiver.status)
                self.send_header("Content-Length", str(len(receiver.answer)))
                self.end_headers()
                self.wfile.write(receiver.answer)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Listening)
        self.url = f"http://127.0.0.1:{self._server.server_port}/webhooks"

    @contextmanager
    def listening(self) -> Iterator["Receiver"]:
        """Until the block ends."""
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


def look_until(server: RunningServer, look: Callable[[], T | None]) -> T:
    """Look again and again, with a request between, until there is something to see."""
    for _ in range(_LOOKS):
        if seen := look():
            return seen
        server.request("GET", "/healthz")
    raise AssertionError("nothing came of it")


def address(webhook: str) -> str:
    return f"{WEBHOOKS}/{webhook}"


def quiet_webhook(cast: Cast, **given: object) -> str:
    """A webhook to which nothing is sent: nobody leaves here."""
    return make_webhook(cast, **{"events": ["person.left"]} | given)


def see_list(visiting: Visit, webhook: str, *expected: str) -> str:
    """The list of deliveries, once it says all of this."""

    def look() -> str | None:
        page = words(visiting.get(f"{address(webhook)}/deliveries").text)
        return page if all(text in page for text in expected) else None

    return look_until(visiting.server, look)


def delivery_of(visiting: Visit, webhook: str) -> str:
    """The page of the newest delivery."""
    link = re.search(rf'href="({DELIVERIES}/delivery_\w+)"', visiting.get(f"{address(webhook)}/deliveries").text)
    assert link
    return link[1]
