"""What is usual in a country, as far as it is known: its currency and its time zones."""

from functools import cache
from typing import NamedTuple

from mainstay.late import late
from mainstay.values.money import CURRENCIES
from mainstay.values.names import offered_zones
from mainstay.values.places import COUNTRIES

# Of countries with several time zones, the one in which most people live.
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

# What countries pay with since lately, of which Babel does not know yet.
_SINCE_LATELY = {"BG": "EUR"}


class Usual(NamedTuple):
    """What whoever is in a country most likely wants."""

    # Empty where there are several, or none.
    currency: str
    # By each name that one has or had, since browsers call them as they once did: the name that is offered.
    zones: dict[str, str]
    # The main one of them; empty if nobody lives there.
    zone: str


@cache
def usual_in_countries() -> dict[str, Usual]:
    """What is usual, by the code of the country."""
    territories = late("babel.core").get_global("territory_zones")
    usual = {}
    for code in sorted(COUNTRIES):
        zones = _zones(territories.get(code, ()))
        usual[code] = Usual(_currency(code), zones, _main_zone(code, zones))
    return usual


def _currency(country: str) -> str:
    if country in _SINCE_LATELY:
        return _SINCE_LATELY[country]
    found = [code for code in late("babel.numbers").get_territory_currencies(country) if code in CURRENCIES]
    return str(found[0]) if len(found) == 1 else ""


def _main_zone(country: str, zones: dict[str, str]) -> str:
    different = set(zones.values())
    return different.pop() if len(different) == 1 else _MAIN_ZONES.get(country, "")


def _zones(names: list[str]) -> dict[str, str]:
    own = {zone: zone for zone in names if zone in offered_zones()}
    former = late("babel.core").get_global("zone_aliases").items()
    return own | {before: zone for before, zone in former if zone in own}
