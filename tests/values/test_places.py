import re

import pytest

from mainstay.values.countries import COUNTRIES


def test_there_are_249_countries_of_two_capitals() -> None:
    assert len(COUNTRIES) == 249
    assert all(re.fullmatch("[A-Z]{2}", code) for code in COUNTRIES)


@pytest.mark.parametrize("code", ["DE", "FR", "US", "GB", "AU", "NA", "NO", "AX", "SS", "CW", "BQ", "ZW"])
def test_a_country_is_known(code: str) -> None:
    assert code in COUNTRIES


@pytest.mark.parametrize("code", ["", "de", "UK", "EU", "XK", "AN", "CS", "ZZ", "DEU"])
def test_what_iso_3166_does_not_assign_is_unknown(code: str) -> None:
    assert code not in COUNTRIES
