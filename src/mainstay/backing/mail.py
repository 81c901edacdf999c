"""Mail to people: by SMTP, or into a folder where there is no mail server."""

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

from mainstay.backing.log import log
from mainstay.backing.mail_headers import mailbox_of_header, reply_of_header, words_of_header
from mainstay.backing.smtp import AddressNotSupported, SmtpServer
from mainstay.values.mailbox import wire_address


@dataclass(frozen=True, slots=True)
class Attachment:
    """A PDF that goes with a mail."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail to one address; the same id is the same mail, however often it is sent."""

    id: str
    to: str
    subject: str
    text: str
    # The same as a page; in whose name it is sent, and where answers go.
    html: str = ""
    sender_name: str = ""
    reply_to: str = ""
    attached: tuple[Attachment, ...] = ()


class MailNotSent(Exception):
    """The mail could not be handed over; it may be tried again."""


class Undeliverable(ValueError):
    """The mail can never be handed over: trying again is of no use."""


class Post(Protocol):
    """Whatever takes mail away."""

    def send(self, message: Mail) -> None:
        """Hand the mail over; MailNotSent when that fails, Undeliverable when it always will."""
        ...

    def close(self) -> None:
        """No mail follows for now."""
        ...


def open_post(url: str | None, folder: Path, sender: str) -> Post:
    """The mail server of this address, or the folder when there is none; ValueError when a setting is wrong."""
    return FolderPost(folder, sender) if url is None else SmtpPost(url, sender)


class FolderPost:
    """Writes each mail as `<id>.eml`; a repeat overwrites the same file."""

    def __init__(self, folder: Path, sender: str) -> None:
        self._folder = folder
        self._sender = _sender(sender)

    def send(self, message: Mail) -> None:
        """Put the mail into the folder."""
        content = _written(message, _wire_recipient(message.to), self._sender)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = self._folder / f"{message.id}.eml.new"
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._folder / f"{message.id}.eml")
        except OSError as error:
            raise MailNotSent(f"The mail could not be written to the folder: {error}") from error
        # Nobody gets it by itself: whoever looks after the server must know.
        log("mail put into the folder", mail=message.id)

    def close(self) -> None:
        """Nothing is open."""


class SmtpPost:
    """Hands each mail to a mail server."""

    def __init__(self, url: str, sender: str) -> None:
        self._sender = _sender(sender)
        self._server = SmtpServer(url)

    def send(self, message: Mail) -> None:
        """Hand the mail to the server."""
        to = _wire_recipient(message.to)
        content = _written(message, to, self._sender)
        try:
            self._server.send(self._sender.addr_spec, to, content)
        except AddressNotSupported as error:
            raise Undeliverable(
                f"The mail server {self._server.name} takes no address with other letters than a to z before the @."
            ) from error
        except smtplib.SMTPRecipientsRefused as refused:
            code, words = refused.recipients[to]
            said = self._not_taken(f"{code} {words.decode(errors='replace')}")
            if _no_such_mailbox(code, words):
                raise Undeliverable(f"There is no mailbox of this address. {said}") from refused
            raise MailNotSent(said) from refused
        except OSError as error:  # smtplib's errors among them
            raise MailNotSent(self._not_taken(str(error))) from error

    def close(self) -> None:
        """Close the connections that are open."""
        self._server.close()

    def greet(self) -> None:
        """Sign in to the server, as a mail would; MailNotSent when that fails."""
        try:
            self._server.greet()
        except OSError as error:
            raise MailNotSent(f"The mail server {self._server.name} does not let us in: {error}") from error

    def _not_taken(self, why: str) -> str:
        return f"The mail server {self._server.name} did not take the mail: {why}"


# Texts leave in ASCII, encoded where needed, so that every server takes them.
_WIRE = SMTP.clone(cte_type="7bit", refold_source="none")
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
# Answers to a recipient: not here, not this name, moved elsewhere.
_NO_MAILBOX = {550, 551, 553}
_UNPRINTABLE = {"Cc", "Cs", "Zl", "Zp"}  # controls, lone surrogates, separators of lines and paragraphs


def _written(message: Mail, to: str, sender: Address) -> bytes:
    if not _ID.fullmatch(message.id):
        raise Undeliverable("The id of a mail is made of letters, digits, - and _.")
    mail = EmailMessage(policy=_WIRE)
    # Finished as they are: the library would read encoded words in what people wrote.
    shown = _without_controls(message.sender_name) or sender.display_name
    mail.set_raw("From", mailbox_of_header("From", shown, sender.addr_spec))
    if message.reply_to:
        mail.set_raw("Reply-To", reply_of_header(_wire_recipient(message.reply_to)))
    mail.set_raw("To", to)
    mail.set_raw("Subject", words_of_header("Subject", _one_line(message.subject)))
    mail["Date"] = format_datetime(datetime.now(UTC))
    mail["Message-ID"] = f"<{message.id}@{sender.domain}>"
    mail.set_content(message.text)
    if message.html:
        mail.add_alternative(message.html, subtype="html")
    for attachment in message.attached:
        name = _without_controls(attachment.name).replace("=?", "=")
        mail.add_attachment(attachment.content, maintype="application", subtype="pdf", filename=name)
    # Headers hold what is not ASCII only where the address itself does.
    return mail.as_bytes(policy=_WIRE.clone(utf8=not to.isascii()))


def _without_controls(text: str) -> str:
    """What people wrote, as one line."""
    return " ".join("".join(" " if unicodedata.category(mark) in _UNPRINTABLE else mark for mark in text).split())


def _sender(text: str) -> Address:
    """Read `Name <address>`, or the address alone."""
    addresses = _WIRE.header_factory("From", _one_line(text)).addresses
    if len(addresses) != 1:
        raise ValueError("The sender of mails is written Name <address>.")
    return Address(display_name=addresses[0].display_name, addr_spec=_bare(addresses[0].addr_spec).addr_spec)


def _bare(text: str) -> Address:
    """Read one bare address."""
    try:
        address = Address(addr_spec=_one_line(text))
    except (MessageError, ValueError, IndexError) as error:
        raise ValueError("This is not the address of a mail.") from error
    if not (address.username and address.domain and address.addr_spec == text):
        raise ValueError("This is not the address of a mail.")
    return address


def _wire_recipient(text: str) -> str:
    """The address as servers take it."""
    try:
        return wire_address(text)
    except ValueError as error:
        raise Undeliverable(f"This is not the address of a mail: it {error}.") from error


def _no_such_mailbox(code: int, words: bytes) -> bool:
    """Whether a refusal is about the recipient for good: 5.7 says that it is about who sends, which can be mended."""
    return code in _NO_MAILBOX and not words.lstrip().startswith(b"5.7")


def _one_line(text: str) -> str:
    if any(unicodedata.category(mark) in _UNPRINTABLE for mark in text):
        raise Undeliverable("A subject or an address of a mail holds no control characters.")
    return text
