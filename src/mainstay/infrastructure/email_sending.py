"""Send emails: by SMTP, or into a folder if there is no mail server."""

import os
import re
import smtplib
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from pathlib import Path
from typing import Protocol

from mainstay.infrastructure.email_headers import encode_mailbox_header, encode_reply_header, encode_text_header
from mainstay.infrastructure.log import log
from mainstay.infrastructure.smtp import AddressNotSupported, SmtpServer
from mainstay.values.email_address import to_wire_address
from mainstay.values.message import Message, message_of


@dataclass(frozen=True, slots=True)
class Attachment:
    """A PDF attached to an email."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class OutgoingEmail:
    """One email to one address; the same id is the same email, however often it is sent.

    If others get it too and may know that, `all_to` and `cc` are the addresses that its headers name, with commas
    between them.
    """

    id: str
    to: str
    subject: str
    text: str
    # Each of these may be left empty. `html` is the same text as HTML.
    html: str = ""
    sender_name: str = ""
    reply_to: str = ""
    all_to: str = ""
    cc: str = ""
    attachments: tuple[Attachment, ...] = ()


class EmailNotSent(Exception):
    """The email could not be handed over; it may be tried again."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


class EmailUndeliverable(ValueError):
    """The email can never be handed over: trying again is useless."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


class EmailTransport(Protocol):
    """Something that delivers emails."""

    def send(self, message: OutgoingEmail) -> None:
        """Hand the email over; raise EmailNotSent if that fails now, EmailUndeliverable if it always will."""
        ...

    def close(self) -> None:
        """Close idle connections: no email follows for now."""
        ...


def create_email_transport(url: str | None, folder: Path, sender: str) -> EmailTransport:
    """Return a transport to the mail server of this URL, or to the folder without a URL.

    Raise ValueError if a setting is wrong.
    """
    return FolderTransport(folder, sender) if url is None else SmtpTransport(url, sender)


class FolderTransport:
    """Writes each email as `<id>.eml`; sending it again overwrites the same file."""

    def __init__(self, folder: Path, sender: str) -> None:
        self._folder = folder
        self._sender = _parse_sender(sender)

    def send(self, message: OutgoingEmail) -> None:
        """Write the email into the folder."""
        content = _build_email(message, _require_wire_address(message.to), self._sender)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            new_path = self._folder / f"{message.id}.eml.new"
            with os.fdopen(os.open(new_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            new_path.replace(self._folder / f"{message.id}.eml")
        except OSError as error:
            raise EmailNotSent(
                Message("The email could not be written to the folder: {error}", error=str(error))
            ) from error
        # The folder delivers nothing, so the operator must see it.
        log("mail put into the folder", mail=message.id)

    def close(self) -> None:
        """Do nothing: nothing is open."""


class SmtpTransport:
    """Hands each email to a mail server."""

    def __init__(self, url: str, sender: str) -> None:
        self._sender = _parse_sender(sender)
        self._server = SmtpServer(url)

    def send(self, message: OutgoingEmail) -> None:
        """Hand the email to the server."""
        to = _require_wire_address(message.to)
        content = _build_email(message, to, self._sender)
        try:
            self._server.send(self._sender.addr_spec, to, content)
        except AddressNotSupported as error:
            raise EmailUndeliverable(
                Message(
                    "The mail server {server} accepts only the letters a to z before the @ of an address.",
                    server=self._server.name,
                )
            ) from error
        except smtplib.SMTPRecipientsRefused as error:
            code, reply = error.recipients[to]
            problem = self._describe_failure(f"{code} {reply.decode(errors='replace')}")
            if _is_missing_mailbox(code, reply):
                raise EmailUndeliverable(
                    Message("This email address does not exist. {problem}", problem=problem)
                ) from error
            raise EmailNotSent(problem) from error
        except OSError as error:  # includes smtplib's errors
            raise EmailNotSent(self._describe_failure(str(error))) from error

    def close(self) -> None:
        """Close the open connections."""
        self._server.close()

    def check_sign_in(self) -> None:
        """Sign in to the server as for an email; raise EmailNotSent if that fails."""
        try:
            self._server.check_sign_in()
        except OSError as error:
            raise EmailNotSent(
                Message(
                    "The mail server {server} refused the sign-in: {reply}",
                    server=self._server.name,
                    reply=str(error)[:_LONGEST_REPLY],
                )
            ) from error

    def _describe_failure(self, reply: str) -> Message:
        return Message(
            "The mail server {server} did not accept the email: {reply}",
            server=self._server.name,
            reply=reply[:_LONGEST_REPLY],
        )


# The most of what a server answered that is kept.
_LONGEST_REPLY = 500
# Texts are sent in ASCII, encoded if necessary, so that every server accepts them.
_WIRE_POLICY = SMTP.clone(cte_type="7bit", refold_source="none")
_EMAIL_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
# Reply codes for a recipient: no mailbox, not this name, moved elsewhere.
_NO_MAILBOX_CODES = {550, 551, 553}
_UNPRINTABLE = {"Cc", "Cs", "Zl", "Zp"}  # controls, lone surrogates, separators of lines and paragraphs


def _build_email(message: OutgoingEmail, to: str, sender: Address) -> bytes:
    if not _EMAIL_ID.fullmatch(message.id):
        raise EmailUndeliverable(Message("The ID of an email has only letters, digits, - and _."))
    mail = EmailMessage(policy=_WIRE_POLICY)
    # Set these headers raw: the library would decode encoded words in what people wrote.
    display_name = _without_controls(message.sender_name) or sender.display_name
    mail.set_raw("From", encode_mailbox_header("From", display_name, sender.addr_spec))
    if message.reply_to:
        mail.set_raw("Reply-To", encode_reply_header(_require_wire_address(message.reply_to)))
    mail.set_raw("To", _encode_addresses(message.all_to or message.to, to))
    if message.cc:
        mail.set_raw("Cc", _encode_addresses(message.cc, to))
    mail.set_raw("Subject", encode_text_header("Subject", _require_one_line(message.subject)))
    mail["Date"] = format_datetime(datetime.now(UTC))
    mail["Message-ID"] = f"<{message.id}@{sender.domain}>"
    mail.set_content(message.text)
    if message.html:
        mail.add_alternative(message.html, subtype="html")
    for attachment in message.attachments:
        name = _without_controls(attachment.name).replace("=?", "=")
        mail.add_attachment(attachment.content, maintype="application", subtype="pdf", filename=name)
    # Headers contain non-ASCII characters only if the address itself does.
    return mail.as_bytes(policy=_WIRE_POLICY.clone(utf8=not to.isascii()))


def _encode_addresses(addresses: str, to: str) -> str:
    """Return addresses as the value of a header, one a line; all in ASCII except that of the recipient."""
    wired = map(_require_wire_address, addresses.split(","))
    return ",\n ".join(address if address == to else encode_reply_header(address) for address in wired)


def _without_controls(text: str) -> str:
    """Return a text as one line without control characters."""
    return " ".join(
        "".join(" " if unicodedata.category(character) in _UNPRINTABLE else character for character in text).split()
    )


def _parse_sender(text: str) -> Address:
    """Parse `Name <address>`, or the address alone."""
    addresses = _WIRE_POLICY.header_factory("From", _require_one_line(text)).addresses
    if len(addresses) != 1:
        raise ValueError("Write the sender of emails as Name <address>.")
    return Address(display_name=addresses[0].display_name, addr_spec=_parse_address(addresses[0].addr_spec).addr_spec)


def _parse_address(text: str) -> Address:
    """Parse an address without a name."""
    try:
        address = Address(addr_spec=_require_one_line(text))
    except (MessageError, ValueError, IndexError) as error:
        raise ValueError("This is not an email address.") from error
    if not (address.username and address.domain and address.addr_spec == text):
        raise ValueError("This is not an email address.")
    return address


def _require_wire_address(text: str) -> str:
    """Return the address as servers accept it; raise EmailUndeliverable if it is none."""
    try:
        return to_wire_address(text)
    except ValueError as error:
        raise EmailUndeliverable(
            Message("This is not an email address: it {problem}.", problem=message_of(error))
        ) from error


def _is_missing_mailbox(code: int, reply: bytes) -> bool:
    """Return whether a server refuses for good, because the recipient has no mailbox.

    A reply that begins with 5.7 is about the sender instead, which can be corrected.
    """
    return code in _NO_MAILBOX_CODES and not reply.lstrip().startswith(b"5.7")


def _require_one_line(text: str) -> str:
    if any(unicodedata.category(character) in _UNPRINTABLE for character in text):
        raise EmailUndeliverable(Message("The subject and the address of an email must not have control characters."))
    return text
