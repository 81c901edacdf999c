"""Convert prices as people and their files write them to the plain form that operations accept.

Only text with a single meaning is rewritten: `12,50`, `1 250`, `1.250,50`. Everything else is passed on unchanged and
refused with a message: `1,250` is a thousand to some people and a little more than one to others. If the writer is
known, their country decides; in a column of a file, the other numbers do.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from mainstay.values.message import Message
from mainstay.values.money import CURRENCIES

_GAP = "[ \u00a0\u2009\u202f'\u2019]"
# The whole part and, if there is one, the part after the decimal sign.
_PRICES = tuple(
    re.compile(form)
    for form in (
        rf"([0-9]{{1,3}}(?:{_GAP}[0-9]{{3}})+)(?:[.,]([0-9]{{1,4}}))?",
        r"([0-9]+),([0-9]{1,2}|[0-9]{4})",
        r"([0-9]{1,3}(?:\.[0-9]{3})+),([0-9]{1,4})",
        r"([0-9]{1,3}(?:,[0-9]{3})+)\.([0-9]{1,4})",
    )
)


def normalise_price(written: str) -> str:
    """Return a price as a plain decimal if it has only one meaning, or else unchanged."""
    sign, text = _split_sign(written)
    for form in _PRICES:
        if match := form.fullmatch(text):
            whole, part = re.sub("[^0-9]", "", match[1]), match[2]
            return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"
    return written


def normalise_amount(written: str, country: str) -> str:
    """Return an amount as a plain decimal.

    The writer's country decides whether a sign before three digits is a decimal sign.
    """
    sign, text = _split_sign(written)
    return sign + _normalise_unsigned(text, country)


class ColumnFormat(NamedTuple):
    """The decimal sign of the numbers in a column, if they show it."""

    # None if no number proves one, or if different numbers prove different ones.
    decimal_sign: str | None
    # An ambiguous number, such as `1,250`, if no other number in the column shows its meaning; or None.
    ambiguous_number: str | None = None


def detect_column_format(column: Iterable[str]) -> ColumnFormat:
    """Find the decimal sign of all numbers in a column: `12,50` next to `1.234` proves the comma."""
    ambiguous_number: str | None = None
    proven: set[str] = set()
    for written in column:
        possible = _possible_decimal_signs(_split_sign(written)[1])
        if len(possible) == 1:
            proven |= possible
        elif possible and ambiguous_number is None and _has_separator(written):
            ambiguous_number = written
    if proven:
        return ColumnFormat(proven.pop() if len(proven) == 1 else None)
    return ColumnFormat(None, ambiguous_number)


def normalise_number(written: str, decimal_sign: str | None) -> str:
    """Return a number of a column with this decimal sign as a plain decimal.

    Raise ValueError if it has two meanings.
    """
    sign, text = _split_sign(written)
    possible = _possible_decimal_signs(text)
    if decimal_sign not in possible and len(possible) > 1 and _has_separator(text):
        first, second = (sign + _to_decimal_point(text, each) for each in sorted(possible))
        raise ValueError(Message("could be {first} or {second}", first=first, second=second))
    if not possible:
        return written
    return sign + _to_decimal_point(text, decimal_sign if decimal_sign in possible else min(possible))


def find_foreign_currency(written: str, currency: str) -> str | None:
    """Return the sign or code of another currency in a text, if it has one."""
    return next(
        (mark for mark in _find_currency_marks(written) if currency not in _CURRENCIES_BY_SIGN.get(mark, {mark})), None
    )


def remove_currency(written: str) -> str:
    """Return an amount without currency signs and codes around it."""
    for mark in _find_currency_marks(written):
        written = written.replace(mark, "")
    return written.strip(" \u00a0\u202f")


def _find_currency_marks(written: str) -> list[str]:
    return [mark for mark in _CURRENCY_MARK.findall(written) if mark in _CURRENCIES_BY_SIGN or mark in CURRENCIES]


_CURRENCY_MARK = re.compile(r"[£€$¥]|(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
_DOLLARS = """
    USD AUD CAD NZD SGD HKD TWD BBD BMD BND BSD BZD FJD GYD JMD KYD LRD NAD SBD SRD TTD XCD
    ARS CLP COP CUP DOP MXN UYU BRL
"""
_CURRENCIES_BY_SIGN = {
    "£": frozenset({"GBP", "GIP", "FKP", "SHP", "EGP", "SYP", "LBP"}),
    "€": frozenset({"EUR"}),
    "¥": frozenset({"JPY", "CNY"}),
    "$": frozenset(_DOLLARS.split()),
}


def _possible_decimal_signs(text: str) -> set[str]:
    """Return which of dot and comma may be the decimal sign of a number."""
    return {sign for sign, form in _NUMBER_PATTERNS.items() if form.fullmatch(text)}


def _has_separator(text: str) -> bool:
    return "." in text or "," in text


def _to_decimal_point(text: str, decimal_sign: str) -> str:
    whole, _, part = text.partition(decimal_sign)
    digits = re.sub("[^0-9]", "", whole) or "0"
    return f"{digits}.{part}" if part else digits


def localise_amount(plain: str, country: str) -> str:
    """Return a plain decimal as someone in this country types it; `normalise_amount` reads it back unchanged."""
    return plain.replace(".", ",") if country in _DECIMAL_COMMA else plain


def _split_sign(written: str) -> tuple[str, str]:
    """Split a number into its minus sign, if any, and the rest."""
    text = written.strip()
    return ("-", text[1:].lstrip()) if text.startswith(("-", "\N{MINUS SIGN}")) else ("", text)


def _normalise_unsigned(text: str, country: str) -> str:
    grouped = _DOT_GROUPS if country in _DECIMAL_COMMA else _COMMA_GROUPS
    if grouped.fullmatch(text) or _SEVERAL_GROUPS.fullmatch(text):
        return re.sub("[.,]", "", text)
    if _BARE_FRACTION.fullmatch(text):
        return f"0.{text[1:]}"
    return text.replace(",", ".") if _THREE_DECIMALS.fullmatch(text) else normalise_price(text)


def _number_pattern(decimal_sign: str, group_sign: str) -> re.Pattern[str]:
    """Return the pattern of numbers with this decimal sign, in groups separated by another sign or a gap."""
    part = rf"(?:\{decimal_sign}[0-9]{{1,4}})"
    # In India, groups before the last have two digits.
    grouped = rf"[1-9][0-9]{{0,2}}(?:\{group_sign}[0-9]{{2,3}})*\{group_sign}[0-9]{{3}}"
    spaced = rf"[1-9][0-9]{{0,2}}(?:{_GAP}[0-9]{{3}})+"
    return re.compile(rf"(?:[0-9]+|{grouped}|{spaced}){part}?|{part}")


_NUMBER_PATTERNS = {".": _number_pattern(".", ","), ",": _number_pattern(",", ".")}

# The countries where `1.250` is more than a thousand; elsewhere `1,250` is.
_COMMA_COUNTRIES = """
    AD AL AM AR AT AZ BA BE BG BO BR BY CL CO CU CY CZ DE DK EC EE ES FI FO FR GE GL GR HR HU ID IS IT KG KZ LT LU LV MC
    MD ME MK NL NO PL PT PY RO RS RU SE SI SK SM SR TR UA UY UZ VA VE VN XK
"""
_DECIMAL_COMMA = frozenset(_COMMA_COUNTRIES.split())
_DOT_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+")
# In India, groups before the last have two digits.
_COMMA_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}")
_SEVERAL_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?:(?:\.[0-9]{3}){2,}|(?:,[0-9]{3}){2,})")
_THREE_DECIMALS = re.compile(r"[0-9]+,[0-9]{3}")
_BARE_FRACTION = re.compile(r"[.,][0-9]{1,4}")
