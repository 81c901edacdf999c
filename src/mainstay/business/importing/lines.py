"""One row of a file as an operation takes it: texts into values, names into ids."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mainstay.business.importing.amounts import AMOUNTS, AmountFormat
from mainstay.business.importing.model import CODE, NAMES_ANOTHER, OWN_REFERENCE, REFERENCE, Kind
from mainstay.terms.refusal import Fault
from mainstay.values.places import COUNTRIES
from mainstay.values.words import folded, unaccented, words_of

_DOTTED = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
# Words for what is one of a few: each by its name, as people write it, and by these.
_CHOICES: dict[str, Mapping[str, Sequence[str]]] = {
    # Of a customer, and of an item of the price list.
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
        "nonBillable": ("none", "not billed", "warranty"),
    },
}
_COUNTRY_NAMES = {
    "united kingdom": "GB", "uk": "GB", "great britain": "GB", "england": "GB", "scotland": "GB", "wales": "GB",
    "northern ireland": "GB", "ireland": "IE", "united states": "US", "usa": "US", "united states of america": "US",
    "germany": "DE", "deutschland": "DE", "france": "FR", "netherlands": "NL", "spain": "ES", "austria": "AT",
    "switzerland": "CH", "belgium": "BE", "australia": "AU", "new zealand": "NZ", "canada": "CA",
}  # fmt: skip


def texts_of(cells: Sequence[str], mapping: Mapping[str, int]) -> dict[str, str]:
    """The cells of a row by the field that each is for; what is empty says nothing."""
    return {name: _undone(cells[at]) for name, at in mapping.items() if cells[at]}


def _undone(cell: str) -> str:
    """A cell without the sign that keeps spreadsheets from taking it for a formula, as our own exports have it."""
    return cell[1:] if cell[0] == "'" and cell[1:].startswith(("=", "+", "-", "@")) else cell


def values_of(texts: Mapping[str, str], amounts: AmountFormat) -> dict[str, Any]:
    """The same as an operation takes them; which other records they name is for others to find."""
    values: dict[str, Any] = {}
    for name, text in texts.items():
        whole, _, part = name.partition(".")
        if part:
            values.setdefault(whole, {})[part] = _value(part, text, amounts)
        elif name not in NAMES_ANOTHER:
            values[name] = _value(name, text, amounts)
    return values


def reference_of(kind: Kind, texts: Mapping[str, str]) -> str:
    """What a record is known by when the file comes again: its reference, or one made of what tells it apart."""
    if given := texts.get(REFERENCE):
        return given
    told = {name: texts.get(name, "") for name in kind.told_apart_by} or texts
    if code := texts.get(CODE):
        told = {CODE: code}
    # Records are kept under it already, of texts that were folded like this.
    content = "\n".join(f"{name} {unaccented(text)}" for name, text in sorted(told.items()))
    return f"{OWN_REFERENCE}{hashlib.sha256(content.encode()).hexdigest()[:20]}"


def told_with(texts: Mapping[str, str], fault: Fault) -> Fault:
    """A fault that says what a cell should be, with what stands there: whoever mends a file looks for that."""
    told = shortly(texts.get(fault.field, ""))
    if not told or not fault.problem.startswith("is not ") or told in fault.problem:
        return fault
    return Fault(fault.field, f"{fault.problem}: {told}")


def shortly(text: str) -> str:
    """What stands in a cell on one line, of much its beginning."""
    line = " ".join(text.split())
    return line if len(line) <= _TOLD else f"{line[:_TOLD]}…"


_TOLD = 40


def _value(name: str, text: str, amounts: AmountFormat) -> object:
    if name in _CHOICES:
        return _chosen(_CHOICES[name], text)
    if name in AMOUNTS:
        return amounts.read(name, text)
    return _TURNS[name](text) if name in _TURNS else text


def _country(text: str) -> str:
    return text.upper() if text.upper() in COUNTRIES else _COUNTRY_NAMES.get(folded(text), text)


def _date(text: str) -> str:
    if found := _DOTTED.fullmatch(text):
        day, month, year = found.groups()
        return f"{year}-{month:0>2}-{day:0>2}"
    return text


def _tags(text: str) -> list[str]:
    return [word for part in re.split("[,;]", text) if (word := part.strip())]


def _days(text: str) -> object:
    days = re.sub(r"\s*days?$", "", text, flags=re.IGNORECASE)
    return int(days) if days.isdecimal() and days.isascii() and len(days) < _DIGITS else text


_DIGITS = 6


# What reads the texts of a column, where it is more than a text.
_TURNS: Mapping[str, Callable[[str], object]] = {
    "country": _country,
    "dueOn": _date,
    "tags": _tags,
    "paymentTermsDays": _days,
}


def _chosen(choices: Mapping[str, Sequence[str]], text: str) -> str:
    plain = folded(text)
    for value, others in choices.items():
        if plain in {folded(value), folded(words_of(value)), *others}:
            return value
    return text
