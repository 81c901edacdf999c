"""The usual values of a country are known for nearly all countries, and can always be chosen."""

import pytest

from mainstay.values.countries import COUNTRIES
from mainstay.values.country_defaults import defaults_by_country
from mainstay.values.money import CURRENCIES
from mainstay.values.names import current_zone_names


@pytest.mark.parametrize(
    ("country", "currency", "zones"),
    [
        ("GB", "GBP", {"Europe/London"}),
        ("DE", "EUR", {"Europe/Berlin", "Europe/Busingen"}),
        ("KW", "KWD", {"Asia/Kuwait"}),
        ("IN", "INR", {"Asia/Kolkata"}),
        ("ES", "EUR", {"Europe/Madrid", "Atlantic/Canary", "Africa/Ceuta"}),
        ("BG", "EUR", {"Europe/Sofia"}),
        # Two are legal tender there, and nobody lives there.
        ("PA", "", {"America/Panama"}),
        ("HM", "AUD", set()),
    ],
)
def test_a_country_has_a_currency_and_time_zones(country: str, currency: str, zones: set[str]) -> None:
    usual = defaults_by_country()[country]
    assert (usual.currency, {*usual.zones.values()}) == (currency, zones)


@pytest.mark.parametrize(
    ("country", "zone"),
    [("GB", "Europe/London"), ("DE", "Europe/Berlin"), ("US", "America/New_York"), ("AU", "Australia/Sydney")],
)
def test_a_country_has_a_main_time_zone(country: str, zone: str) -> None:
    assert defaults_by_country()[country].zone == zone


def test_wherever_people_live_there_is_a_main_time_zone_of_that_country() -> None:
    usual = defaults_by_country()
    assert {code for code, one in usual.items() if one.zones and not one.zone} == {"AQ", "UM"}
    assert all(one.zone in {"", *one.zones.values()} for one in usual.values())


def test_a_time_zone_is_found_by_what_it_was_called() -> None:
    zones = defaults_by_country()["UA"].zones
    assert (zones["Europe/Kiev"], zones["Europe/Kyiv"]) == ("Europe/Kyiv", "Europe/Kyiv")


def test_whatever_is_usual_can_be_chosen() -> None:
    usual = defaults_by_country()
    assert usual.keys() == COUNTRIES
    assert {one.currency for one in usual.values()} <= {"", *CURRENCIES}
    assert {zone for one in usual.values() for zone in one.zones.values()} <= current_zone_names().keys()
    assert sum(bool(one.currency and one.zones) for one in usual.values()) > len(usual) * 0.9
