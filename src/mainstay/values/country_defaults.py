"""The usual currency and time zones of each country, if they are known."""

from functools import cache
from typing import NamedTuple

from mainstay.lazy_import import import_lazily
from mainstay.values.countries import COUNTRIES
from mainstay.values.money import CURRENCIES
from mainstay.values.names import current_zone_names

# The zone in which most people live, for countries with several zones.
_MAIN_ZONES = {
    "AR": "America/Argentina/Buenos_Aires",
    "AU": "Australia/Sydney",
    "BR": "America/Sao_Paulo",
    "CA": "America/Toronto",
    "CD": "Africa/Kinshasa",
    "CL": "America/Santiago",
    "CN": "Asia/Shanghai",
    "CY": "Asia/Nicosia",
    "DE": "Europe/Berlin",
    "EC": "America/Guayaquil",
    "ES": "Europe/Madrid",
    "FM": "Pacific/Chuuk",
    "GL": "America/Nuuk",
    "ID": "Asia/Jakarta",
    "KI": "Pacific/Tarawa",
    "KZ": "Asia/Almaty",
    "MH": "Pacific/Majuro",
    "MN": "Asia/Ulaanbaatar",
    "MX": "America/Mexico_City",
    "MY": "Asia/Kuala_Lumpur",
    "NZ": "Pacific/Auckland",
    "PF": "Pacific/Tahiti",
    "PG": "Pacific/Port_Moresby",
    "PS": "Asia/Gaza",
    "PT": "Europe/Lisbon",
    "RU": "Europe/Moscow",
    "UA": "Europe/Kyiv",
    "US": "America/New_York",
    "UZ": "Asia/Tashkent",
}

# Currencies of countries that changed too recently for Babel to know.
_RECENT_CURRENCIES = {"BG": "EUR"}


class CountryDefaults(NamedTuple):
    """The most likely settings of an organisation in a country."""

    # Empty if the country has several currencies, or none.
    currency: str
    # The current zone by each of its present and former names, since browsers still use former ones.
    zones: dict[str, str]
    # The main zone; empty if nobody lives there.
    zone: str


@cache
def defaults_by_country() -> dict[str, CountryDefaults]:
    """Return the defaults of each country by its code."""
    territories = import_lazily("babel.core").get_global("territory_zones")
    defaults = {}
    for code in sorted(COUNTRIES):
        zones = _find_zones(territories.get(code, ()))
        defaults[code] = CountryDefaults(_find_currency(code), zones, _find_main_zone(code, zones))
    return defaults


def _find_currency(country: str) -> str:
    if country in _RECENT_CURRENCIES:
        return _RECENT_CURRENCIES[country]
    currencies = [
        code for code in import_lazily("babel.numbers").get_territory_currencies(country) if code in CURRENCIES
    ]
    return str(currencies[0]) if len(currencies) == 1 else ""


def _find_main_zone(country: str, zones: dict[str, str]) -> str:
    current = set(zones.values())
    return current.pop() if len(current) == 1 else _MAIN_ZONES.get(country, "")


def _find_zones(names: list[str]) -> dict[str, str]:
    current = {zone: zone for zone in names if zone in current_zone_names()}
    aliases = import_lazily("babel.core").get_global("zone_aliases").items()
    return current | {before: zone for before, zone in aliases if zone in current}
