"""VAT numbers, and the reasons why a document has no tax."""

import re

from mainstay.documents.messages import translate
from mainstay.values.countries import COUNTRIES

# Greece may use EL, and Northern Ireland has XI. The list of EN 16931 has no SS (South Sudan).
_PREFIXES = (COUNTRIES - {"SS"}) | {"EL", "XI"}
_VAT_NUMBER = re.compile(r"[A-Z]{2}(?=[0-9A-Z+*]*[0-9])[0-9A-Z+*]{2,18}")
_REASONS = {"exempt": "tax.exempt", "reverseCharge": "tax.reverseCharge", "outside": "tax.outside"}


def is_vat_number(text: str) -> bool:
    """Return whether a tax number is a VAT number, which begins with a country code."""
    number = normalise_vat_number(text)
    return number[:2] in _PREFIXES and _VAT_NUMBER.fullmatch(number) is not None


def normalise_vat_number(text: str) -> str:
    """Return a VAT number without separators and in capitals: `DE 129 273 398` becomes `DE129273398`."""
    return re.sub(r"[\s.\-/]", "", text).upper()


def find_no_tax_reason(language: str, category: str, note: str | None) -> str | None:
    """Return why there is no tax: the note of the rate, or else the sentence that the law requires."""
    return note or (translate(language, _REASONS[category]) if category in _REASONS else None)
