"""What is usual in a country, as far as it is known: its currency and its time zones."""

from functools import cache
from typing import NamedTuple

from mainstay.late import late
from mainstay.values.money import CURRENCIES
from mainstay.values.names import offered_zones
from mainstay.values.places import COUNTRIES

# What countries pay with since lately, of which Babel does not know yet.
_SINCE_LATELY = {"BG": "EUR"}


class Usual(NamedTuple):
    """What whoever is in a country most likely wants."""

    # Empty where there are several, or none.
    currency: str
    # By each name that one has or had, since browsers call them as they once did: the name that is offered.
    zones: dict[str, str]


@cache
def usual_in_countries() -> dict[str, Usual]:
    """What is usual, by the code of the country."""
    territories = late("babel.core").get_global("territory_zones")
    return {code: Usual(_currency(code), _zones(territories.get(code, ()))) for code in sorted(COUNTRIES)}


def _currency(country: str) -> str:
    if country in _SINCE_LATELY:
        return _SINCE_LATELY[country]
    found = [code for code in late("babel.numbers").get_territory_currencies(country) if code in CURRENCIES]
    return str(found[0]) if len(found) == 1 else ""


def _zones(names: list[str]) -> dict[str, str]:
    own = {zone: zone for zone in names if zone in offered_zones()}
    former = late("babel.core").get_global("zone_aliases").items()
    return own | {before: zone for before, zone in former if zone in own}
