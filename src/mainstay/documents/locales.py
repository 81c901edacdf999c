"""Format dates, numbers, money and addresses by the language of a document and the country of its issuer."""

import re
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

from mainstay.documents.snapshot import AddressSnapshot, Snapshot
from mainstay.lazy_import import import_lazily
from mainstay.values.money import CURRENCIES

# The country to assume for a language if the country is unknown.
_DEFAULT_COUNTRIES = {"en": "GB", "de": "DE", "fr": "FR", "nl": "NL", "es": "ES"}
_MINUS = "\N{MINUS SIGN}"
# Countries that write town, region and postal code on one line, in this order.
_TOWN_FIRST = {"US", "CA", "AU"}
# Countries that write the postal code on a line of its own, below the town.
_CODE_LAST = {"GB", "IE", "GG", "JE", "IM", "IN", "ZA"}


class Locale:
    """How dates, numbers, money and addresses are written for one language and country."""

    def __init__(self, language: str, country: str | None = None) -> None:
        self._country = country or _DEFAULT_COUNTRIES[language]
        self._locale = _load_locale(language, self._country)

    @classmethod
    def for_snapshot(cls, snapshot: Snapshot) -> "Locale":
        """Return the locale for the language of a document and the country of its issuer."""
        home = snapshot.issuer.address
        return cls(snapshot.language, home.country if home else None)

    def format_day(self, text: str) -> str:
        """Format a date, such as 16 November 2026."""
        return str(import_lazily("babel.dates").format_date(date.fromisoformat(text), "long", locale=self._locale))

    def format_period(self, start: str, end: str) -> str:
        """Format a period, such as 9 to 10 Nov 2026, or one date if both are the same."""
        if start == end:
            return self.format_day(start)
        dates = date.fromisoformat(start), date.fromisoformat(end)
        return str(import_lazily("babel.dates").format_interval(*dates, "yMMMd", locale=self._locale))

    def format_amount(self, text: str | Decimal, currency: str) -> str:
        """Format an amount without its currency, with all of the currency's decimals."""
        decimals = CURRENCIES[currency]
        return self._format_number(Decimal(text), "#,##0." + "0" * decimals if decimals else "#,##0")

    def format_price(self, text: str, currency: str) -> str:
        """Format a unit price, with more decimals than the currency if it has them."""
        decimals = CURRENCIES[currency]
        return self._format_number(Decimal(text), "#,##0." + "0" * decimals + "#" * max(0, 4 - decimals))

    def format_quantity(self, text: str) -> str:
        """Format a quantity, with as many decimals as it has."""
        return self._format_number(Decimal(text), "#,##0.####")

    def format_percent(self, value: str | Decimal) -> str:
        """Format a percentage, such as 19%."""
        pattern = self._locale.percent_formats[None].pattern
        return self._format_number(Decimal(value) / 100, pattern.replace("##0", "##0.######"))

    def format_money(self, text: str | Decimal, currency: str) -> str:
        """Format an amount with its currency, for use in a sentence."""
        return _format_currency(Decimal(text), currency, self._locale)

    def format_address(self, place: AddressSnapshot | None) -> list[str]:
        """Return the lines of an address. The country is included only if it is a foreign one."""
        if place is None:
            return []
        lines = [place.line1, place.line2, *_town_lines(place, place.country or self._country)]
        if place.country and place.country != self._country:
            lines.append(self._locale.territories.get(place.country, place.country))
        return [line for line in lines if line]

    def _format_number(self, number: Decimal, pattern: str) -> str:
        numbers = import_lazily("babel.numbers")
        return _replace_minus(numbers.format_decimal(number, pattern, self._locale))


# Cached, because few amounts are in use and each appears on many pages.
@lru_cache(4096)
def format_decimal_of_country(text: str, country: str) -> str:
    """Format a decimal as it is written in a country, with as many decimals as it has."""
    locale = _load_country_locale(country)
    whole_pattern = locale.decimal_formats[None].pattern.partition(".")[0]
    decimals = len(text.partition(".")[2])
    pattern = f"{whole_pattern}.{'0' * decimals}" if decimals else whole_pattern
    return _replace_minus(import_lazily("babel.numbers").format_decimal(Decimal(text), pattern, locale))


def format_percent_of_country(text: str, country: str) -> str:
    """Format a percentage as it is written in a country, with as many decimals as it has: `20%`, or `20 %`."""
    before, after = _NUMBER_IN_PATTERN.split(_load_country_locale(country).percent_formats[None].pattern, maxsplit=1)
    return f"{before}{format_decimal_of_country(text, country)}{after}"


_NUMBER_IN_PATTERN = re.compile("[#,.0]+")


@lru_cache(4096)
def format_money_of_country(text: str, currency: str, country: str) -> str:
    """Format an amount or a price with its currency, and with all decimals that it has: `£1,548.00`, `£0.125`."""
    return _format_currency(Decimal(text), currency, _load_country_locale(country), len(text.partition(".")[2]))


def _format_currency(number: Decimal, currency: str, locale: Any, min_decimals: int = 0) -> str:
    # Babel uses the decimals of cash payments, so it would round dinars although documents show their fractions.
    decimals = max(CURRENCIES[currency], min_decimals)
    pattern = locale.currency_formats["standard"].pattern.replace("0.00", f"0.{'0' * decimals}" if decimals else "0")
    numbers = import_lazily("babel.numbers")
    return _replace_minus(numbers.format_currency(number, currency, pattern, locale=locale, currency_digits=False))


@cache
def _load_country_locale(country: str) -> Any:
    """Return the locale for numbers in a country.

    This is the country's own English if there is one, or else its first known language.
    """
    data = import_lazily("babel.localedata")
    languages = import_lazily("babel.languages").get_official_languages(country, de_facto=True)
    names = [f"{language}_{country}" for language in ("en", *languages)]
    return import_lazily("babel").Locale.parse(next(filter(data.exists, names), f"en_{_DEFAULT_COUNTRIES['en']}"))


@cache
def _load_locale(language: str, country: str) -> Any:
    """Return the country's own locale of a language, or else the usual locale of the language.

    Someone who reads English in Germany expects English numbers.
    """
    is_spoken = language in import_lazily("babel.languages").get_official_languages(
        country, regional=True, de_facto=True
    )
    return import_lazily("babel").Locale(language, country if is_spoken else _DEFAULT_COUNTRIES[language])


def _replace_minus(text: str) -> str:
    # A hyphen is hard to see before a number.
    return text.replace("-", _MINUS)


def _town_lines(address: AddressSnapshot, country: str) -> list[str | None]:
    """Return the lines with town, region and postal code, in the order of the country."""
    if country in _TOWN_FIRST:
        region_and_code = " ".join(part for part in (address.region, address.postal_code) if part)
        comma = ", " if country == "US" else " "
        return [comma.join(part for part in (address.city, region_and_code) if part)]
    if country in _CODE_LAST:
        return [address.city, address.region, address.postal_code]
    return [" ".join(part for part in (address.postal_code, address.city) if part), address.region]
