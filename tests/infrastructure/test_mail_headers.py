"""What people wrote into names and subjects stays their words: no header, no address and no body comes of it."""

from dataclasses import replace
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message as PlainMessage
from email.utils import getaddresses
from pathlib import Path

import pytest

from mainstay.infrastructure.email_sending import Attachment, FolderTransport, OutgoingEmail

SENDER = "office@example.org"
PDF = b"%PDF-1.7"
MAIL = OutgoingEmail("msg_1", "anna@example.com", "Your quote", "Here it is.\n", html="<p>Here it is.</p>")

HEADER_TEXTS = [
    "Your quote",
    # What the standard library reads out of these: line breaks, the end of the headers, another address.
    "A =?utf-8?q?x=0D=0ABcc:_victim=40evil.example=0D=0AX-Y:_z?= B",
    "=?utf-8?b?eA0KDQo8aDE+Ym9keTwvaDE+?=",
    "XXXXXXXXXX =?utf-8?q?Bank_=3Cservice=40paypal=2Eexample=3E=2C?= Y",
    "Müller =?utf-8?q?x=0D=0ABcc:_victim=40evil.example?=",
    "=?",
    # What breaks where it is quoted or where its line is broken.
    'Hartley "and" Daughters, \\ Plumbing',
    "Hartley, Smith & Daughters Plumbing, Heating, Bathrooms and Renewable Energy Services (Halifax) Ltd",
    "Rohr & Söhne, Sanitär und Heizung, Bäder, Solaranlagen und Wärmepumpen für das ganze Bergische Land GmbH & Co. KG",
    "x" * 200,
]


def send_to_folder(folder: Path, message: OutgoingEmail) -> PlainMessage:
    """The mail as its bytes say, with headers that nobody has read yet."""
    FolderTransport(folder, SENDER).send(message)
    content = (folder / f"{message.id}.eml").read_bytes()
    assert max(map(len, content.splitlines())) <= 998
    return message_from_bytes(content)


def read_header(mail: PlainMessage, name: str) -> str:
    (value,) = mail.get_all(name) or []
    return "".join(value.splitlines())


@pytest.mark.parametrize("text", HEADER_TEXTS)
def test_a_mail_says_what_was_written_and_nothing_else(tmp_path: Path, text: str) -> None:
    attached = (Attachment(f"{text[:60]}.pdf", PDF),)
    mail = send_to_folder(
        tmp_path, replace(MAIL, subject=text, sender_name=text, reply_to="office@calder.example", attachments=attached)
    )
    assert mail.keys() == [
        *("From", "Reply-To", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"),
    ]
    assert str(make_header(decode_header(read_header(mail, "Subject")))) == text
    ((shown, address),) = getaddresses([read_header(mail, "From")])
    assert (str(make_header(decode_header(shown))), address) == (text, SENDER)
    assert (read_header(mail, "To"), read_header(mail, "Reply-To")) == ("anna@example.com", "office@calder.example")
    parts = [part for part in mail.walk() if not part.is_multipart()]
    assert [part.get_content_type() for part in parts] == ["text/plain", "text/html", "application/pdf"]
    assert [*parts[2].keys()] == ["Content-Type", "Content-Transfer-Encoding", "Content-Disposition", "MIME-Version"]
    assert parts[2].get_payload(decode=True) == PDF


def test_an_address_that_readers_take_for_another_is_no_address(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="encoded word"):
        send_to_folder(tmp_path, replace(MAIL, to="=?utf-8?q?victim=40evil.example=2C_x?=@calder.example"))
