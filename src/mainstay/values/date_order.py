"""Dates as people type them in their country: day, month and year in its order, with its separator."""

import re
from datetime import date
from functools import cache
from typing import NamedTuple

from mainstay.lazy_import import import_lazily

# A year of two digits is one of this century.
_CENTURY, _SHORT_YEAR = 2000, 100
_TYPED = re.compile(r"([0-9]{1,4})[-./ ]+([0-9]{1,2})[-./ ]+([0-9]{1,4})\.?")
_YEAR_FIRST = 4
_LENGTHS = {"d": 2, "m": 2, "y": 4}


class DateOrder(NamedTuple):
    """The order of the parts of a date, `dmy`, `mdy` or `ymd`, and the separator between them."""

    parts: str
    separator: str

    @property
    def example(self) -> str:
        """The placeholder of an empty date field, such as `dd/mm/yyyy`."""
        return self.separator.join(part * _LENGTHS[part] for part in self.parts)

    def format_date(self, day: date) -> str:
        """Return a date as people type it."""
        numbers = {"d": day.day, "m": day.month, "y": day.year}
        return self.separator.join(f"{numbers[part]:0{_LENGTHS[part]}}" for part in self.parts)

    def parse_date(self, text: str) -> date | None:
        """Return the date that was typed, in this order or with the year first; None if the text is not a date."""
        match = _TYPED.fullmatch(text.strip())
        if match is None:
            return None
        order = "ymd" if len(match[1]) == _YEAR_FIRST else self.parts
        numbers = dict(zip(order, map(int, match.groups()), strict=True))
        year = numbers["y"] + (_CENTURY if numbers["y"] < _SHORT_YEAR else 0)
        try:
            return date(year, numbers["m"], numbers["d"])
        except ValueError:
            return None


ISO = DateOrder("ymd", "-")


@cache
def date_order_of(country: str | None) -> DateOrder:
    """Return the date order of a country, by its first official language that Babel knows; without one, ISO 8601."""
    if country is None:
        return ISO
    languages = import_lazily("babel.languages").get_official_languages(country, de_facto=True)
    names = [f"{language}_{country}" for language in (*languages, "en")]
    known = next(filter(import_lazily("babel.localedata").exists, names), "en_GB")
    pattern = import_lazily("babel").Locale.parse(known).date_formats["short"].pattern.lower()
    parts = "".join(dict.fromkeys(letter for letter in pattern if letter in _LENGTHS))
    separator = next((letter for letter in pattern if letter in "./-"), "/")
    return DateOrder(parts, separator) if sorted(parts) == sorted(_LENGTHS) else ISO
