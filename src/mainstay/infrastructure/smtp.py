"""Connections to the mail server: kept open while emails follow each other, and closed soon afterwards."""

import ipaddress
import smtplib
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from urllib.parse import unquote, urlsplit

# How long a connection is kept open for the next email.
IDLE_SECONDS = 5.0
# How long to wait for an answer of the server.
ANSWER_TIMEOUT_SECONDS = 15.0


class AddressNotSupported(Exception):
    """The server does not accept addresses with such letters."""


class SmtpServer:
    """The server of an `smtp://` URL (TLS if offered) or `smtps://` URL (TLS at once), for any number of threads."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError("Write the address of the mail server as smtp://user:password@host:port.")
        self._uses_tls = parts.scheme == "smtps"
        self._host = parts.hostname
        self._port = parts.port or _PORTS[parts.scheme]
        self._user = unquote(parts.username or "")
        self._password = unquote(parts.password or "")
        self._is_local = _is_loopback(self._host)
        # Idle connections, each with the moment since when, and the timer that closes them.
        self._idle: list[tuple[smtplib.SMTP, float]] = []
        self._closing_timer: threading.Timer | None = None
        self._idle_lock = threading.Lock()

    @property
    def name(self) -> str:
        """The server's host and port, as the operator set it."""
        return f"{self._host}:{self._port}"

    def check_sign_in(self) -> None:
        """Sign in as for an email; raise OSError, which includes smtplib's errors, if that fails."""
        self._keep_idle(self._connect())
        self.close()

    def send(self, sender: str, to: str, content: bytes) -> None:
        """Hand over one email to one address.

        Raise SMTPRecipientsRefused if the address is refused, AddressNotSupported, or another OSError. If the content
        was sent and no answer came, the server may have accepted the email: it is not sent again here.
        """
        connection = self._begin_email(sender, to, len(content))
        with self._close_on_error(connection):
            _send_content(connection, content)
        self._keep_idle(connection)

    def close(self) -> None:
        """Close the idle connections."""
        with self._idle_lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            _quit(connection)

    def _begin_email(self, sender: str, to: str, size: int) -> smtplib.SMTP:
        """Send sender and recipient on an idle connection, or else on a new one, and return the connection."""
        if idle := self._take_idle():
            try:
                with self._close_on_error(idle):
                    _send_recipient(idle, sender, to, size)
            except smtplib.SMTPRecipientsRefused:
                raise
            except OSError:
                # The server has closed it in the meantime, or accepts no more emails on it. Nothing was sent yet.
                pass
            else:
                return idle
        fresh = self._connect()
        with self._close_on_error(fresh):
            _send_recipient(fresh, sender, to, size)
        return fresh

    @contextmanager
    def _close_on_error(self, connection: smtplib.SMTP) -> Iterator[None]:
        """Close a connection on which something fails; keep it if only this email was refused."""
        try:
            yield
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, AddressNotSupported):
            self._keep_after_refusal(connection)
            raise
        except BaseException:
            connection.close()
            raise

    def _keep_after_refusal(self, connection: smtplib.SMTP) -> None:
        """Keep a connection after the server has discarded the refused email."""
        try:
            code, _ = connection.rset()
        except OSError:
            code = _CLOSING
        if code == _DONE:
            self._keep_idle(connection)
        else:
            connection.close()

    def _keep_idle(self, connection: smtplib.SMTP) -> None:
        with self._idle_lock:
            self._idle.append((connection, monotonic()))
            if self._closing_timer is None:
                self._close_later()

    def _take_idle(self) -> smtplib.SMTP | None:
        with self._idle_lock:
            return self._idle.pop()[0] if self._idle else None

    def _close_later(self) -> None:
        self._closing_timer = threading.Timer(IDLE_SECONDS, self._close_idle)
        # The timer must not keep the process from ending.
        self._closing_timer.daemon = True
        self._closing_timer.start()

    def _close_idle(self) -> None:
        before = monotonic() - IDLE_SECONDS
        with self._idle_lock:
            old = [connection for connection, since in self._idle if since <= before]
            self._idle = [(connection, since) for connection, since in self._idle if since > before]
            self._closing_timer = None
            if self._idle:
                self._close_later()
        for connection in old:
            _quit(connection)

    def _connect(self) -> smtplib.SMTP:
        if self._uses_tls:
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                self._host, self._port, timeout=ANSWER_TIMEOUT_SECONDS, context=self._tls_context()
            )
        else:
            server = smtplib.SMTP(self._host, self._port, timeout=ANSWER_TIMEOUT_SECONDS)
        try:
            server.ehlo_or_helo_if_needed()
            if not self._uses_tls:
                self._start_tls(server)
            if self._user:
                server.login(self._user, self._password)
        except BaseException:
            server.close()
            raise
        return server

    def _start_tls(self, server: smtplib.SMTP) -> None:
        if server.has_extn("starttls"):
            server.starttls(context=self._tls_context())
            server.ehlo_or_helo_if_needed()
        elif self._user and not self._is_local:
            raise smtplib.SMTPNotSupportedError("it does not support TLS, and the password is never sent unencrypted")

    def _tls_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self._is_local:  # a local server seldom has a public certificate
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


_PORTS = {"smtp": 587, "smtps": 465}
# Reply codes: done, and closing the connection.
_DONE, _CLOSING = 250, 421
_RECIPIENT_ACCEPTED = {250, 251}


def _send_recipient(connection: smtplib.SMTP, sender: str, to: str, size: int) -> None:
    code, answer = connection.mail(sender, _mail_options(connection, to, size))
    if code != _DONE:
        raise smtplib.SMTPSenderRefused(code, answer, sender)
    code, answer = connection.rcpt(to)
    if code == _CLOSING:
        raise smtplib.SMTPResponseException(code, answer)
    if code not in _RECIPIENT_ACCEPTED:
        raise smtplib.SMTPRecipientsRefused({to: (code, answer)})


def _send_content(connection: smtplib.SMTP, content: bytes) -> None:
    code, answer = connection.data(content)
    if code != _DONE:
        raise smtplib.SMTPDataError(code, answer)


def _mail_options(connection: smtplib.SMTP, to: str, size: int) -> list[str]:
    options = [f"size={size}"] if connection.does_esmtp and connection.has_extn("size") else []
    if to.isascii():
        return options
    if not connection.has_extn("smtputf8"):
        raise AddressNotSupported
    return [*options, "SMTPUTF8", "BODY=8BITMIME"]


def _quit(connection: smtplib.SMTP) -> None:
    try:
        connection.quit()
    except OSError:
        connection.close()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
