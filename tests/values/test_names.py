"""Codes as people know them: each has a name, and no two of a kind share one."""

import re

import pytest

from mainstay.values.countries import COUNTRIES
from mainstay.values.money import CURRENCIES
from mainstay.values.names import country_names, currency_names, current_zone_names, zone_names


@pytest.mark.parametrize(("names", "codes"), [(country_names(), COUNTRIES), (currency_names(), CURRENCIES)])
def test_every_code_has_a_name_of_its_own(names: dict[str, str], codes: frozenset[str]) -> None:
    assert names.keys() == {*codes}
    assert not [code for code, name in names.items() if name.startswith(code)]
    assert len({*names.values()}) == len(names)


def test_a_currency_is_known_by_its_name_and_its_code() -> None:
    names = currency_names()
    assert (names["EUR"], names["GBP"]) == ("Euro (EUR)", "British Pound (GBP)")


def test_a_country_is_called_as_its_people_are_addressed() -> None:
    names = country_names()
    assert (names["GB"], names["CI"], names["DE"]) == ("United Kingdom", "Côte d’Ivoire", "Germany")  # noqa: RUF001


def test_a_time_zone_is_known_by_its_place() -> None:
    names = zone_names()
    assert names["Europe/London"] == "London (Europe)"
    assert names["America/Argentina/Buenos_Aires"] == "Buenos Aires (America, Argentina)"
    assert names["America/Noronha"] == "Fernando de Noronha (America)"
    assert names["America/North_Dakota/New_Salem"] == "New Salem (America, North Dakota)"
    assert names["UTC"] == "UTC"
    assert not {"Etc/GMT+5", "EST"} & names.keys()


def test_each_place_is_offered_once_by_the_name_it_has_now() -> None:
    offered = current_zone_names()
    assert len({*offered.values()}) == len(offered)
    assert {"UTC", "Europe/Kyiv", "Asia/Kolkata", "America/Noronha", "America/Nuuk"} <= offered.keys()
    assert not {"Europe/Kiev", "Asia/Calcutta", "Brazil/DeNoronha", "US/Pacific", "America/Godthab"} & offered.keys()
    assert not [name for name in offered.values() if "_" in name or re.search("[a-z][A-Z]", name.removeprefix("Mc"))]


def test_whatever_is_not_offered_is_known_by_its_name_all_the_same() -> None:
    assert zone_names()["Europe/Kiev"] == "Kyiv (Europe)"
    assert zone_names()["US/Pacific"] == "Pacific (US)"
