"""A mail server and a webhook receiver, each a process of its own that reports what arrives and when."""

import asyncio
import logging
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from threading import Condition, Lock, Thread
from time import monotonic
from types import SimpleNamespace

from aiosmtpd.smtp import SMTP, Envelope, Session
from bench.neighbours.processes import CONTEXT, run_child_process

# Customers of busy firms have their mailboxes here, and only their mail server is slow.
SLOW_DOMAIN = "slow.example"


class ReceiverReports:
    """What a receiver has received, and when."""

    def __init__(self, port: int, reports: Connection) -> None:
        self.port = port
        self._reports = reports
        self._received: list[tuple[float, str]] = []
        self._changed = Condition()
        Thread(target=self._listen, daemon=True).start()

    def clear(self) -> None:
        """Drop what has arrived so far."""
        with self._changed:
            self._received.clear()

    def wait_for(self, text: str, seconds: float) -> float:
        """Wait for something with this text in it; return when it arrived."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._find(text), seconds):
                raise TimeoutError
            return float(self._find(text) or 0)

    def _find(self, text: str) -> float | None:
        return next((at for at, received in self._received if text in received), None)

    def _listen(self) -> None:
        with suppress(EOFError):
            while True:
                report = self._reports.recv()
                with self._changed:
                    self._received.append(report)
                    self._changed.notify_all()


class MailServerReports(ReceiverReports):
    """The mail server; mails to the slow domain are only counted."""

    def __init__(
        self, port: int, reports: Connection, slow_seconds: "Synchronized[float]", slow_count: "Synchronized[int]"
    ) -> None:
        super().__init__(port, reports)
        self.slow_seconds, self.slow_count = slow_seconds, slow_count


@contextmanager
def run_mail_server() -> Iterator[MailServerReports]:
    """Run the mail server until the block ends."""
    mine, theirs = CONTEXT.Pipe(duplex=False)
    slow_seconds, slow_count = CONTEXT.Value("d", 0.0, lock=False), CONTEXT.Value("i", 0, lock=False)
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        run_child_process(_receive_mails, listening, theirs, slow_seconds, slow_count),
    ):
        # Only the process that sends reports has that end now, so that it ends with the process.
        theirs.close()
        yield MailServerReports(int(listening.getsockname()[1]), mine, slow_seconds, slow_count)


@contextmanager
def run_webhook_receiver() -> Iterator[ReceiverReports]:
    """Run the receiver of webhooks until the block ends."""
    mine, theirs = CONTEXT.Pipe(duplex=False)
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server,
        run_child_process(_receive_webhooks, server, theirs),
    ):
        theirs.close()
        yield ReceiverReports(server.server_port, mine)


class _Mailbox:
    def __init__(
        self, reports: Connection, slow_seconds: "Synchronized[float]", slow_count: "Synchronized[int]"
    ) -> None:
        self._reports, self._slow_seconds, self._slow_count = reports, slow_seconds, slow_count

    async def receive(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:
        """Take an email, at once or slowly."""
        recipients = " ".join(envelope.rcpt_tos)
        if recipients.endswith(SLOW_DOMAIN):
            await asyncio.sleep(self._slow_seconds.value)
            self._slow_count.value += 1
        else:
            self._reports.send((monotonic(), recipients))
        return "250 OK"


def _receive_mails(
    listening: socket.socket,
    reports: Connection,
    slow_seconds: "Synchronized[float]",
    slow_count: "Synchronized[int]",
) -> None:
    # What aiosmtpd says of a client that was killed tells nothing about the measurement.
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    mailbox = SimpleNamespace(handle_DATA=_Mailbox(reports, slow_seconds, slow_count).receive)

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: SMTP(mailbox, hostname="127.0.0.1"), sock=listening)
        await server.serve_forever()

    asyncio.run(serve())


def _receive_webhooks(server: ThreadingHTTPServer, reports: Connection) -> None:
    lock = Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # the standard library names it
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                reports.send((monotonic(), body.decode()))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server.RequestHandlerClass = Handler
    server.serve_forever()
