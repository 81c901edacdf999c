"""Reads what came in out of a bank statement that was saved as a table, whatever bank wrote it."""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from mainstay.values.written import plain_price

# What banks call their columns, in the languages of documents; what is looked for first stands first.
_DATES = (
    *("booking date", "buchungstag", "transaction date", "date opération", "fecha operación", "boekdatum"),
    *("value date", "valuta", "datum", "date", "fecha", "completed date"),
)
_IN = ("credit", "credit amount", "paid in", "money in", "haben", "gutschrift", "crédit", "credito", "crédito", "bij")
_AMOUNTS = ("amount", "betrag", "umsatz", "montant", "bedrag", "importe", "value", "transaction amount")
_TEXTS = (
    *("reference", "description", "details", "narrative", "payee", "name", "memo", "particulars", "counterparty"),
    *("verwendungszweck", "buchungstext", "auftraggeber", "beguenstigter", "begünstigter", "zahlungspflichtiger"),
    *("libellé", "référence", "bénéficiaire", "omschrijving", "mededelingen", "naam", "concepto", "ordenante"),
)
_DAY = re.compile(r"(\d{1,4})[./-](\d{1,2})[./-](\d{2,4})")
_ISO = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})")
# Where the month comes first.
_MONTH_FIRST = {"US"}
# A year of two digits is one of this century.
_CENTURY, _SHORT_YEAR = 2000, 100
_LONGEST = 500


class Entry(NamedTuple):
    """Something that came in: when, how much as a decimal, and what was written with it."""

    on: str
    amount: str
    text: str


class Unreadable(Exception):
    """The table is no bank statement that can be read; the text says what is missing."""


def came_in(headings: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], country: str) -> list[Entry]:
    """What came in; what went out is left out."""
    named = [heading.strip().casefold() for heading in headings]
    dated, amount = _first(named, _DATES), _first(named, _IN)
    if amount is None:
        amount = _first(named, _AMOUNTS)
    texts = [place for place, name in enumerate(named) if any(word in name for word in _TEXTS)]
    lacking = [
        what
        for what, found in (("the date", dated), ("the amount", amount), ("a text", texts or None))
        if found is None
    ]
    if dated is None or amount is None or lacking:
        told = " and ".join(lacking)
        raise Unreadable(f"No column was found for {told}. Name the columns date, amount and description.")
    entries = []
    for number, cells in rows:
        written = _amount(cells[amount])
        if written is None:
            continue
        on = _day(cells[dated], month_first=country in _MONTH_FIRST)
        if on is None:
            raise Unreadable(f"Row {number} has no date that can be read: {cells[dated]!r}. Write it as 2026-11-16.")
        text = " ".join(" ".join(cells[place] for place in texts).split())
        entries.append(Entry(on, written, text[:_LONGEST]))
    return entries


def _first(named: Sequence[str], words: Sequence[str]) -> int | None:
    """The column that is called so, or has it in its name."""
    for word in words:
        for place, name in enumerate(named):
            if name == word or (len(word) > len("date") and word in name):
                return place
    return None


def _amount(cell: str) -> str | None:
    """An amount that came in, as a plain decimal; nothing where something went out."""
    text = re.sub(r"[^\d.,'\u2019 \u00a0+-]", "", cell).strip().removeprefix("+")
    if not text or "-" in text or not re.search("[1-9]", text):
        return None
    return plain_price(text)


def _day(cell: str, *, month_first: bool) -> str | None:
    if found := _ISO.match(cell.strip()):
        year, month, day = map(int, found.groups())
    elif found := _DAY.match(cell.strip()):
        first, second, year = map(int, found.groups())
        day, month = (second, first) if month_first else (first, second)
        year += _CENTURY if year < _SHORT_YEAR else 0
    else:
        return None
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
