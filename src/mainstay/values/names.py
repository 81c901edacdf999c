"""What people call what we keep as a code: countries, currencies and time zones."""

from functools import cache
from typing import Any

from mainstay.late import late
from mainstay.values.moments import time_zones
from mainstay.values.money import CURRENCIES
from mainstay.values.places import COUNTRIES


@cache
def country_names() -> dict[str, str]:
    """The name of each country, by its code."""
    return {code: str(_english().territories[code]) for code in sorted(COUNTRIES)}


@cache
def currency_names() -> dict[str, str]:
    """The name of each currency with its code, which is on documents: `Euro (EUR)`."""
    return {code: f"{_english().currencies.get(code, code)} ({code})" for code in sorted(CURRENCIES)}


@cache
def zone_names() -> dict[str, str]:
    """The place of each time zone, and where that is: `Buenos Aires (America, Argentina)`; others are for machines."""
    return {_EVERYWHERE: _EVERYWHERE} | {
        zone: f"{_city(zone) or place} ({', '.join(regions)})"
        for zone in sorted(time_zones())
        if not zone.startswith("Etc/")
        for *regions, place in [zone.replace("_", " ").split("/")]
        if regions
    }


@cache
def offered_zones() -> dict[str, str]:
    """Those of them that are offered: each place once, by the name that it has now."""
    before = late("babel.core").get_global("zone_aliases").keys() - {_EVERYWHERE}
    return {zone: name for zone, name in zone_names().items() if zone not in before}


_EVERYWHERE = "UTC"


def _city(zone: str) -> str:
    """A place as people spell it, where its zone is not called like that; without the state that it is in."""
    return str(_english().time_zones.get(zone, {}).get("city") or "").partition(",")[0]


def _english() -> Any:
    return late("babel").Locale("en")


def language_names() -> dict[str, str]:
    """The languages in which customers are written to, by their codes."""
    return {"en": "English", "de": "German", "fr": "French", "nl": "Dutch", "es": "Spanish"}
