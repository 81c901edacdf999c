"""A listener of its own for Prometheus, so that metrics are never open to those who use the product."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mainstay.backing.exposition import CONTENT_TYPE


@contextmanager
def metrics_listener(address: str | None, text: Callable[[], str]) -> Iterator[None]:
    """Answer `GET /metrics` at HOST:PORT meanwhile; without an address, nothing."""
    if address is None:
        yield
        return
    host, _, port = address.rpartition(":")

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

    with ThreadingHTTPServer((host, int(port)), Metrics) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
