"""What tells that two customers may be one: what is the same of them once spelling is left aside."""

import re
from collections.abc import Mapping
from typing import Literal, get_args

from mainstay.values.mailbox import fold_address
from mainstay.values.search import words_of_phone
from mainstay.values.words import folded

# What two customers have in common.
Common = Literal["email", "phone", "taxNumber", "name", "address"]
COMMON: tuple[Common, ...] = get_args(Common)

_LEGAL_FORMS = """
    ab ag aps as bv bvba co corp corporation eg ek ev gbr gmbh inc incorporated kft kg kgaa limited llc llp lp ltd mbh
    nv ohg oy plc pty sa sarl sas sasu sca se sl slu snc spa srl ug
"""
LEGAL_FORMS = frozenset(_LEGAL_FORMS.split())
# A shorter one is no number that only one has.
_SHORTEST_NUMBER = 5
_LONGEST = 200
_WORD = re.compile(r"[^\W_]+")


def keys_of(
    name: str,
    email: str | None,
    phone: str | None,
    tax_number: str | None,
    address: Mapping[str, str | None] | None,
) -> frozenset[str]:
    """Return the keys of a customer: two customers with a key in common may be the same one.

    Each is what they have in common and how it is compared, such as `email kim@example.com`.
    """
    numbers = {word[1:] for word in words_of_phone(phone) if word[0] == "+"}
    found: dict[Common, set[str]] = {
        "email": {fold_address(email)} if email else set(),
        "phone": {number for number in numbers if len(number) >= _SHORTEST_NUMBER},
        "taxNumber": _tax_number(tax_number or ""),
        "name": _name(name),
        "address": _place(address or {}),
    }
    return frozenset(f"{common} {value}"[:_LONGEST] for common, values in found.items() for value in values)


def common_of(key: str) -> Common:
    """Return what two customers with this key have in common."""
    return next(common for common in COMMON if key.startswith(f"{common} "))


def _name(name: str) -> set[str]:
    """Return a name without its legal form: `Calder Ltd` and `Calder Limited` are alike."""
    words = _WORD.findall(folded(name))
    own = [word for word in words if word not in LEGAL_FORMS] or words
    return {" ".join(own)} if own else set()


def _tax_number(number: str) -> set[str]:
    plain = "".join(_WORD.findall(folded(number)))
    return {plain} if len(plain) >= _SHORTEST_NUMBER else set()


def _place(address: Mapping[str, str | None]) -> set[str]:
    """Return the postcode and the first line of an address; a street alone is in many towns."""
    code = "".join(_WORD.findall(folded(address.get("postalCode") or "")))
    street = " ".join(_WORD.findall(folded(address.get("line1") or "")))
    return {f"{code} {street}"} if code and street else set()
