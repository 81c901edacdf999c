"""Dates as people of a country type them: day, month and year in its order, parted by its sign."""

import re
from datetime import date
from functools import cache
from typing import NamedTuple

from mainstay.late import late

# A year of two digits is one of this century.
_CENTURY, _SHORT_YEAR = 2000, 100
_TYPED = re.compile(r"([0-9]{1,4})[-./ ]+([0-9]{1,2})[-./ ]+([0-9]{1,4})\.?")
_YEAR_FIRST = 4
_LENGTHS = {"d": 2, "m": 2, "y": 4}


class DateOrder(NamedTuple):
    """The order of the parts of a date: `dmy`, `mdy` or `ymd`; and the sign between them."""

    parts: str
    sign: str

    @property
    def example(self) -> str:
        """What a field for a date shows while it is empty: `dd/mm/yyyy`."""
        return self.sign.join(part * _LENGTHS[part] for part in self.parts)

    def write(self, day: date) -> str:
        """Return a date as it is typed."""
        numbers = {"d": day.day, "m": day.month, "y": day.year}
        return self.sign.join(f"{numbers[part]:0{_LENGTHS[part]}}" for part in self.parts)

    def read(self, text: str) -> date | None:
        """Return the date that was typed, in this order or with the year first; None if it is none."""
        found = _TYPED.fullmatch(text.strip())
        if found is None:
            return None
        order = "ymd" if len(found[1]) == _YEAR_FIRST else self.parts
        numbers = dict(zip(order, map(int, found.groups()), strict=True))
        year = numbers["y"] + (_CENTURY if numbers["y"] < _SHORT_YEAR else 0)
        try:
            return date(year, numbers["m"], numbers["d"])
        except ValueError:
            return None


ISO = DateOrder("ymd", "-")


@cache
def date_order(country: str | None) -> DateOrder:
    """Return how people of a country write dates, in its first language that is known; without one, ISO 8601."""
    if country is None:
        return ISO
    languages = late("babel.languages").get_official_languages(country, de_facto=True)
    names = [f"{language}_{country}" for language in (*languages, "en")]
    known = next(filter(late("babel.localedata").exists, names), "en_GB")
    pattern = late("babel").Locale.parse(known).date_formats["short"].pattern.lower()
    parts = "".join(dict.fromkeys(letter for letter in pattern if letter in _LENGTHS))
    sign = next((letter for letter in pattern if letter in "./-"), "/")
    return DateOrder(parts, sign) if sorted(parts) == sorted(_LENGTHS) else ISO
