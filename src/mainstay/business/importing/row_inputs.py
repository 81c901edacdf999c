"""Converts the cells of a row to the input of an operation."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mainstay.business.importing.amounts import AMOUNT_FIELDS, AmountFormat
from mainstay.business.importing.record_kinds import (
    CODE_FIELD,
    LINK_FIELDS,
    OWN_REFERENCE_PREFIX,
    REFERENCE_FIELD,
    ImportKind,
)
from mainstay.values.choices import fold_text, remove_accents, to_label
from mainstay.values.countries import COUNTRIES
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Fault

_DOTTED_DATE = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
# Other words for the values of choice fields. Each value is also found by its own name and label.
_CHOICE_WORDS: dict[str, Mapping[str, Sequence[str]]] = {
    # The kinds of customers and of price items.
    "kind": {
        "company": ("business", "organisation", "firm"),
        "individual": ("person", "private", "residential"),
        "labour": ("labor", "hours", "time", "work"),
        "material": ("materials", "product", "part", "goods", "stock"),
        "service": ("services",),
        "fee": ("fees", "charge", "surcharge"),
    },
    "status": {"enquiry": ("lead", "new", "quote"), "open": ("active", "live")},
    "priority": {"low": (), "normal": ("medium", "standard"), "high": (), "urgent": ("emergency", "critical")},
    "billing": {
        "fixed": ("fixed price", "quoted"),
        "timeAndMaterials": ("t&m", "day rate", "hourly"),
        "nonBillable": ("non billable", "none", "not billed", "warranty"),
    },
}
_COUNTRY_NAMES = {
    "united kingdom": "GB", "uk": "GB", "great britain": "GB", "england": "GB", "scotland": "GB", "wales": "GB",
    "northern ireland": "GB", "ireland": "IE", "united states": "US", "usa": "US", "united states of america": "US",
    "germany": "DE", "deutschland": "DE", "france": "FR", "netherlands": "NL", "spain": "ES", "austria": "AT",
    "switzerland": "CH", "belgium": "BE", "australia": "AU", "new zealand": "NZ", "canada": "CA",
}  # fmt: skip


def texts_of(cells: Sequence[str], mapping: Mapping[str, int]) -> dict[str, str]:
    """Return the cells of a row by field, without empty ones."""
    return {name: _unescape_cell(cells[index]) for name, index in mapping.items() if cells[index]}


def _unescape_cell(cell: str) -> str:
    """Return a cell without the apostrophe with which our exports keep spreadsheets from reading a formula."""
    return cell[1:] if cell[0] == "'" and cell[1:].startswith(("=", "+", "-", "@")) else cell


def to_values(texts: Mapping[str, str], amounts: AmountFormat) -> dict[str, Any]:
    """Return texts as input values, without the fields that name other records."""
    values: dict[str, Any] = {}
    for name, text in texts.items():
        parent, _, part = name.partition(".")
        if part:
            values.setdefault(parent, {})[part] = _to_value(part, text, amounts)
        elif name not in LINK_FIELDS:
            values[name] = _to_value(name, text, amounts)
    return values


def reference_of(kind: ImportKind, texts: Mapping[str, str]) -> str:
    """Return the reference that identifies a record when the file is imported again.

    Without one in the file, it is made from the identifying fields.
    """
    if reference := texts.get(REFERENCE_FIELD):
        return reference
    record_id = {name: texts.get(name, "") for name in kind.identity_fields} or texts
    if code := texts.get(CODE_FIELD):
        record_id = {CODE_FIELD: code}
    # Stored records have references that were made with this folding, so it must not change.
    content = "\n".join(f"{name} {remove_accents(text)}" for name, text in sorted(record_id.items()))
    return f"{OWN_REFERENCE_PREFIX}{hashlib.sha256(content.encode()).hexdigest()[:20]}"


def add_cell_text(texts: Mapping[str, str], fault: Fault) -> Fault:
    """Return a fault with the text of the cell added, because people search for that when they correct a file."""
    text = shorten(texts.get(fault.field, ""))
    if not text or not fault.problem.startswith("is not ") or text in fault.problem:
        return fault
    return Fault(fault.field, Message("{problem}: {text}", problem=fault.message, text=text))


def shorten(text: str) -> str:
    """Return the text of a cell on one line, shortened if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_QUOTED else f"{line[:_MAX_QUOTED]}…"


_MAX_QUOTED = 40


def _to_value(name: str, text: str, amounts: AmountFormat) -> object:
    if name in _CHOICE_WORDS:
        return _to_choice(_CHOICE_WORDS[name], text)
    if name in AMOUNT_FIELDS:
        return amounts.parse(name, text)
    if name.endswith(_DATE_SUFFIXES):
        return _to_iso_date(text)
    return _CONVERTERS[name](text) if name in _CONVERTERS else text


def _to_country_code(text: str) -> str:
    return text.upper() if text.upper() in COUNTRIES else _COUNTRY_NAMES.get(fold_text(text), text)


def _to_iso_date(text: str) -> str:
    if match := _DOTTED_DATE.fullmatch(text):
        day, month, year = match.groups()
        return f"{year}-{month:0>2}-{day:0>2}"
    return text


def _to_tags(text: str) -> list[str]:
    return [word for part in re.split("[,;]", text) if (word := part.strip())]


def _to_days(text: str) -> object:
    days = text.lower().removesuffix("days").removesuffix("day").rstrip()
    return int(days) if days.isdecimal() and days.isascii() and len(days) < _MAX_DIGITS else text


_MAX_DIGITS = 6


# The ends of the names of fields with dates.
_DATE_SUFFIXES = ("On", "Until")
# The functions that convert the texts of a field, if it is not plain text.
_CONVERTERS: Mapping[str, Callable[[str], object]] = {
    "country": _to_country_code,
    "tags": _to_tags,
    "paymentTermsDays": _to_days,
}


def _to_choice(choices: Mapping[str, Sequence[str]], text: str) -> str:
    plain = fold_text(text)
    for value, others in choices.items():
        if plain in {fold_text(value), fold_text(to_label(value)), *others}:
            return value
    return text
