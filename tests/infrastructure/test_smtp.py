"""Connections to the mail server: one for several emails, and none that spoils, loses or doubles one."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from mainstay.infrastructure import smtp
from mainstay.infrastructure.email_sending import EmailNotSent, EmailUndeliverable, OutgoingEmail, SmtpTransport
from support.mail_server import MailController
from support.waiting import wait_until

SENDER = "Mainstay <office@example.org>"
NOBODY = "nobody@example.com"


@dataclass
class WatchedMailServer:
    """A real mail server that notes which email came on which connection, and may behave badly."""

    port: int
    # For each email that was taken: to whom, and the port of the connection.
    taken: list[tuple[str, int]] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    # Closes the connection when an email was taken, or takes no second one on it, or closes it without an answer.
    drops: bool = False
    takes_one: bool = False
    dies: bool = False

    @property
    def connections(self) -> int:
        return len({port for _, port in self.taken})

    async def handle_MAIL(
        self, _server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.takes_one and _port_of(session) in {port for _, port in self.taken}:
            return "421 Too many messages on this connection"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if address == NOBODY:
            return "550 5.1.1 No such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if b"refuse" in (envelope.original_content or b""):
            return "554 No thanks"
        self.taken += [(to, _port_of(session)) for to in envelope.rcpt_tos]
        transport = server.transport
        assert isinstance(transport, asyncio.Transport)
        if self.dies:
            transport.abort()
        if self.drops:
            # After the answer was written.
            asyncio.get_running_loop().call_soon(transport.close)
        return "250 OK"

    async def handle_QUIT(self, _server: SMTP, session: Session, _envelope: Envelope) -> str:
        self.ended.append(_port_of(session))
        return "221 Bye"


def _port_of(session: Session) -> int:
    """Which connection it is."""
    peer: object = session.peer
    assert isinstance(peer, tuple)
    return int(peer[1])


@contextmanager
def run_watched_server(
    *, drops: bool = False, takes_one: bool = False
) -> Iterator[tuple[WatchedMailServer, SmtpTransport]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = WatchedMailServer(free.getsockname()[1], drops=drops, takes_one=takes_one)
    controller = MailController(server, port=server.port)
    controller.start()
    post = SmtpTransport(f"smtp://127.0.0.1:{server.port}", SENDER)
    try:
        yield server, post
    finally:
        post.close()
        controller.close_and_stop()


def make_mail(number: int, to: str | None = None, text: str = "Hello") -> OutgoingEmail:
    return OutgoingEmail(f"msg_{number}", to or f"kim{number}@example.com", "Hello", text)


def test_emails_that_follow_each_other_share_a_connection() -> None:
    with run_watched_server() as (server, post):
        for number in range(10):
            post.send(make_mail(number))
    assert [to for to, _ in server.taken] == [f"kim{number}@example.com" for number in range(10)]
    assert server.connections == 1


def test_threads_that_send_at_once_have_a_connection_each_and_no_more() -> None:
    with run_watched_server() as (server, post), ThreadPoolExecutor(4) as threads:
        for sent in [threads.submit(post.send, make_mail(number)) for number in range(40)]:
            sent.result()
    assert len({to for to, _ in server.taken}) == len(server.taken) == 40
    assert server.connections <= 4


@pytest.mark.parametrize("drops", [True, False])
def test_a_connection_that_the_server_is_done_with_is_replaced_and_no_email_is_lost_or_doubled(*, drops: bool) -> None:
    with run_watched_server(drops=drops, takes_one=not drops) as (server, post):
        for number in range(4):
            post.send(make_mail(number))
    assert [to for to, _ in server.taken] == [f"kim{number}@example.com" for number in range(4)]
    assert server.connections == 4


def test_a_refused_recipient_does_not_spoil_the_next_email() -> None:
    with run_watched_server() as (server, post):
        post.send(make_mail(0))
        with pytest.raises(EmailUndeliverable, match="This email address does not exist"):
            post.send(make_mail(1, to=NOBODY))
        post.send(make_mail(2))
    assert [to for to, _ in server.taken] == ["kim0@example.com", "kim2@example.com"]
    assert server.connections == 1


def test_refused_content_does_not_spoil_the_next_email() -> None:
    with run_watched_server() as (server, post):
        with pytest.raises(EmailNotSent, match="No thanks"):
            post.send(make_mail(1, text="refuse"))
        post.send(make_mail(2))
    assert [to for to, _ in server.taken] == ["kim2@example.com"]


def test_an_email_that_may_have_been_taken_is_not_sent_twice() -> None:
    with run_watched_server() as (server, post):
        post.send(make_mail(0))
        server.dies = True
        with pytest.raises(EmailNotSent):
            post.send(make_mail(1))
        server.dies = False
        post.send(make_mail(2))
    assert [to for to, _ in server.taken] == ["kim0@example.com", "kim1@example.com", "kim2@example.com"]


def test_a_connection_that_nobody_uses_is_closed_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp, "IDLE_SECONDS", 0.01)
    with run_watched_server() as (server, post):
        post.send(make_mail(0))
        wait_until(lambda: server.ended)
        post.send(make_mail(1))
        wait_until(lambda: len(server.ended) == 2)
    assert server.connections == 2


def test_a_server_that_says_nothing_is_not_waited_for_longer_than_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp, "ANSWER_TIMEOUT_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        post = SmtpTransport(f"smtp://127.0.0.1:{silent.getsockname()[1]}", SENDER)
        with pytest.raises(EmailNotSent, match="timed out"):
            post.send(make_mail(0))


def test_a_server_that_falls_silent_on_an_open_connection_gets_the_email_on_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(smtp, "ANSWER_TIMEOUT_SECONDS", 0.3)
    lines: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as silent_server:

        def serve() -> None:
            """Take one email on each connection, and say nothing more on it."""
            opened = []
            for _ in range(2):
                connection, _ = silent_server.accept()
                opened.append(connection)
                with connection.makefile("rwb", buffering=0) as stream:
                    stream.write(b"220 here\r\n")
                    content = False
                    while line := stream.readline():
                        lines.append(line)
                        content = content or line.upper().startswith(b"DATA")
                        if line == b".\r\n":
                            stream.write(b"250 OK\r\n")
                            break
                        if line.upper().startswith(b"DATA"):
                            stream.write(b"354 go on\r\n")
                        elif not content:
                            stream.write(b"250 OK\r\n")
            for connection in opened:
                connection.close()

        server = threading.Thread(target=serve)
        server.start()
        post = SmtpTransport(f"smtp://127.0.0.1:{silent_server.getsockname()[1]}", SENDER)
        post.send(make_mail(0))
        post.send(make_mail(1))
        server.join()
        post.close()
    assert [line for line in lines if line.lower().startswith(b"rcpt")] == [
        b"rcpt TO:<kim0@example.com>\r\n",
        b"rcpt TO:<kim1@example.com>\r\n",
    ]
