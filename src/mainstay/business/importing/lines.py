"""One row of a file as an operation takes it: texts into values, names into ids."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mainstay.business.importing.model import CUSTOMER, REFERENCE, SITE, Kind
from mainstay.values.places import COUNTRIES
from mainstay.values.words import folded, words_of

_DOTTED = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
# Words for what is one of a few: each by its name, as people write it, and by these.
_CHOICES: dict[str, Mapping[str, Sequence[str]]] = {
    "kind": {"company": ("business", "organisation", "firm"), "individual": ("person", "private", "residential")},
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


def values_of(texts: Mapping[str, str]) -> dict[str, Any]:
    """The same as an operation takes them; which customer and site they name is for others to find."""
    values: dict[str, Any] = {}
    for name, text in texts.items():
        whole, _, part = name.partition(".")
        if part:
            values.setdefault(whole, {})[part] = _value(part, text)
        elif name not in {CUSTOMER, SITE}:
            values[name] = _value(name, text)
    return values


def reference_of(kind: Kind, texts: Mapping[str, str]) -> str:
    """What a record is known by when the file comes again: its reference, or one made of what tells it apart."""
    if given := texts.get(REFERENCE):
        return given
    told = {name: texts.get(name, "") for name in kind.told_apart_by} or texts
    content = "\n".join(f"{name} {folded(text)}" for name, text in sorted(told.items()))
    return f"import {hashlib.sha256(content.encode()).hexdigest()[:20]}"


def _value(name: str, text: str) -> object:
    if name in _CHOICES:
        return _chosen(_CHOICES[name], text)
    if name == "country":
        return text.upper() if text.upper() in COUNTRIES else _COUNTRY_NAMES.get(folded(text), text)
    if name == "dueOn" and (found := _DOTTED.fullmatch(text)):
        day, month, year = found.groups()
        return f"{year}-{month:0>2}-{day:0>2}"
    if name == "tags":
        return [word for part in re.split("[,;]", text) if (word := part.strip())]
    if name == "paymentTermsDays":
        days = re.sub(r"\s*days?$", "", text, flags=re.IGNORECASE)
        return int(days) if days.isdecimal() and days.isascii() and len(days) < _DIGITS else text
    return text


_DIGITS = 6


def _chosen(choices: Mapping[str, Sequence[str]], text: str) -> str:
    plain = folded(text)
    for value, others in choices.items():
        if plain in {folded(value), folded(words_of(value)), *others}:
            return value
    return text
