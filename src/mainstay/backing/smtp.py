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
# How long an answer of the server is waited for.
PATIENCE_SECONDS = 15.0


class AddressNotSupported(Exception):
    """The server takes no address with such letters."""


class SmtpServer:
    """The server of `smtp://` (TLS when offered) or `smtps://` (TLS from the first byte); for any number of threads."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError("The address of the mail server is written smtp://user:password@host:port.")
        self._encrypted = parts.scheme == "smtps"
        self._host = parts.hostname
        self._port = parts.port or _PORTS[parts.scheme]
        self._user = unquote(parts.username or "")
        self._password = unquote(parts.password or "")
        self._local = _is_loopback(self._host)
        # Connections that nobody uses, each with the moment since when, and what closes them.
        self._idle: list[tuple[smtplib.SMTP, float]] = []
        self._closing: threading.Timer | None = None
        self._changing = threading.Lock()

    @property
    def name(self) -> str:
        """What the operator calls it."""
        return f"{self._host}:{self._port}"

    def greet(self) -> None:
        """Sign in, as for an email; OSError, of which smtplib's errors are a kind, when that fails."""
        self._keep(self._connect())
        self.close()

    def send(self, sender: str, to: str, content: bytes) -> None:
        """Hand over one email to one address.

        SMTPRecipientsRefused when the address is refused, AddressNotSupported, or another OSError. Once the content was
        sent and no answer came, the email may have been taken: it is not sent again here.
        """
        connection = self._announce(sender, to, len(content))
        with self._using(connection):
            _send_content(connection, content)
        self._keep(connection)

    def close(self) -> None:
        """Close the connections that nobody uses."""
        with self._changing:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            _quit(connection)

    def _announce(self, sender: str, to: str, size: int) -> smtplib.SMTP:
        """Name sender and recipient on a connection that is open, or else on a new one; return it."""
        if kept := self._take_idle():
            try:
                with self._using(kept):
                    _name_recipient(kept, sender, to, size)
            except smtplib.SMTPRecipientsRefused:
                raise
            except OSError:
                # The server has closed it meanwhile, or takes no more emails on it. Nothing was sent yet.
                pass
            else:
                return kept
        fresh = self._connect()
        with self._using(fresh):
            _name_recipient(fresh, sender, to, size)
        return fresh

    @contextmanager
    def _using(self, connection: smtplib.SMTP) -> Iterator[None]:
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
        """Keep a connection of which the server has forgotten the refused email."""
        try:
            code, _ = connection.rset()
        except OSError:
            code = _CLOSING
        if code == _DONE:
            self._keep(connection)
        else:
            connection.close()

    def _keep(self, connection: smtplib.SMTP) -> None:
        with self._changing:
            self._idle.append((connection, monotonic()))
            if self._closing is None:
                self._close_later()

    def _take_idle(self) -> smtplib.SMTP | None:
        with self._changing:
            return self._idle.pop()[0] if self._idle else None

    def _close_later(self) -> None:
        self._closing = threading.Timer(IDLE_SECONDS, self._close_idle)
        # It must not keep the process from ending.
        self._closing.daemon = True
        self._closing.start()

    def _close_idle(self) -> None:
        before = monotonic() - IDLE_SECONDS
        with self._changing:
            old = [connection for connection, since in self._idle if since <= before]
            self._idle = [(connection, since) for connection, since in self._idle if since > before]
            self._closing = None
            if self._idle:
                self._close_later()
        for connection in old:
            _quit(connection)

    def _connect(self) -> smtplib.SMTP:
        if self._encrypted:
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                self._host, self._port, timeout=PATIENCE_SECONDS, context=self._tls()
            )
        else:
            server = smtplib.SMTP(self._host, self._port, timeout=PATIENCE_SECONDS)
        try:
            server.ehlo_or_helo_if_needed()
            if not self._encrypted:
                self._encrypt(server)
            if self._user:
                server.login(self._user, self._password)
        except BaseException:
            server.close()
            raise
        return server

    def _encrypt(self, server: smtplib.SMTP) -> None:
        if server.has_extn("starttls"):
            server.starttls(context=self._tls())
            server.ehlo_or_helo_if_needed()
        elif self._user and not self._local:
            raise smtplib.SMTPNotSupportedError("it offers no TLS, and the password is not sent in the clear")

    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self._local:  # a server on the same machine seldom has a public certificate, and nobody sits between
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


_PORTS = {"smtp": 587, "smtps": 465}
# Answers of a server: done, and that it closes the connection.
_DONE, _CLOSING = 250, 421
_RECIPIENT_TAKEN = {250, 251}


def _name_recipient(connection: smtplib.SMTP, sender: str, to: str, size: int) -> None:
    code, answer = connection.mail(sender, _options(connection, to, size))
    if code != _DONE:
        raise smtplib.SMTPSenderRefused(code, answer, sender)
    code, answer = connection.rcpt(to)
    if code == _CLOSING:
        raise smtplib.SMTPResponseException(code, answer)
    if code not in _RECIPIENT_TAKEN:
        raise smtplib.SMTPRecipientsRefused({to: (code, answer)})


def _send_content(connection: smtplib.SMTP, content: bytes) -> None:
    code, answer = connection.data(content)
    if code != _DONE:
        raise smtplib.SMTPDataError(code, answer)


def _options(connection: smtplib.SMTP, to: str, size: int) -> list[str]:
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
