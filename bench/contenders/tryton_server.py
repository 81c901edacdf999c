"""Serves Tryton with its own application, on the first core. Runs in Tryton's own environment.

`python -m bench.contenders.tryton_server 8001`; where its settings are is told by TRYTOND_CONFIG.
"""

import os
import sys

from trytond.application import app
from werkzeug.serving import WSGIRequestHandler, run_simple


class _KeepAliveHandler(WSGIRequestHandler):
    """Keeps a connection open, as Mainstay does, and writes no line for each request."""

    protocol_version = "HTTP/1.1"

    def log_request(self, *_: object) -> None:
        """Nothing."""


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    run_simple("127.0.0.1", int(sys.argv[1]), app, threaded=True, request_handler=_KeepAliveHandler)


if __name__ == "__main__":
    main()
