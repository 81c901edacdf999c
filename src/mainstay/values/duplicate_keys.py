"""Find customers that may be duplicates: compare their details with differences in spelling removed."""

import re
from collections.abc import Mapping
from typing import Literal, get_args

from mainstay.values.choices import fold_text
from mainstay.values.email_address import fold_address
from mainstay.values.search_words import words_of_phone

# The detail that two customers share.
SharedDetail = Literal["email", "phone", "taxNumber", "name", "address"]
SHARED_DETAILS: tuple[SharedDetail, ...] = get_args(SharedDetail)

_LEGAL_FORMS = """
    ab ag aps as bv bvba co corp corporation eg ek ev gbr gmbh inc incorporated kft kg kgaa limited llc llp lp ltd mbh
    nv ohg oy plc pty sa sarl sas sasu sca se sl slu snc spa srl ug
"""
LEGAL_FORMS = frozenset(_LEGAL_FORMS.split())
# A shorter number is too common to identify a customer.
_MIN_NUMBER_LENGTH = 5
_MAX_KEY_LENGTH = 200
_WORD = re.compile(r"[^\W_]+")


def duplicate_keys_of(
    name: str,
    email: str | None,
    phone: str | None,
    tax_number: str | None,
    address: Mapping[str, str | None] | None,
) -> frozenset[str]:
    """Return the comparison keys of a customer: two customers that share a key may be the same one.

    Each key is the kind of detail and its folded value, such as `email kim@example.com`.
    """
    numbers = {word[1:] for word in words_of_phone(phone) if word[0] == "+"}
    values_by_detail: dict[SharedDetail, set[str]] = {
        "email": {fold_address(email)} if email else set(),
        "phone": {number for number in numbers if len(number) >= _MIN_NUMBER_LENGTH},
        "taxNumber": _fold_tax_number(tax_number or ""),
        "name": _fold_name(name),
        "address": _fold_address(address or {}),
    }
    return frozenset(
        f"{detail} {value}"[:_MAX_KEY_LENGTH] for detail, values in values_by_detail.items() for value in values
    )


def detail_of_key(key: str) -> SharedDetail:
    """Return the kind of detail that two customers with this key share."""
    return next(detail for detail in SHARED_DETAILS if key.startswith(f"{detail} "))


def _fold_name(name: str) -> set[str]:
    """Return a name without its legal form, so that `Calder Ltd` and `Calder Limited` compare as equal."""
    words = _WORD.findall(fold_text(name))
    significant = [word for word in words if word not in LEGAL_FORMS] or words
    return {" ".join(significant)} if significant else set()


def _fold_tax_number(number: str) -> set[str]:
    plain = "".join(_WORD.findall(fold_text(number)))
    return {plain} if len(plain) >= _MIN_NUMBER_LENGTH else set()


def _fold_address(address: Mapping[str, str | None]) -> set[str]:
    """Return the postcode and the first line of an address; a street name alone occurs in many towns."""
    code = "".join(_WORD.findall(fold_text(address.get("postalCode") or "")))
    street = " ".join(_WORD.findall(fold_text(address.get("line1") or "")))
    return {f"{code} {street}"} if code and street else set()
