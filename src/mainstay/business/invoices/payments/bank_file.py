"""Reads the incoming payments from a bank statement saved as a table, in the format of any bank."""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from mainstay.values.message import Message, ShownMessage, message_of
from mainstay.values.money import parse_price, price_to_minor
from mainstay.values.typed_prices import detect_column_format, find_foreign_currency, normalise_amount, normalise_number

# The headings that banks use, in the languages of documents; the preferred ones first.
_DATE_HEADINGS = (
    *("booking date", "buchungstag", "transaction date", "date opération", "fecha operación", "boekdatum"),
    *("value date", "valuta", "datum", "date", "fecha", "completed date"),
)
_INCOMING_HEADINGS = (
    "credit",
    "credit amount",
    "paid in",
    "money in",
    "haben",
    "gutschrift",
    "crédit",
    "credito",
    "crédito",
    "bij",
)
_AMOUNT_HEADINGS = ("amount", "betrag", "umsatz", "montant", "bedrag", "importe", "value", "transaction amount")
_TEXT_HEADINGS = (
    *("reference", "description", "details", "narrative", "payee", "name", "memo", "particulars", "counterparty"),
    *("verwendungszweck", "buchungstext", "auftraggeber", "beguenstigter", "begünstigter", "zahlungspflichtiger"),
    *("libellé", "référence", "bénéficiaire", "omschrijving", "mededelingen", "naam", "concepto", "ordenante"),
)
# The words for outgoing money, in a cell of their own or next to the amount.
_OUTGOING_WORDS = "af s soll d dr db dbit debit débit debet debito débito dare debe cargo out withdrawal"
_OUTGOING = frozenset((*_OUTGOING_WORDS.split(), "-", "\u2212", "\u2013"))
# The words in the heading of a column with the direction of the money. Some banks leave that heading empty.
_DIRECTION_HEADINGS = tuple(
    frozenset(pair.split())
    for pair in (
        *("af bij", "soll haben", "s h", "d c", "dr cr", "debit credit", "debet credit", "débit crédit"),
        *("dare avere", "debe haber", "cargo abono", "sign", "sens", "indicator"),
    )
)
_DASHES = "-\u2212\u2012\u2013\u2014\uff0d"
# An amount without cents, such as `50,-`.
_NO_CENTS = re.compile(rf"(?<=[0-9])[.,] ?[{_DASHES}]{{1,2}}(?![0-9])")
# The text before a number, the number, and the text after it. A dot that ends a word (`Rs.500`) is not of the number.
_NUMBER_IN_CELL = re.compile(
    r"([^0-9]*?)((?<![^\W\d_])[.,]?[0-9](?:[0-9.,'\u2019 \u00a0\u2009\u202f]*[0-9])?)([^0-9]*)", re.DOTALL
)
_DATE_PATTERN = re.compile(r"(\d{1,4})[./-](\d{1,2})[./-](\d{2,4})")
_ISO_DATE_PATTERN = re.compile(r"(\d{4})[./-]?(\d{2})[./-]?(\d{2})")
# The countries that write the month first.
_MONTH_FIRST = {"US"}
# A year of two digits belongs to this century.
_CENTURY, _SHORT_YEAR = 2000, 100
_MAX_TEXT_LENGTH = 500


class IncomingPayment(NamedTuple):
    """An incoming payment: its date, its amount as a decimal, and the text that came with it.

    If there is a problem, it cannot be recorded; date and amount are then as the bank wrote them.
    """

    on: str
    amount: str
    text: str
    problem: ShownMessage | None = None


class UnreadableStatement(Exception):
    """The table cannot be read as a bank statement; the message says what is missing."""


def read_incoming_payments(
    headings: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], country: str, currency: str
) -> list[IncomingPayment]:
    """Return the incoming payments; leave out outgoing ones."""
    columns = _find_columns([heading.strip().casefold() for heading in headings], [cells for _, cells in rows])
    numbers = (_find_number(cells[columns.amount].strip()) for _, cells in rows)
    reading = _AmountReader(
        country, currency, detect_column_format(found[2] for found in numbers if found).decimal_sign
    )
    entries = (_read_entry(cells, columns, reading) for _, cells in rows)
    return [entry for entry in entries if entry]


class _AmountReader(NamedTuple):
    """How amounts are read: by the decimal sign that the column proves, or else by the usage of a country."""

    country: str
    currency: str
    decimal: str | None

    def to_decimal(self, number: str) -> str:
        """Return an amount as a plain decimal."""
        return normalise_number(number, self.decimal) if self.decimal else normalise_amount(number, self.country)


class _Columns(NamedTuple):
    date: int
    amount: int
    texts: Sequence[int]
    # The columns that may contain the direction of the money, and those of them that contain nothing else.
    directions: Sequence[int]
    only_directions: frozenset[int]


def _find_columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> _Columns:
    only_directions = frozenset(index for index, name in enumerate(headings) if _is_direction_heading(name))
    date_column = _find_column(headings, _DATE_HEADINGS, range(len(headings)))
    numeric = [
        index
        for index in range(len(headings))
        if index != date_column and _has_numbers(rows, index, if_empty=index not in only_directions)
    ]
    amount = _find_column(headings, _INCOMING_HEADINGS, numeric)
    if amount is None:
        amount = _find_column(headings, _AMOUNT_HEADINGS, numeric)
    texts = [index for index, name in enumerate(headings) if any(word in name for word in _TEXT_HEADINGS)]
    missing = [
        what
        for what, found in (
            (Message("the date"), date_column),
            (Message("the amount"), amount),
            (Message("the description"), texts or None),
        )
        if found is None
    ]
    if date_column is None or amount is None or missing:
        raise UnreadableStatement(
            Message("No column found for {columns}. Name the columns date, amount and description.", columns=[*missing])
        )
    directions = [index for index in range(len(headings)) if index not in {date_column, amount, *texts}]
    return _Columns(date_column, amount, texts, directions, only_directions)


def _is_direction_heading(heading: str) -> bool:
    words = set(re.findall(r"\w+", heading))
    return not words or any(pair <= words for pair in _DIRECTION_HEADINGS)


def _has_numbers(rows: Sequence[Sequence[str]], index: int, *, if_empty: bool) -> bool:
    """Return whether a column contains numbers; `if_empty` if it contains nothing but dashes."""
    filled = [cells[index] for cells in rows if any(map(str.isalnum, cells[index]))]
    return any(re.search("[0-9]", cell) for cell in filled) if filled else if_empty


def _find_column(headings: Sequence[str], words: Sequence[str], places: Sequence[int]) -> int | None:
    """Find the first of these columns with one of these headings, exactly or as a part of the heading."""
    for word in words:
        matches = [index for index in places if headings[index] == word]
        if len(word) > len("date"):
            matches += [index for index in places if word in headings[index]]
        if matches:
            return matches[0]
    return None


def _read_entry(cells: Sequence[str], columns: _Columns, reading: _AmountReader) -> IncomingPayment | None:
    """Read the incoming payment in a row; return None if money went out, or the amount is zero."""
    amount_text, date_text = cells[columns.amount].strip(), cells[columns.date].strip()
    if _is_outgoing(cells, columns) or not any(map(str.isalnum, amount_text)):
        return None
    text = " ".join(_replace_invisible(" ".join(cells[index] for index in columns.texts)).split())[:_MAX_TEXT_LENGTH]
    found = _find_number(amount_text)
    if found and _is_marked_outgoing(found[1], found[3]):
        return None
    try:
        amount = _read_amount(found, amount_text, reading)
        on = _read_date(date_text, month_first=reading.country in _MONTH_FIRST) if amount else ""
    except ValueError as error:
        return IncomingPayment(date_text, amount_text, text, message_of(error))
    return IncomingPayment(on, amount, text) if amount else None


def _find_number(cell: str) -> re.Match[str] | None:
    """Find the number in a cell, with the text before and after it."""
    return _NUMBER_IN_CELL.fullmatch(_NO_CENTS.sub("", cell))


def _is_outgoing(cells: Sequence[str], columns: _Columns) -> bool:
    """Return whether a cell says that money went out; a single letter counts only in a column for the direction."""
    words = ((index, cells[index].strip().casefold()) for index in columns.directions)
    return any(word in _OUTGOING and (len(word) > 1 or index in columns.only_directions) for index, word in words)


def _is_marked_outgoing(before: str, behind: str) -> bool:
    """Return whether the text around an amount says that money went out, as in `-5`, `(5)`, `5 DR`; not in `S$5`."""
    if "(" in before or any(dash in before + behind for dash in _DASHES):
        return True
    words = [word for word in _split_words(before) if len(word) > 1] + _split_words(behind)
    return not _OUTGOING.isdisjoint(words)


def _split_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _read_amount(found: re.Match[str] | None, cell: str, reading: _AmountReader) -> str:
    """Return an amount as a plain decimal, empty if it is zero; raise ValueError if it cannot be read."""
    text_around = f"{found[1]} {found[3]}" if found else ""
    if mark := find_foreign_currency(text_around, reading.currency):
        raise ValueError(
            Message(
                "The amount is in {mark}, not in {currency}. Record the payment by hand.",
                mark=mark,
                currency=reading.currency,
            )
        )
    decimal = reading.to_decimal(found[2] if found else cell)
    price = parse_price(decimal)
    try:
        price_to_minor(price, reading.currency)
    except ValueError as error:
        raise ValueError(Message("The amount {problem}.", problem=message_of(error))) from None
    return decimal if price else ""


def _read_date(cell: str, *, month_first: bool) -> str:
    if found := _ISO_DATE_PATTERN.match(cell):
        year, month, day = map(int, found.groups())
    elif found := _DATE_PATTERN.match(cell):
        first, second, year = map(int, found.groups())
        day, month = (second, first) if month_first else (first, second)
        year += _CENTURY if year < _SHORT_YEAR else 0
    else:
        raise ValueError(_NO_DATE)
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        raise ValueError(_NO_DATE) from None


_NO_DATE = Message("The date can't be read. Write it as {example}.", example="2026-11-16")


def _replace_invisible(text: str) -> str:
    """Replace invisible characters by spaces, because a payment refuses them."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
