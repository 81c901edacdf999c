"""Amounts in files: their decimal sign is that of the whole column, and their currency that of the organisation."""

import pytest

from cast import Cast
from importing import upload
from mainstay.business.pricelist.operations import list_price_items
from mainstay.terms.rights import Role

PRICED = ["Item", "Type", "Unit price"]


def priced(*prices: str) -> list[list[str]]:
    return [[f"Item {number}", "Labor", price] for number, price in enumerate(prices)]


def listed(cast: Cast) -> list[str]:
    """The prices of the price list, the oldest first."""
    return [item["sellPrice"] for item in cast.perform(list_price_items, Role.OFFICE)["data"][::-1]]


@pytest.mark.parametrize("country", ["GB", "DE"])
@pytest.mark.parametrize(
    ("prices", "read"),
    [
        (("12,50", "1.234"), ["12.50", "1234.00"]),
        (("12.50", "1,234"), ["12.50", "1234.00"]),
        (("1.234", "7", "1.234.567,5"), ["1234.00", "7.00", "1234567.50"]),
        (("1,234,567", "1,234", "0.5"), ["1234567.00", "1234.00", "0.50"]),
        (("0,125", "1.234"), ["0.125", "1234.00"]),
        (("1 250,5", "1.234", "\u00a312"), ["1250.50", "1234.00", "12.00"]),
    ],
)
def test_the_whole_column_says_which_sign_is_the_decimal_one(
    cast: Cast, country: str, prices: tuple[str, ...], read: list[str]
) -> None:
    imported = upload(cast, "price items", PRICED, priced(*prices), country=country, currency="GBP")
    assert imported.bring().faults == []
    assert listed(cast) == read


@pytest.mark.parametrize("country", ["GB", "DE"])
@pytest.mark.parametrize("written", ["1.250", "1,250"])
def test_a_column_that_may_mean_two_things_is_asked_about_once(cast: Cast, country: str, written: str) -> None:
    lines = priced("12", written, written)
    imported = upload(cast, "price items", PRICED, lines, country=country, currency="GBP")
    outcome = imported.check()
    [fault] = outcome.faults
    assert (fault.row, fault.label) == (3, "Price")
    assert fault.problem == f"may have a dot or a comma as its decimal sign ({written}): choose it below"
    assert imported.run.result
    assert imported.run.result["unclear"] == ["sellPrice"]
    for sign in (".", ","):
        imported.choose(sellPrice=sign)
        assert imported.check().faults == []
    assert imported.bring().faults == []
    read = "1.25" if written == "1,250" else "1250.00"
    assert listed(cast) == ["12.00", read, read]


def test_where_both_signs_are_the_decimal_one_only_what_is_unclear_is_asked_about(cast: Cast) -> None:
    lines = priced("12,50", "12.50", "1,234")
    [fault] = upload(cast, "price items", PRICED, lines, country="GB").check().faults
    assert (fault.row, fault.problem) == (4, "could be 1.234 or 1234: write it as one of these")


@pytest.mark.parametrize("written", ["\u20ac 5", "5 \u20ac", "EUR 5", "5 EUR", "US$5", "CHF 5"])
def test_an_amount_in_another_currency_is_asked_about(cast: Cast, written: str) -> None:
    lines = priced("\u00a34", written, "GBP 3")
    [fault] = upload(cast, "price items", PRICED, lines, country="GB", currency="GBP").check().faults
    mark = next(mark for mark in ("\u20ac", "EUR", "$", "CHF") if mark in written)
    told = f"is in {mark}, but your amounts are in GBP: convert it, or correct the sign: {written}"
    assert (fault.row, fault.label, fault.problem) == (3, "Price", told)


def test_the_sign_of_several_currencies_may_be_that_of_the_organisation(cast: Cast) -> None:
    lines = priced("$5", "CAD 6")
    assert upload(cast, "price items", PRICED, lines, country="CA", currency="CAD").check().faults == []
