"""E-mail addresses: which can be mailed, and when two are the same. One rule for every place that asks.

An address is kept, shown and mailed to as it was given. Its folded form says only whether two are the same: domains by
their A-labels (IDNA 2008), local parts in lower case. Nothing is ever mailed to a folded form.
"""

import ipaddress
import re
import unicodedata

from mainstay.late import late

LONGEST = 254
LONGEST_LOCAL = 64

_NO_ADDRESS = "is not an e-mail address such as kim@example.com"
_TOO_LONG = f"is longer than {LONGEST} characters"
_NO_DOMAIN = "has no domain such as example.com behind the @"
# The marks that stand in an ordinary local part beside letters, digits and what is not ASCII.
_MARKS = frozenset("!#$%&'*+-/=?^_`{|}~.")
_ENCODED_WORD = re.compile(r"=\?.*\?[bq]\?.*\?=", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def check_address(text: str) -> str:
    """The address, if mail can be sent to it; ValueError with words for what is wrong."""
    wire_address(text)
    return text


def fold_address(text: str) -> str:
    """What every way to write an address has in common; any text has it, so that nobody is lost by a stricter rule."""
    local, at, domain = text.strip().rpartition("@")
    try:
        domain = _wire_domain(domain)
    except ValueError:
        domain = _lowered(domain)
    return f"{_lowered(local)}{at}{domain}"


def wire_address(text: str) -> str:
    """The address as mail servers take it: its local part as it was given, its domain as A-labels."""
    local, _, domain = text.partition("@")
    if not (local and domain):
        raise ValueError(_NO_ADDRESS)
    _check_marks(text)
    if len(local.encode()) > LONGEST_LOCAL:
        raise ValueError(f"has more than {LONGEST_LOCAL} characters before the @")
    if "" in local.split("."):
        raise ValueError("has a dot too many before the @")
    wire = f"{local}@{_wire_domain(domain)}"
    if len(wire.encode()) > LONGEST:
        raise ValueError(_TOO_LONG)
    return wire


def _check_marks(text: str) -> None:
    local, _, domain = text.partition("@")
    if "@" in domain:
        raise ValueError("has more than one @")
    for mark in text:
        if unicodedata.category(mark)[0] in "CZ":
            raise ValueError("has a blank in it" if mark == " " else "has a control character or an odd blank in it")
    if wrong := next((mark for mark in local if mark.isascii() and not mark.isalnum() and mark not in _MARKS), None):
        raise ValueError(f"has {_NAMES.get(wrong, wrong)} before the @, which no address can have")
    if _ENCODED_WORD.search(local):
        # Readers of mail take it for other letters: perhaps for another address.
        raise ValueError("has an encoded word (=?…?=) before the @, which no address can have")


_NAMES = {",": "a comma", '"': "a quotation mark"}


def _wire_domain(domain: str) -> str:
    if len(domain) > LONGEST:
        raise ValueError(_TOO_LONG)
    if domain.startswith("[") and domain.endswith("]"):
        return f"[{_literal(domain[1:-1])}]"
    given = domain.split(".")
    if "" in given:
        raise ValueError("has a dot too many behind the @")
    labels = [_wire_label(label) for label in given]
    if labels[-1].isdigit():
        raise ValueError(_NO_DOMAIN)
    return ".".join(labels)


def _wire_label(given: str) -> str:
    label = _lowered(given)
    try:
        if not label.isascii():
            return str(late("idna").alabel(label).decode())
        if label.startswith("xn--"):
            # Refuses what is no A-label: two ways to write one domain would be two addresses.
            late("idna").ulabel(label)
    except UnicodeError as error:
        raise ValueError(_NO_DOMAIN) from error
    if not _LABEL.fullmatch(label):
        raise ValueError(_NO_DOMAIN)
    return label


def _literal(text: str) -> str:
    """A number in the place of a domain, for a mail server inside a firm's own network."""
    tag, colon, number = text.partition(":")
    try:
        if not colon:
            return str(ipaddress.IPv4Address(text))
        if tag.lower() == "ipv6" and "%" not in number:
            return f"ipv6:{ipaddress.IPv6Address(number)}"
    except ipaddress.AddressValueError:
        pass
    raise ValueError(_NO_DOMAIN)


def _lowered(text: str) -> str:
    composed = unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", composed.lower())
