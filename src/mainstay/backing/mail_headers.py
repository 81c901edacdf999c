"""The headers of a mail that hold what people wrote, made so that nothing in them is read as anything but their words.

The standard library decodes `=?…?=` wherever it finds it, also the line breaks and commas in it, and leaves out quotes
where it breaks a long line. So these headers are finished here, and it only passes them on.
"""

import re
from email.charset import QP, Charset
from email.header import Header
from email.utils import quote

_LINE = 76
_LONGEST_WORD = 60
# What may stand in a name without quotes.
_ATOMS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~ -]+")
# What begins words that are read as others than they are.
_ENCODED = "=?"


def words_of_header(name: str, text: str) -> str:
    """A line of text as the value of a header."""
    # A line cannot be broken within a word.
    plain = text.isascii() and _ENCODED not in text and max(map(len, text.split()), default=0) < _LONGEST_WORD
    return Header(text, "us-ascii" if plain else _charset(), _LINE, name).encode()


def mailbox_of_header(name: str, shown: str, address: str) -> str:
    """An address with the name that is shown in its place, as the value of a header."""
    if not shown:
        return address
    if shown.isascii() and _ENCODED not in shown:
        phrase = shown if _ATOMS.fullmatch(shown) else f'"{quote(shown)}"'
    else:
        phrase = Header(shown, _charset(), _LINE, name).encode()
    last = len(phrase.rpartition("\n")[2]) + len(address) + 3
    return f"{phrase}\n <{address}>" if last > _LINE else f"{phrase} <{address}>"


def reply_of_header(address: str) -> str:
    """Where answers go, in ASCII, so that a mail is not lost with a server that takes no other: readers decode it."""
    local, _, domain = address.rpartition("@")
    return address if local.isascii() else f"{Header(local, _charset()).encode()}@{domain}"


def _charset() -> Charset:
    # In letters as far as they go: what is in base 64 looks to filters of junk as if it hid.
    charset = Charset("utf-8")
    charset.header_encoding = QP
    return charset
