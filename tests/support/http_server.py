"""A small server in a thread of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """Says nothing on the terminal."""

    def log_message(self, *_: object) -> None:
        pass

    def reply(self, status: int, body: bytes, content_type: str = "text/plain") -> None:
        """Send a response."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def run_http_server(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Run a server with this handler until the block ends; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        # How often it checks whether it is to end.
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
