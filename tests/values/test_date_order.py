"""Dates in the order of a country."""

from datetime import date

import pytest

from mainstay.values.countries import COUNTRIES
from mainstay.values.date_order import date_order_of

NINTH = date(2026, 11, 9)


@pytest.mark.parametrize(
    ("country", "written", "example"),
    [
        ("GB", "09/11/2026", "dd/mm/yyyy"),
        ("US", "11/09/2026", "mm/dd/yyyy"),
        ("DE", "09.11.2026", "dd.mm.yyyy"),
        ("NL", "09-11-2026", "dd-mm-yyyy"),
        ("SE", "2026-11-09", "yyyy-mm-dd"),
        (None, "2026-11-09", "yyyy-mm-dd"),
    ],
)
def test_a_date_is_written_as_in_the_country(country: str | None, written: str, example: str) -> None:
    order = date_order_of(country)
    assert (order.format_date(NINTH), order.example) == (written, example)


@pytest.mark.parametrize("typed", ["9/11/2026", "09.11.2026", "9-11-26", " 9 11 2026 ", "9.11.26.", "2026-11-09"])
def test_a_date_is_read_however_its_parts_are_parted(typed: str) -> None:
    assert date_order_of("GB").parse_date(typed) == NINTH


def test_the_same_digits_are_another_date_in_another_country() -> None:
    assert date_order_of("US").parse_date("9/11/2026") == date(2026, 9, 11)
    assert date_order_of("US").parse_date("2026-11-09") == NINTH


@pytest.mark.parametrize("typed", ["", "soon", "31/02/2026", "11/13/2026", "9/11", "9/11/2026 10:00", "0/0/0"])
def test_what_is_no_date_is_none(typed: str) -> None:
    assert date_order_of("GB").parse_date(typed) is None


def test_every_country_reads_what_it_writes() -> None:
    for country in COUNTRIES:
        order = date_order_of(country)
        assert order.parse_date(order.format_date(NINTH)) == NINTH, country
