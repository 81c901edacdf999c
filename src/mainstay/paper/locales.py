"""Dates, numbers, money and addresses as people write them, by their language and the country of who writes to them."""

from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

from mainstay.late import late
from mainstay.paper.snapshot import Place, Snapshot
from mainstay.values.money import CURRENCIES

# Where nothing is known of the country: the country that reads the language in the way most do.
_USUAL = {"en": "GB", "de": "DE", "fr": "FR", "nl": "NL", "es": "ES"}
_MINUS = "\N{MINUS SIGN}"
# Where the town comes before the region and the code, on one line.
_TOWN_FIRST = {"US", "CA", "AU"}
# Where the code has a line of its own, below the town.
_CODE_BELOW = {"GB", "IE", "GG", "JE", "IM", "IN", "ZA"}


class Locale:
    """How things are written for one kind of reader."""

    def __init__(self, language: str, country: str | None = None) -> None:
        self._country = country or _USUAL[language]
        self._locale = _of(language, self._country)

    @classmethod
    def of(cls, snapshot: Snapshot) -> "Locale":
        """How whoever issued a document writes to whoever reads it."""
        home = snapshot.issuer.address
        return cls(snapshot.language, home.country if home else None)

    def day(self, text: str) -> str:
        """A date, such as 16 November 2026."""
        return str(late("babel.dates").format_date(date.fromisoformat(text), "long", locale=self._locale))

    def days(self, start: str, end: str) -> str:
        """From one day to another, such as 9 to 10 Nov 2026; one day alone if they are the same."""
        if start == end:
            return self.day(start)
        both = date.fromisoformat(start), date.fromisoformat(end)
        return str(late("babel.dates").format_interval(*both, "yMMMd", locale=self._locale))

    def amount(self, text: str | Decimal, currency: str) -> str:
        """An amount without its currency, with all of the currency's decimals."""
        decimals = CURRENCIES[currency]
        return self._number(Decimal(text), "#,##0." + "0" * decimals if decimals else "#,##0")

    def price(self, text: str, currency: str) -> str:
        """A price of one, with more decimals where it has them."""
        decimals = CURRENCIES[currency]
        return self._number(Decimal(text), "#,##0." + "0" * decimals + "#" * max(0, 4 - decimals))

    def quantity(self, text: str) -> str:
        """A quantity, with as many decimals as it has."""
        return self._number(Decimal(text), "#,##0.####")

    def percent(self, value: str | Decimal) -> str:
        """A percentage, such as 19 %."""
        pattern = self._locale.percent_formats[None].pattern
        return self._number(Decimal(value) / 100, pattern.replace("##0", "##0.######"))

    def money(self, text: str | Decimal, currency: str) -> str:
        """An amount with its currency, as in a sentence."""
        # In decimals Babel goes by what is handed over a counter: it would round dinars that documents have parts of.
        decimals = CURRENCIES[currency]
        pattern = self._locale.currency_formats["standard"].pattern
        exact = pattern.replace("0.00", f"0.{'0' * decimals}" if decimals else "0")
        numbers = late("babel.numbers")
        return _with_minus(
            numbers.format_currency(Decimal(text), currency, exact, locale=self._locale, currency_digits=False)
        )

    def address(self, place: Place | None) -> list[str]:
        """The lines of an address; the country is named where it is another one."""
        if place is None:
            return []
        lines = [place.line1, place.line2, *_town(place, place.country or self._country)]
        if place.country and place.country != self._country:
            lines.append(self._locale.territories.get(place.country, place.country))
        return [line for line in lines if line]

    def _number(self, number: Decimal, pattern: str) -> str:
        numbers = late("babel.numbers")
        return _with_minus(numbers.format_decimal(number, pattern, self._locale))


# Few amounts are in use, and each stands on many pages.
@lru_cache(4096)
def written(text: str, country: str) -> str:
    """A decimal as it is written in a country, with as many decimals as it has."""
    locale = _of_country(country)
    whole = locale.decimal_formats[None].pattern.partition(".")[0]
    decimals = len(text.partition(".")[2])
    pattern = f"{whole}.{'0' * decimals}" if decimals else whole
    return _with_minus(late("babel.numbers").format_decimal(Decimal(text), pattern, locale))


@cache
def _of_country(country: str) -> Any:
    """As a country writes numbers: its own English where it has one, else its first language that is known."""
    data = late("babel.localedata")
    spoken = late("babel.languages").get_official_languages(country, de_facto=True)
    names = [f"{language}_{country}" for language in ("en", *spoken)]
    return late("babel").Locale.parse(next(filter(data.exists, names), f"en_{_USUAL['en']}"))


@cache
def _of(language: str, country: str) -> Any:
    """As the country writes its own language; someone who reads English in Germany expects English numbers."""
    spoken = language in late("babel.languages").get_official_languages(country, regional=True, de_facto=True)
    return late("babel").Locale(language, country if spoken else _USUAL[language])


def _with_minus(written: str) -> str:
    # A hyphen is too short to be seen before a number.
    return written.replace("-", _MINUS)


def _town(place: Place, country: str) -> list[str | None]:
    """The lines with town, region and code, in the order of the country."""
    if country in _TOWN_FIRST:
        behind = " ".join(part for part in (place.region, place.postal_code) if part)
        comma = ", " if country == "US" else " "
        return [comma.join(part for part in (place.city, behind) if part)]
    if country in _CODE_BELOW:
        return [place.city, place.region, place.postal_code]
    return [" ".join(part for part in (place.postal_code, place.city) if part), place.region]
