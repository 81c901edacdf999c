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
        """Answer this."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Answer with this handler until the block ends; the address where it does."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        # It looks so often whether it is to end.
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
