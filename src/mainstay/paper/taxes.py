"""What is told of taxes: numbers that begin with a country, and why there is no tax."""

import re

from mainstay.paper.messages import say
from mainstay.values.places import COUNTRIES

# Greece writes its language's letters before them, Northern Ireland letters of its own; the norm's list has no SS.
_PREFIXES = COUNTRIES - {"SS"} | {"EL", "XI"}
_VAT_NUMBER = re.compile(r"[A-Z]{2}(?=[0-9A-Z+*]*[0-9])[0-9A-Z+*]{2,18}")
_REASONS = {"exempt": "tax.exempt", "reverseCharge": "tax.reverseCharge", "outside": "tax.outside"}


def is_vat_number(text: str) -> bool:
    """Whether a tax number is a VAT number: it begins with a country."""
    plain = plain_number(text)
    return plain[:2] in _PREFIXES and _VAT_NUMBER.fullmatch(plain) is not None


def plain_number(text: str) -> str:
    """A number as machines read it: `DE 129 273 398` as `DE129273398`."""
    return re.sub(r"[\s.\-/]", "", text).upper()


def reason_for_no_tax(language: str, category: str, note: str | None) -> str | None:
    """Why there is no tax, which the law wants to be told; what is noted on a rate is told of any."""
    return note or (say(language, _REASONS[category]) if category in _REASONS else None)
