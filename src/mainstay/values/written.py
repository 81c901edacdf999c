"""Prices as people and their files write them, into the one way in which operations take them.

Only what has one meaning is rewritten: `12,50`, `1 250`, `1.250,50`. Anything else goes on as it is, to be refused in
words: `1,250` is a thousand to some and a little more than one to others. Where it is known who wrote it, their country
says which; and in a column of a file, the numbers beside it do.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from mainstay.values.money import CURRENCIES

_GAP = "[ \u00a0\u2009\u202f'\u2019]"
# The whole and, where there is one, the part behind the decimal sign.
_PRICES = tuple(
    re.compile(form)
    for form in (
        rf"([0-9]{{1,3}}(?:{_GAP}[0-9]{{3}})+)(?:[.,]([0-9]{{1,4}}))?",
        r"([0-9]+),([0-9]{1,2}|[0-9]{4})",
        r"([0-9]{1,3}(?:\.[0-9]{3})+),([0-9]{1,4})",
        r"([0-9]{1,3}(?:,[0-9]{3})+)\.([0-9]{1,4})",
    )
)


def plain_price(written: str) -> str:
    """A price as a plain decimal, if it can be nothing else."""
    sign, text = _signed(written)
    for form in _PRICES:
        if found := form.fullmatch(text):
            whole, part = re.sub("[^0-9]", "", found[1]), found[2]
            return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"
    return written


def plain_amount(written: str, country: str) -> str:
    """An amount as a plain decimal; the country of who wrote it says what a sign with three digits behind it is."""
    sign, text = _signed(written)
    return sign + _amount(text, country)


class ColumnSigns(NamedTuple):
    """The decimal sign of the numbers in a column, as far as they tell."""

    # None where nothing proves one, or different numbers prove different ones.
    decimal: str | None
    # A number that may be either a thousand times more or less, where nothing beside it tells; or None.
    unclear: str | None = None


def column_signs(column: Iterable[str]) -> ColumnSigns:
    """Find out the decimal sign of all numbers in a column: `12,50` beside `1.234` proves the comma."""
    unclear, proven = None, set()
    for written in column:
        possible = _decimal_signs(_signed(written)[1])
        if len(possible) == 1:
            proven |= possible
        elif possible and unclear is None and _has_sign(written):
            unclear = written
    if proven:
        return ColumnSigns(proven.pop() if len(proven) == 1 else None)
    return ColumnSigns(None, unclear)


def plain_number(written: str, decimal: str | None) -> str:
    """A number of a column with this decimal sign as a plain decimal; ValueError if it may be one of two."""
    sign, text = _signed(written)
    possible = _decimal_signs(text)
    if decimal not in possible and len(possible) > 1 and _has_sign(text):
        raise ValueError(f"could be {' or '.join(sign + _with_point(text, each) for each in sorted(possible))}")
    if not possible:
        return written
    return sign + _with_point(text, decimal if decimal in possible else min(possible))


def foreign_currency(written: str, currency: str) -> str | None:
    """Return the sign or code of another currency in a text, if there is one."""
    return next((mark for mark in _marks(written) if currency not in _MEANT_BY.get(mark, {mark})), None)


def without_currency(written: str) -> str:
    """Return an amount without the signs and codes of currencies around it."""
    for mark in _marks(written):
        written = written.replace(mark, "")
    return written.strip(" \u00a0\u202f")


def _marks(written: str) -> list[str]:
    return [mark for mark in _MARKS.findall(written) if mark in _MEANT_BY or mark in CURRENCIES]


_MARKS = re.compile(r"[£€$¥]|(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
_DOLLARS = """
    USD AUD CAD NZD SGD HKD TWD BBD BMD BND BSD BZD FJD GYD JMD KYD LRD NAD SBD SRD TTD XCD
    ARS CLP COP CUP DOP MXN UYU BRL
"""
_MEANT_BY = {
    "£": frozenset({"GBP", "GIP", "FKP", "SHP", "EGP", "SYP", "LBP"}),
    "€": frozenset({"EUR"}),
    "¥": frozenset({"JPY", "CNY"}),
    "$": frozenset(_DOLLARS.split()),
}


def _decimal_signs(text: str) -> set[str]:
    """Return which of dot and comma may be the decimal sign of a number."""
    return {sign for sign, form in _NUMBERS.items() if form.fullmatch(text)}


def _has_sign(text: str) -> bool:
    return "." in text or "," in text


def _with_point(text: str, decimal: str) -> str:
    whole, _, part = text.partition(decimal)
    digits = re.sub("[^0-9]", "", whole) or "0"
    return f"{digits}.{part}" if part else digits


def typed_amount(plain: str, country: str) -> str:
    """A plain decimal as it stands where someone of a country types, and is read there as the same again."""
    return plain.replace(".", ",") if country in _DECIMAL_COMMA else plain


def _signed(written: str) -> tuple[str, str]:
    """The sign, and what stands behind it."""
    text = written.strip()
    return ("-", text[1:].lstrip()) if text.startswith(("-", "\N{MINUS SIGN}")) else ("", text)


def _amount(text: str, country: str) -> str:
    whole = _DOTS if country in _DECIMAL_COMMA else _COMMAS
    if whole.fullmatch(text) or _SEVERAL_GROUPS.fullmatch(text):
        return re.sub("[.,]", "", text)
    if _BARE_PART.fullmatch(text):
        return f"0.{text[1:]}"
    return text.replace(",", ".") if _THREE_BEHIND.fullmatch(text) else plain_price(text)


def _number_form(decimal: str, group: str) -> re.Pattern[str]:
    """The numbers with this decimal sign, in groups that another sign or a gap parts."""
    part = rf"(?:\{decimal}[0-9]{{1,4}})"
    # In India, groups before the last have two digits.
    grouped = rf"[1-9][0-9]{{0,2}}(?:\{group}[0-9]{{2,3}})*\{group}[0-9]{{3}}"
    spaced = rf"[1-9][0-9]{{0,2}}(?:{_GAP}[0-9]{{3}})+"
    return re.compile(rf"(?:[0-9]+|{grouped}|{spaced}){part}?|{part}")


_NUMBERS = {".": _number_form(".", ","), ",": _number_form(",", ".")}

# Where `1.250` is a thousand and more; elsewhere `1,250` is.
_COMMA_COUNTRIES = """
    AD AL AM AR AT AZ BA BE BG BO BR BY CL CO CU CY CZ DE DK EC EE ES FI FO FR GE GL GR HR HU ID IS IT KG KZ LT LU LV MC
    MD ME MK NL NO PL PT PY RO RS RU SE SI SK SM SR TR UA UY UZ VA VE VN XK
"""
_DECIMAL_COMMA = frozenset(_COMMA_COUNTRIES.split())
_DOTS = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+")
# In India, groups before the last have two digits.
_COMMAS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}")
_SEVERAL_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?:(?:\.[0-9]{3}){2,}|(?:,[0-9]{3}){2,})")
_THREE_BEHIND = re.compile(r"[0-9]+,[0-9]{3}")
_BARE_PART = re.compile(r"[.,][0-9]{1,4}")
