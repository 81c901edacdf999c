"""The email headers that contain text by people, encoded so that readers show exactly this text.

The standard library decodes `=?…?=` wherever it finds it, including the line breaks and commas in it, and drops quotes
where it breaks a long line. So these headers are finished here, and the library only passes them on.
"""

import re
from email.charset import QP, Charset
from email.header import Header
from email.utils import quote

_LINE_LENGTH = 76
_LONGEST_WORD = 60
# The characters of a name that needs no quotes.
_ATOMS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~ -]+")
# The beginning of an encoded word, which readers decode.
_ENCODED_WORD = "=?"


def encode_text_header(name: str, text: str) -> str:
    """Return a line of text as the value of a header."""
    # A line cannot be broken within a word, so long words are encoded.
    plain = text.isascii() and _ENCODED_WORD not in text and max(map(len, text.split()), default=0) < _LONGEST_WORD
    return Header(text, "us-ascii" if plain else _charset(), _LINE_LENGTH, name).encode()


def encode_mailbox_header(name: str, display_name: str, address: str) -> str:
    """Return an address with a display name as the value of a header."""
    if not display_name:
        return address
    if display_name.isascii() and _ENCODED_WORD not in display_name:
        phrase = display_name if _ATOMS.fullmatch(display_name) else f'"{quote(display_name)}"'
    else:
        phrase = Header(display_name, _charset(), _LINE_LENGTH, name).encode()
    last = len(phrase.rpartition("\n")[2]) + len(address) + 3
    return f"{phrase}\n <{address}>" if last > _LINE_LENGTH else f"{phrase} <{address}>"


def encode_reply_header(address: str) -> str:
    """Return a reply address in ASCII, which readers decode.

    So a server that accepts only ASCII does not lose the email.
    """
    local, _, domain = address.rpartition("@")
    return address if local.isascii() else f"{Header(local, _charset()).encode()}@{domain}"


def _charset() -> Charset:
    # Quoted-printable keeps most letters readable: spam filters suspect base 64 of hiding something.
    charset = Charset("utf-8")
    charset.header_encoding = QP
    return charset
