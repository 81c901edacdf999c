import socket
import ssl
import stat
import threading
from collections.abc import Iterator
from email import message_from_bytes
from email.message import EmailMessage
from email.message import Message as PlainMessage
from email.policy import default
from pathlib import Path
from typing import Protocol

import pytest
from aiosmtpd.handlers import Message as Received
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from mainstay.infrastructure.email_sending import (
    EmailNotSent,
    EmailUndeliverable,
    FolderTransport,
    OutgoingEmail,
    SmtpTransport,
    create_email_transport,
)
from support.mail_server import MailController

SENDER = "Maier & Söhne <office@example.org>"
MAIL = OutgoingEmail(
    "msg_1", "anna@example.com", "Ihr Angebot für März", "Grüße aus Köln.\n.\nFrom here, a dot stood alone.\n"
)


class Inbox(Received):
    """Keeps the mails that arrive, with what their session was like."""

    def __init__(self) -> None:
        super().__init__(EmailMessage)
        self.mails: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.encrypted: list[bool] = []
        self.users: list[str] = []
        self.options: list[list[str]] = []
        self.answer = "250 OK"

    async def handle_RCPT(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if self.answer.startswith("250"):
            envelope.rcpt_tos.append(address)
            self.options.append([option for option in envelope.mail_options if not option.startswith("SIZE=")])
        return self.answer

    def prepare_message(self, session: Session, envelope: Envelope) -> EmailMessage:
        mail = message_from_bytes(envelope.original_content or b"", policy=default)
        assert isinstance(mail, EmailMessage)
        self.recipients += envelope.rcpt_tos
        self.encrypted.append(session.ssl is not None)
        return mail

    def handle_message(self, message: PlainMessage) -> None:
        assert isinstance(message, EmailMessage)
        self.mails.append(message)

    def authenticate(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _how: str, data: object
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.users.append(data.login.decode())
        right = data.password == b"p@ss word"
        return AuthResult(success=right, handled=right)  # what is not handled, aiosmtpd answers


class StartMailServer(Protocol):
    def __call__(
        self,
        *,
        starttls: ssl.SSLContext | None = None,
        tls: ssl.SSLContext | None = None,
        login: bool = False,
        utf8: bool = True,
    ) -> tuple[Inbox, int]: ...


@pytest.fixture
def start_mail_server() -> Iterator[StartMailServer]:
    """Starts real mail servers and gives for each its inbox and port."""
    controllers: list[MailController] = []

    def start(
        *,
        starttls: ssl.SSLContext | None = None,
        tls: ssl.SSLContext | None = None,
        login: bool = False,
        utf8: bool = True,
    ) -> tuple[Inbox, int]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        inbox = Inbox()
        controller = MailController(
            inbox,
            enable_SMTPUTF8=utf8,
            port=port,
            ssl_context=tls,
            tls_context=starttls,
            authenticator=inbox.authenticate,
            auth_required=login,
            auth_require_tls=False,
        )
        controllers.append(controller)
        controller.start()
        return inbox, port

    yield start
    for controller in controllers:
        controller.close_and_stop()


@pytest.fixture
def certificate() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(Path(__file__).with_name("mail_test_certificate.pem"))
    return context


def test_a_mail_arrives_with_its_umlauts(start_mail_server: StartMailServer) -> None:
    inbox, port = start_mail_server()

    SmtpTransport(f"smtp://127.0.0.1:{port}", SENDER).send(MAIL)

    [mail] = inbox.mails
    assert mail["Subject"] == "Ihr Angebot für März"
    assert mail["To"] == "anna@example.com"
    assert mail["From"] == SENDER
    assert mail["Date"].datetime.tzinfo is not None
    assert mail.get_content().replace("\r\n", "\n") == MAIL.text
    assert inbox.recipients == ["anna@example.com"]
    assert mail.as_bytes().isascii()


def test_an_address_with_umlauts_in_its_domain_is_reached(start_mail_server: StartMailServer) -> None:
    inbox, port = start_mail_server()

    SmtpTransport(f"smtp://127.0.0.1:{port}", SENDER).send(OutgoingEmail("msg_2", "info@müller.de", "Hallo", "Grüße"))

    # By its A-labels, which every server takes: nothing is asked of this one.
    assert inbox.recipients == ["info@xn--mller-kva.de"]
    assert inbox.mails[0]["To"] == "info@xn--mller-kva.de"
    assert inbox.options == [[]]


def test_an_address_is_mailed_to_as_it_was_given(start_mail_server: StartMailServer) -> None:
    inbox, port = start_mail_server()

    SmtpTransport(f"smtp://127.0.0.1:{port}", SENDER).send(
        OutgoingEmail("msg_2", "Zoë.K@straße.example", "Hallo", "Grüße")
    )

    assert inbox.recipients == ["Zoë.K@xn--strae-oqa.example"]
    assert inbox.mails[0]["To"] == "Zoë.K@xn--strae-oqa.example"
    assert inbox.options == [["SMTPUTF8", "BODY=8BITMIME"]]


def test_letters_before_the_at_that_the_server_does_not_take_are_undeliverable(
    start_mail_server: StartMailServer,
) -> None:
    inbox, port = start_mail_server(utf8=False)
    post = SmtpTransport(f"smtp://127.0.0.1:{port}", SENDER)

    with pytest.raises(EmailUndeliverable, match="accepts only the letters a to z before the @ of an address"):
        post.send(OutgoingEmail("msg_2", "zoë@example.com", "Hallo", "Grüße"))
    post.send(OutgoingEmail("msg_3", "zoe@bücher.example", "Hallo", "Grüße"))

    assert inbox.recipients == ["zoe@xn--bcher-kva.example"]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("550 5.1.1 No such mailbox", EmailUndeliverable),
        ("553 Mailbox name not allowed", EmailUndeliverable),
        ("550 5.7.1 Relaying denied", EmailNotSent),
        ("450 4.2.1 Come again later", EmailNotSent),
        ("552 Mailbox full", EmailNotSent),
    ],
)
def test_a_mailbox_that_is_not_there_is_undeliverable_and_what_can_be_mended_is_not(
    start_mail_server: StartMailServer, answer: str, problem: type[Exception]
) -> None:
    inbox, port = start_mail_server()
    inbox.answer = answer

    with pytest.raises(problem, match=f"127.0.0.1:{port} did not accept the email: {answer}"):
        SmtpTransport(f"smtp://127.0.0.1:{port}", SENDER).send(MAIL)

    assert inbox.mails == []


def test_a_repeated_mail_is_recognised_by_its_message_id(start_mail_server: StartMailServer) -> None:
    inbox, port = start_mail_server()
    post = SmtpTransport(f"smtp://127.0.0.1:{port}", SENDER)

    post.send(MAIL)
    post.send(MAIL)

    assert [mail["Message-ID"] for mail in inbox.mails] == ["<msg_1@example.org>"] * 2


def test_tls_is_used_when_it_is_offered(start_mail_server: StartMailServer, certificate: ssl.SSLContext) -> None:
    inbox, port = start_mail_server(starttls=certificate)

    SmtpTransport(f"smtp://127.0.0.1:{port}", SENDER).send(MAIL)

    assert inbox.encrypted == [True]


def test_smtps_is_encrypted_from_the_first_byte(
    start_mail_server: StartMailServer, certificate: ssl.SSLContext
) -> None:
    inbox, port = start_mail_server(tls=certificate)

    SmtpTransport(f"smtps://127.0.0.1:{port}", SENDER).send(MAIL)

    assert len(inbox.mails) == 1


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_a_server_elsewhere_must_prove_who_it_is(
    start_mail_server: StartMailServer, certificate: ssl.SSLContext, scheme: str
) -> None:
    inbox, port = start_mail_server(starttls=certificate) if scheme == "smtp" else start_mail_server(tls=certificate)

    with pytest.raises(EmailNotSent, match="certificate verify failed"):
        SmtpTransport(f"{scheme}://0.0.0.0:{port}", SENDER).send(MAIL)

    assert inbox.mails == []


# aiosmtpd warns of what these tests are about: to sign in without TLS.
ignore_unencrypted_login = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS:UserWarning")


@ignore_unencrypted_login
def test_the_user_of_the_address_signs_in(start_mail_server: StartMailServer) -> None:
    inbox, port = start_mail_server(login=True)

    SmtpTransport(f"smtp://us%2Fer:p%40ss%20word@127.0.0.1:{port}", SENDER).send(MAIL)

    assert inbox.users == ["us/er"]
    assert len(inbox.mails) == 1


@ignore_unencrypted_login
def test_a_wrong_password_is_a_mail_not_sent_that_does_not_tell_the_password(
    start_mail_server: StartMailServer,
) -> None:
    inbox, port = start_mail_server(login=True)

    with pytest.raises(EmailNotSent) as caught:
        SmtpTransport(f"smtp://user:hunter2@127.0.0.1:{port}", SENDER).send(MAIL)

    assert inbox.mails == []
    assert "hunter2" not in str(caught.value)


@ignore_unencrypted_login
def test_no_password_goes_to_a_server_elsewhere_without_tls(start_mail_server: StartMailServer) -> None:
    inbox, port = start_mail_server(login=True)

    with pytest.raises(EmailNotSent, match="does not support TLS, and the password is never sent unencrypted"):
        SmtpTransport(f"smtp://user:p%40ss%20word@0.0.0.0:{port}", SENDER).send(MAIL)

    assert inbox.users == []


def test_a_server_that_is_away_is_a_mail_not_sent() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]

        with pytest.raises(EmailNotSent, match=rf"127\.0\.0\.1:{port} did not accept the email") as caught:
            SmtpTransport(f"smtp://127.0.0.1:{port}", SENDER).send(MAIL)

    assert isinstance(caught.value.__cause__, ConnectionRefusedError)


def test_a_server_that_hangs_up_is_a_mail_not_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as rude:

        def hang_up() -> None:
            connection, _ = rude.accept()
            connection.close()

        server = threading.Thread(target=hang_up)
        server.start()

        with pytest.raises(EmailNotSent, match="did not accept the email"):
            SmtpTransport(f"smtp://127.0.0.1:{rude.getsockname()[1]}", SENDER).send(MAIL)

        server.join()


INJECTIONS = ["\r\nBcc: thief@example.net", "\nBcc: thief@example.net", "\r", "\x00", "\x0b", "\x1c", "\x7f", "\x85"]


@pytest.mark.parametrize("injected", [*INJECTIONS, "\u2028", "\u2029", "\ud800"])
def test_control_characters_in_recipient_or_subject_are_refused(tmp_path: Path, injected: str) -> None:
    post = FolderTransport(tmp_path, SENDER)

    with pytest.raises(EmailUndeliverable, match="control characters"):
        post.send(OutgoingEmail("msg_1", "anna@example.com", f"Offer{injected}", "Hello"))
    problem = "has more than one @" if "@" in injected else "contains a control character or special space"
    with pytest.raises(EmailUndeliverable, match=f"not an email address: it {problem}"):
        post.send(OutgoingEmail("msg_1", f"anna@example.com{injected}", "Offer", "Hello"))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "to",
    [
        *(
            "",
            "anna",
            "@example.com",
            "anna@",
            "a@b.com, c@d.com",
            "Anna <a@b.com>",
            "a@b.com>",
            " a@b.com",
            "a b@c.de",
        ),
        *("a..b@c.de", "a@c.de.", "a@my_server.de", "a@" + "b" * 2000),
    ],
)
def test_a_recipient_is_exactly_one_address(tmp_path: Path, to: str) -> None:
    with pytest.raises(EmailUndeliverable, match="not an email address"):
        FolderTransport(tmp_path, SENDER).send(OutgoingEmail("msg_1", to, "Offer", "Hello"))


@pytest.mark.parametrize("record_id", ["", "../msg", "a/b", "msg.1", "msg\n", "a>b", "ü"])
def test_an_id_can_neither_leave_the_folder_nor_break_a_header(tmp_path: Path, record_id: str) -> None:
    with pytest.raises(ValueError, match="ID of an email has only"):
        FolderTransport(tmp_path, SENDER).send(OutgoingEmail(record_id, "anna@example.com", "Offer", "Hello"))


def test_the_folder_keeps_each_mail_once_and_private(tmp_path: Path) -> None:
    post = FolderTransport(tmp_path / "data" / "outbox", SENDER)

    post.send(MAIL)
    post.send(MAIL)

    [file] = (tmp_path / "data" / "outbox").iterdir()
    mail = message_from_bytes(file.read_bytes(), policy=default)
    assert isinstance(mail, EmailMessage)
    assert file.name == "msg_1.eml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert (mail["Subject"], mail["Message-ID"]) == ("Ihr Angebot für März", "<msg_1@example.org>")
    assert mail.get_content().replace("\r\n", "\n") == MAIL.text


def test_the_log_tells_of_each_mail_that_nobody_gets_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    FolderTransport(tmp_path, SENDER).send(MAIL)

    [line] = capsys.readouterr().err.splitlines()
    assert '"event":"mail put into the folder"' in line
    assert '"mail":"msg_1"' in line


def test_a_folder_that_cannot_be_written_is_a_mail_not_sent(tmp_path: Path) -> None:
    (tmp_path / "outbox").write_text("a file, not a folder")

    with pytest.raises(EmailNotSent, match="could not be written"):
        FolderTransport(tmp_path / "outbox", SENDER).send(MAIL)


def test_the_post_is_the_folder_unless_there_is_a_server(tmp_path: Path) -> None:
    assert isinstance(create_email_transport(None, tmp_path, SENDER), FolderTransport)
    assert isinstance(create_email_transport("smtp://mail.example.org", tmp_path, SENDER), SmtpTransport)


@pytest.mark.parametrize("url", ["", "mail.example.org", "http://mail.example.org", "smtp://", "smtp://host:port"])
def test_a_wrong_address_of_a_server_is_refused_at_the_start(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError):
        create_email_transport(url, tmp_path, SENDER)


@pytest.mark.parametrize("sender", ["", "nobody", "a@b.com, c@d.com", "Anna <a@b.com\r\nBcc: c@d.com>"])
def test_a_wrong_sender_is_refused_at_the_start(tmp_path: Path, sender: str) -> None:
    with pytest.raises(ValueError):
        create_email_transport(None, tmp_path, sender)
