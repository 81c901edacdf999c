"""Codes as people know them: each has a name, and no two of a kind share one."""

import pytest

from mainstay.values.money import CURRENCIES
from mainstay.values.names import country_names, currency_names, zone_names
from mainstay.values.places import COUNTRIES


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
    assert len({*names.values()}) == len(names)
    assert not {"UTC", "Etc/GMT+5", "EST"} & names.keys()
