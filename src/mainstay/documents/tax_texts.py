"""VAT numbers, and the reasons why a document has no tax."""

import re

from mainstay.documents.messages import translate
from mainstay.values.countries import COUNTRIES

# Greece uses the letters of its language, and Northern Ireland has its own. The list of the standard has no SS.
_PREFIXES = COUNTRIES - {"SS"} | {"EL", "XI"}
_VAT_NUMBER = re.compile(r"[A-Z]{2}(?=[0-9A-Z+*]*[0-9])[0-9A-Z+*]{2,18}")
_REASONS = {"exempt": "tax.exempt", "reverseCharge": "tax.reverseCharge", "outside": "tax.outside"}


def is_vat_number(text: str) -> bool:
    """Return whether a tax number is a VAT number, which begins with a country code."""
    plain = plain_number(text)
    return plain[:2] in _PREFIXES and _VAT_NUMBER.fullmatch(plain) is not None


def plain_number(text: str) -> str:
    """Return a number without separators and in capitals: `DE 129 273 398` becomes `DE129273398`."""
    return re.sub(r"[\s.\-/]", "", text).upper()


def reason_for_no_tax(language: str, category: str, note: str | None) -> str | None:
    """Return why there is no tax, as the law requires it, or the note of the rate if it has one."""
    return note or (translate(language, _REASONS[category]) if category in _REASONS else None)
