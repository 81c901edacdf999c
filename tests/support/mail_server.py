"""A real mail server that accepts everything; signing in needs the right password."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


class MailController(Controller):
    """Runs a mail server in a thread; connections that clients keep open are closed when it stops."""

    _LOOP_TURNS = 5

    def __init__(self, handler: object, **given: Any) -> None:
        super().__init__(handler, hostname="127.0.0.1", **given)
        self._connections: list[SMTP] = []

    def factory(self) -> SMTP:
        served = SMTP(self.handler, **self.SMTP_kwargs)
        self._connections.append(served)
        return served

    def close_and_stop(self) -> None:
        """Close what is open, and stop."""
        asyncio.run_coroutine_threadsafe(self._close_connections(), self.loop).result()
        self.stop()

    async def _close_connections(self) -> None:
        for served in self._connections:
            if isinstance(served.transport, asyncio.Transport):
                served.transport.abort()
        # Until the loop has seen them end.
        for _ in range(self._LOOP_TURNS):
            await asyncio.sleep(0)


@dataclass
class MailServer:
    """The port of a mail server, and the emails that arrived."""

    port: int = 0
    password: str | None = None
    emails: list[Message] = field(default_factory=list)

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:
        self.emails.append(message_from_bytes(envelope.original_content or b"", policy=default))
        return "250 OK"

    def authenticate(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _how: str, data: object
    ) -> AuthResult:
        right = isinstance(data, LoginPassword) and data.password.decode() == self.password
        return AuthResult(success=right, handled=right)


@contextmanager
def run_mail_server(password: str | None = None) -> Iterator[MailServer]:
    """Run a mail server until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        mail_server = MailServer(free.getsockname()[1], password)
    controller = MailController(
        mail_server, port=mail_server.port, authenticator=mail_server.authenticate, auth_require_tls=False
    )
    controller.start()
    try:
        yield mail_server
    finally:
        controller.close_and_stop()
