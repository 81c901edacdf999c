"""The English names of codes: countries, currencies, time zones and languages."""

from functools import cache
from typing import Any

from mainstay.lazy_import import import_lazily
from mainstay.values.countries import COUNTRIES
from mainstay.values.moments import time_zones
from mainstay.values.money import CURRENCIES


@cache
def country_names() -> dict[str, str]:
    """Return the name of each country by its code."""
    return {code: str(_english_locale().territories[code]) for code in sorted(COUNTRIES)}


@cache
def currency_names() -> dict[str, str]:
    """Return the name of each currency by its code, followed by the code that documents show: `Euro (EUR)`."""
    return {code: f"{_english_locale().currencies.get(code, code)} ({code})" for code in sorted(CURRENCIES)}


@cache
def zone_names() -> dict[str, str]:
    """Return a label of each time zone, such as `Buenos Aires (America, Argentina)`.

    Zones without a place, such as `Etc/GMT+1`, are left out, except UTC.
    """
    return {_UTC: _UTC} | {
        zone: f"{_city_of(zone) or place} ({', '.join(regions)})"
        for zone in sorted(time_zones())
        if not zone.startswith("Etc/")
        for *regions, place in [zone.replace("_", " ").split("/")]
        if regions
    }


@cache
def current_zone_names() -> dict[str, str]:
    """Return the time zones that people choose from: each place once, under its current name."""
    former = import_lazily("babel.core").get_global("zone_aliases").keys() - {_UTC}
    return {zone: name for zone, name in zone_names().items() if zone not in former}


_UTC = "UTC"


def _city_of(zone: str) -> str:
    """Return the usual spelling of a zone's place, without its state, if it differs from the name of the zone."""
    return str(_english_locale().time_zones.get(zone, {}).get("city") or "").partition(",")[0]


def _english_locale() -> Any:
    return import_lazily("babel").Locale("en")


def language_names() -> dict[str, str]:
    """Return the languages in which customers are written to, by their codes."""
    return {"en": "English", "de": "German", "fr": "French", "nl": "Dutch", "es": "Spanish"}
