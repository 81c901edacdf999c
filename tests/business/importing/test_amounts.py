"""Amounts in files: the decimal sign is decided for the whole column, the currency is the organisation's."""

import pytest

from mainstay.business.pricelist.operations import list_price_items
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.imports import upload_import

PRICE_HEADINGS = ["Item", "Type", "Unit price"]


def make_price_rows(*prices: str) -> list[list[str]]:
    return [[f"Item {number}", "Labor", price] for number, price in enumerate(prices)]


def list_prices(cast: Cast) -> list[str]:
    """Return the prices of the price list, oldest first."""
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
    imported = upload_import(
        cast, "price items", PRICE_HEADINGS, make_price_rows(*prices), country=country, currency="GBP"
    )
    assert imported.import_rows().faults == []
    assert list_prices(cast) == read


@pytest.mark.parametrize("country", ["GB", "DE"])
@pytest.mark.parametrize("written", ["1.250", "1,250"])
def test_a_column_that_may_mean_two_things_is_asked_about_once(cast: Cast, country: str, written: str) -> None:
    lines = make_price_rows("12", written, written)
    imported = upload_import(cast, "price items", PRICE_HEADINGS, lines, country=country, currency="GBP")
    outcome = imported.check()
    [fault] = outcome.faults
    assert (fault.row, fault.label) == (3, "Price")
    assert fault.problem == f"can be read with a decimal point or a decimal comma ({written}); choose below"
    assert imported.run.result
    assert imported.run.result["unclear"] == ["sellPrice"]
    for sign in (".", ","):
        imported.choose_decimal_signs(sellPrice=sign)
        assert imported.check().faults == []
    assert imported.import_rows().faults == []
    read = "1.25" if written == "1,250" else "1250.00"
    assert list_prices(cast) == ["12.00", read, read]


def test_where_both_signs_are_the_decimal_one_only_what_is_unclear_is_asked_about(cast: Cast) -> None:
    lines = make_price_rows("12,50", "12.50", "1,234")
    [fault] = upload_import(cast, "price items", PRICE_HEADINGS, lines, country="GB").check().faults
    assert (fault.row, fault.problem) == (4, "could be 1.234 or 1234; write it as one of these")


@pytest.mark.parametrize("written", ["\u20ac 5", "5 \u20ac", "EUR 5", "5 EUR", "US$5", "CHF 5"])
def test_an_amount_in_another_currency_is_asked_about(cast: Cast, written: str) -> None:
    lines = make_price_rows("\u00a34", written, "GBP 3")
    [fault] = upload_import(cast, "price items", PRICE_HEADINGS, lines, country="GB", currency="GBP").check().faults
    mark = next(mark for mark in ("\u20ac", "EUR", "$", "CHF") if mark in written)
    message = f"is in {mark}, but your amounts are in GBP; convert it, or correct the currency symbol: {written}"
    assert (fault.row, fault.label, fault.problem) == (3, "Price", message)


def test_the_sign_of_several_currencies_may_be_that_of_the_organisation(cast: Cast) -> None:
    lines = make_price_rows("$5", "CAD 6")
    assert upload_import(cast, "price items", PRICE_HEADINGS, lines, country="CA", currency="CAD").check().faults == []
