"""A listener of its own for Prometheus, so that metrics are never open to those who use the product."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mainstay.backing.exposition import CONTENT_TYPE
from mainstay.settings import WrongSetting

# Whoever is asked to end waits for it no longer than this.
_GLANCE_SECONDS = 0.1


def check_metrics(address: str | None) -> None:
    """Refuse an address at which nobody could listen, before anything is started that would try again and again."""
    if address is not None:
        _listen(address, BaseHTTPRequestHandler).server_close()


@contextmanager
def metrics_listener(address: str | None, text: Callable[[], str]) -> Iterator[None]:
    """Answer `GET /metrics` at HOST:PORT meanwhile; without an address, nothing."""
    if address is None:
        yield
        return

    class Metrics(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            """The one page there is."""
            found = self.path == "/metrics"
            body = text().encode() if found else b""
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Scrapes are not worth a line."""

    with _listen(address, Metrics) as server:
        threading.Thread(target=server.serve_forever, args=[_GLANCE_SECONDS], daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


def _listen(address: str, handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    host, _, port = address.rpartition(":")

    class Listener(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

    try:
        return Listener((host.strip("[]"), int(port)), handler)
    except OSError as fault:
        raise WrongSetting(f"MAINSTAY_METRICS cannot be {address}: {fault.strerror}.") from None
