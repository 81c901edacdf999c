"""Reads what came in out of a bank statement that was saved as a table, whatever bank wrote it."""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from mainstay.values.money import in_minor, parse_price
from mainstay.values.written import column_signs, foreign_currency, plain_amount, plain_number

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
# What says that money went out: in a cell of its own, or beside the amount.
_OUT_WORDS = "af s soll d dr db dbit debit débit debet debito débito dare debe cargo out withdrawal"
_OUT = frozenset((*_OUT_WORDS.split(), "-", "\u2212", "\u2013"))
# The words in the heading of a column that says which way money went; some banks leave that heading empty.
_WAYS = tuple(
    frozenset(pair.split())
    for pair in (
        *("af bij", "soll haben", "s h", "d c", "dr cr", "debit credit", "debet credit", "débit crédit"),
        *("dare avere", "debe haber", "cargo abono", "sign", "sens", "indicator"),
    )
)
_DASHES = "-\u2212\u2012\u2013\u2014\uff0d"
# A whole amount as in `50,-`, where the dash stands for no cents.
_NO_CENTS = re.compile(rf"(?<=[0-9])[.,] ?[{_DASHES}]{{1,2}}(?![0-9])")
# What stands before, the number, and what stands behind it; a dot that ends a word (`Rs.500`) is not of the number.
_WRITTEN = re.compile(
    r"([^0-9]*?)((?<![^\W\d_])[.,]?[0-9](?:[0-9.,'\u2019 \u00a0\u2009\u202f]*[0-9])?)([^0-9]*)", re.DOTALL
)
_DAY = re.compile(r"(\d{1,4})[./-](\d{1,2})[./-](\d{2,4})")
_ISO = re.compile(r"(\d{4})[./-]?(\d{2})[./-]?(\d{2})")
# Where the month comes first.
_MONTH_FIRST = {"US"}
# A year of two digits is one of this century.
_CENTURY, _SHORT_YEAR = 2000, 100
_LONGEST = 500


class Incoming(NamedTuple):
    """Something that came in: when, how much as a decimal, and what was written with it.

    Where there is a problem, it cannot be recorded, and date and amount are as the bank wrote them.
    """

    on: str
    amount: str
    text: str
    problem: str | None = None


class Unreadable(Exception):
    """The table is no bank statement that can be read; the text says what is missing."""


def came_in(
    headings: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], country: str, currency: str
) -> list[Incoming]:
    """What came in; what went out is left out."""
    columns = _columns([heading.strip().casefold() for heading in headings], [cells for _, cells in rows])
    numbers = (_number(cells[columns.amount].strip()) for _, cells in rows)
    reading = _Reading(country, currency, column_signs(found[2] for found in numbers if found).decimal)
    entries = (_entry(cells, columns, reading) for _, cells in rows)
    return [entry for entry in entries if entry]


class _Reading(NamedTuple):
    """How amounts are read: by the decimal sign that the column proves, or else as people of a country write them."""

    country: str
    currency: str
    decimal: str | None

    def amount(self, number: str) -> str:
        """Return an amount as a plain decimal."""
        return plain_number(number, self.decimal) if self.decimal else plain_amount(number, self.country)


class _Columns(NamedTuple):
    dated: int
    amount: int
    texts: Sequence[int]
    # Those that may say which way money went, and those of them that are there for nothing else.
    ways: Sequence[int]
    only_ways: frozenset[int]


def _columns(named: Sequence[str], rows: Sequence[Sequence[str]]) -> _Columns:
    only_ways = frozenset(place for place, name in enumerate(named) if _tells_way(name))
    dated = _first(named, _DATES, range(len(named)))
    sums = [
        place
        for place in range(len(named))
        if place != dated and _has_sums(rows, place, if_empty=place not in only_ways)
    ]
    amount = _first(named, _IN, sums)
    if amount is None:
        amount = _first(named, _AMOUNTS, sums)
    texts = [place for place, name in enumerate(named) if any(word in name for word in _TEXTS)]
    lacking = [
        what
        for what, found in (("the date", dated), ("the amount", amount), ("a text", texts or None))
        if found is None
    ]
    if dated is None or amount is None or lacking:
        told = " and ".join(lacking)
        raise Unreadable(f"No column was found for {told}. Name the columns date, amount and description.")
    ways = [place for place in range(len(named)) if place not in {dated, amount, *texts}]
    return _Columns(dated, amount, texts, ways, only_ways)


def _tells_way(name: str) -> bool:
    words = set(re.findall(r"\w+", name))
    return not words or any(pair <= words for pair in _WAYS)


def _has_sums(rows: Sequence[Sequence[str]], place: int, *, if_empty: bool) -> bool:
    """Whether numbers stand in a column; one with nothing in it but dashes may be for them."""
    filled = [cells[place] for cells in rows if any(map(str.isalnum, cells[place]))]
    return any(re.search("[0-9]", cell) for cell in filled) if filled else if_empty


def _first(named: Sequence[str], words: Sequence[str], places: Sequence[int]) -> int | None:
    """Of these columns the one that is called so, or has it in its name."""
    for word in words:
        called = [place for place in places if named[place] == word]
        if len(word) > len("date"):
            called += [place for place in places if word in named[place]]
        if called:
            return called[0]
    return None


def _entry(cells: Sequence[str], columns: _Columns, reading: _Reading) -> Incoming | None:
    """What a row says came in; nothing where something went out, or nothing was moved."""
    written, dated = cells[columns.amount].strip(), cells[columns.dated].strip()
    if _is_sent(cells, columns) or not any(map(str.isalnum, written)):
        return None
    text = " ".join(_on_one_line(" ".join(cells[place] for place in columns.texts)).split())[:_LONGEST]
    found = _number(written)
    if found and _is_taken_off(found[1], found[3]):
        return None
    try:
        amount = _amount(found, written, reading)
        on = _day(dated, month_first=reading.country in _MONTH_FIRST) if amount else ""
    except ValueError as wrong:
        return Incoming(dated, written, text, str(wrong))
    return Incoming(on, amount, text) if amount else None


def _number(written: str) -> re.Match[str] | None:
    """The number in a cell, with what stands before and behind it."""
    return _WRITTEN.fullmatch(_NO_CENTS.sub("", written))


def _is_sent(cells: Sequence[str], columns: _Columns) -> bool:
    """Whether a cell says that money went out; a single letter does so only where nothing else is told."""
    told = ((place, cells[place].strip().casefold()) for place in columns.ways)
    return any(word in _OUT and (len(word) > 1 or place in columns.only_ways) for place, word in told)


def _is_taken_off(before: str, behind: str) -> bool:
    """Whether what stands around an amount says that it went out: `-5`, `(5)`, `5 DR`. `S$5` did not."""
    if "(" in before or any(dash in before + behind for dash in _DASHES):
        return True
    words = [word for word in _words(before) if len(word) > 1] + _words(behind)
    return not _OUT.isdisjoint(words)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _amount(found: re.Match[str] | None, written: str, reading: _Reading) -> str:
    """An amount as a plain decimal, empty where it is nothing; ValueError says why it is none."""
    around = f"{found[1]} {found[3]}" if found else ""
    if mark := foreign_currency(around, reading.currency):
        raise ValueError(f"The amount is in {mark}, not in {reading.currency}. Record the payment by hand.")
    plain = reading.amount(found[2] if found else written)
    price = parse_price(plain)
    try:
        in_minor(price, reading.currency)
    except ValueError as wrong:
        raise ValueError(f"The amount {wrong}.") from None
    return plain if price else ""


def _day(cell: str, *, month_first: bool) -> str:
    if found := _ISO.match(cell):
        year, month, day = map(int, found.groups())
    elif found := _DAY.match(cell):
        first, second, year = map(int, found.groups())
        day, month = (second, first) if month_first else (first, second)
        year += _CENTURY if year < _SHORT_YEAR else 0
    else:
        raise ValueError(_NO_DATE)
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        raise ValueError(_NO_DATE) from None


_NO_DATE = "The date cannot be read. Write it as 2026-11-16."


def _on_one_line(text: str) -> str:
    """A text without characters that nobody sees, which a payment does not take."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
