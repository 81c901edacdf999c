"""Email addresses: which ones can receive email, and when two are the same; the only rule for both.

An address is stored, shown and used as it was entered. Its folded form only decides whether two addresses are the same:
it has domains as A-labels (IDNA 2008) and local parts in lower case. No email is ever sent to a folded form.
"""

import ipaddress
import re
import unicodedata

from mainstay.lazy_import import import_lazily
from mainstay.values.message import Message

MAX_ADDRESS_LENGTH = 254
MAX_LOCAL_LENGTH = 64

# The template of the error message for a text that is no address.
NOT_AN_ADDRESS = "is not an email address such as kim@example.com"
_TOO_LONG = Message("is longer than {max_length} characters", max_length=MAX_ADDRESS_LENGTH)
_NO_DOMAIN = Message("has no domain such as example.com after the @")
# The marks that an ordinary local part may contain besides letters, digits and non-ASCII characters.
_ALLOWED_MARKS = frozenset("!#$%&'*+-/=?^_`{|}~.")
_ENCODED_WORD = re.compile(r"=\?.*\?[bq]\?.*\?=", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def check_address(text: str) -> str:
    """Return the address if email can be sent to it, or raise ValueError with what is wrong."""
    to_wire_address(text)
    return text


def fold_address(text: str) -> str:
    """Return the form that all spellings of an address share.

    Any text has one, so that accounts with addresses from before a stricter rule are still found.
    """
    local, at, domain = text.strip().rpartition("@")
    try:
        domain = _to_wire_domain(domain)
    except ValueError:
        domain = _to_lower(domain)
    return f"{_to_lower(local)}{at}{domain}"


def to_wire_address(text: str) -> str:
    """Return the address as mail servers accept it: the local part as entered, the domain as A-labels."""
    local, _, domain = text.partition("@")
    if not (local and domain):
        raise ValueError(Message(NOT_AN_ADDRESS))
    _check_marks(text)
    if len(local.encode()) > MAX_LOCAL_LENGTH:
        raise ValueError(Message("has more than {most} characters before the @", most=MAX_LOCAL_LENGTH))
    if "" in local.split("."):
        raise ValueError(Message("has a misplaced dot before the @"))
    wire = f"{local}@{_to_wire_domain(domain)}"
    if len(wire.encode()) > MAX_ADDRESS_LENGTH:
        raise ValueError(_TOO_LONG)
    return wire


def _check_marks(text: str) -> None:
    local, _, domain = text.partition("@")
    if "@" in domain:
        raise ValueError(Message("has more than one @"))
    for mark in text:
        if unicodedata.category(mark)[0] in "CZ":
            raise ValueError(
                Message("contains a space") if mark == " " else Message("contains a control character or special space")
            )
    if wrong := next(
        (mark for mark in local if mark.isascii() and not mark.isalnum() and mark not in _ALLOWED_MARKS), None
    ):
        raise ValueError(Message("has {mark} before the @, which is not allowed", mark=_MARK_NAMES.get(wrong, wrong)))
    if _ENCODED_WORD.search(local):
        # Email programs decode it to other letters, perhaps to another address.
        raise ValueError(Message("has an encoded word (=?…?=) before the @, which is not allowed"))


_MARK_NAMES = {",": Message("a comma"), '"': Message("a quotation mark")}


def _to_wire_domain(domain: str) -> str:
    if len(domain) > MAX_ADDRESS_LENGTH:
        raise ValueError(_TOO_LONG)
    if domain.startswith("[") and domain.endswith("]"):
        return f"[{_parse_literal(domain[1:-1])}]"
    parts = domain.split(".")
    if "" in parts:
        raise ValueError(Message("has a misplaced dot after the @"))
    labels = [_to_wire_label(label) for label in parts]
    if labels[-1].isdigit():
        raise ValueError(_NO_DOMAIN)
    return ".".join(labels)


def _to_wire_label(text: str) -> str:
    label = _to_lower(text)
    try:
        if not label.isascii():
            return str(import_lazily("idna").alabel(label).decode())
        if label.startswith("xn--"):
            # Refuse invalid A-labels: two spellings of one domain would be two addresses.
            import_lazily("idna").ulabel(label)
    except UnicodeError as error:
        raise ValueError(_NO_DOMAIN) from error
    if not _LABEL.fullmatch(label):
        raise ValueError(_NO_DOMAIN)
    return label


def _parse_literal(text: str) -> str:
    """Return an IP address that replaces the domain, for a mail server inside a company network."""
    tag, colon, number = text.partition(":")
    try:
        if not colon:
            return str(ipaddress.IPv4Address(text))
        if tag.lower() == "ipv6" and "%" not in number:
            return f"ipv6:{ipaddress.IPv6Address(number)}"
    except ipaddress.AddressValueError:
        pass
    raise ValueError(_NO_DOMAIN)


def _to_lower(text: str) -> str:
    composed = unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", composed.lower())
