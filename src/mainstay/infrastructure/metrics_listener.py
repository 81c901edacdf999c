"""A separate listener for Prometheus, so that users of the product never have access to metrics."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mainstay.infrastructure.metrics import CONTENT_TYPE
from mainstay.settings import SettingError

# Shutting down takes no longer than this.
_POLL_SECONDS = 0.1


def check_metrics_address(address: str | None) -> None:
    """Refuse an address that cannot be listened on, before anything starts that would retry forever."""
    if address is not None:
        _open_listener(address, BaseHTTPRequestHandler).server_close()


@contextmanager
def serve_metrics(address: str | None, text: Callable[[], str]) -> Iterator[None]:
    """Serve `GET /metrics` at HOST:PORT while the enclosed code runs; without an address, do nothing."""
    if address is None:
        yield
        return

    class Metrics(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            """Answer with the metrics, or 404 for another path."""
            found = self.path == "/metrics"
            body = text().encode() if found else b""
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing: scrapes are frequent."""

    with _open_listener(address, Metrics) as server:
        threading.Thread(target=server.serve_forever, args=[_POLL_SECONDS], daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


def _open_listener(address: str, handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    host, _, port = address.rpartition(":")

    class Listener(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

    try:
        return Listener((host.strip("[]"), int(port)), handler)
    except OSError as error:
        raise SettingError(f"MAINSTAY_METRICS cannot be {address}: {error.strerror}.") from None
