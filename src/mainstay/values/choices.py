"""Enums of a few fixed texts, and texts folded for comparison."""

import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType


class TextEnum(StrEnum):
    """An enum of texts that is looked up as fast as text: Enum's own hash is slower than the look-up."""

    __hash__ = str.__hash__

    @property
    def label(self) -> str:
        """The label that people read."""
        return to_label(self.value)


@lru_cache(4096)
def to_label(name: str) -> str:
    """Return a name as a label: `inProgress` and `in_progress` both become `In progress`."""
    words = re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", name).strip().lower().capitalize()
    return _LABELS.get(name) or _ABBREVIATION.sub(lambda found: found[0].upper().replace("IDS", "IDs"), words)


_ABBREVIATION = re.compile(r"\b(api|csv|ids?|mcp|pdf|ubl|ur[il]|xml)\b", re.IGNORECASE)


# Names of fields and values whose label is another word than the name that programs use.
_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "assessment": "Survey",
        "bank": "Bank transfer",
        "budget": "Agreed price",
        "city": "Town or city",
        "dated": "Bill date",
        "expiring": "Expiry date",
        "failed_work": "Failed tasks",
        "fixed": "Fixed price",
        "kind": "Type",
        "member": "Field staff",
        "needed": "Needed by",
        "nonBillable": "Non-billable",
        "order": "Sort by",
        "outside": "Outside the scope of tax",
        "percent": "Percentage",
        "pickup": "Collect from supplier",
        "priceItem": "Price list item",
        "price_items": "Price list items",
        "range": "Selected dates",
        "region": "County",
        "superseded": "Replaced",
        "taxNumber": "VAT number",
        "tax_number": "VAT number",
        "until": "To",
        "wholeLife": "Whole job",
        "zero": "Zero-rated",
    }
)


def label_in_text(label: str) -> str:
    """Return a label as it is written within a sentence: `due date`, but `VAT number`."""
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]


def fold_text(text: str) -> str:
    """Return a text as it is sorted and searched: without case, accents, special letters and repeated blanks."""
    if text.isascii():
        return " ".join(text.lower().split())
    return remove_accents(text).translate(_PLAIN_LETTERS)


def remove_accents(text: str) -> str:
    """Return a text without case, accents and repeated blanks.

    Stored values are compared by it, so it must never change.
    """
    parts = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(letter for letter in parts if not unicodedata.combining(letter)).split())


# Letters that do not decompose into a letter and an accent, and what people type who lack them on their keyboard.
_PLAIN_LETTERS = str.maketrans(
    {
        "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ŋ": "n", "\N{LATIN SMALL LETTER DOTLESS I}": "i",
        "ə": "e", "æ": "ae", "œ": "oe", "þ": "th",
    }
)  # fmt: skip
