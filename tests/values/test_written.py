"""Dates and amounts as people write them, and as operations take them."""

import pytest

from mainstay.values.typed_prices import (
    detect_column_format,
    find_foreign_currency,
    localise_amount,
    normalise_amount,
    normalise_number,
    normalise_price,
    remove_currency,
)


@pytest.mark.parametrize(
    ("written", "taken"),
    [
        ("12.50", "12.50"),
        ("12,50", "12.50"),
        (" 12,5 ", "12.5"),
        ("12,5000", "12.5000"),
        ("1 250", "1250"),
        ("1\u00a0250,50", "1250.50"),
        ("1\u202f250.505", "1250.505"),
        ("1'250.50", "1250.50"),
        ("1\u2019250", "1250"),
        ("1.250,50", "1250.50"),
        ("1,250.50", "1250.50"),
        ("1 250 000", "1250000"),
        ("1250", "1250"),
        ("-50,00", "-50.00"),
        ("\N{MINUS SIGN} 1.250,50", "-1250.50"),
    ],
)
def test_a_price_is_taken_as_people_write_it(written: str, taken: str) -> None:
    assert normalise_price(written) == taken


@pytest.mark.parametrize(
    "written",
    [
        "1,250",
        "12 50",
        "1 2500",
        "1.250.50",
        "1,25,50",
        ",50",
        "12,",
        "-5",
        "ten",
        "",
        "\u0661\u0662,\u0665",
        "12,50 €",
    ],
)
def test_what_could_mean_something_else_goes_on_as_it_is(written: str) -> None:
    assert normalise_price(written) == written


@pytest.mark.parametrize(
    ("written", "with_point", "with_comma"),
    [
        ("1,250", "1250", "1.250"),
        ("1.250", "1.250", "1250"),
        ("0.005", "0.005", "0.005"),
        ("1,250,000", "1250000", "1250000"),
        ("1.250.000", "1250000", "1250000"),
        ("1,25,000", "125000", "1,25,000"),
        ("12,50", "12.50", "12.50"),
        ("1.250,50", "1250.50", "1250.50"),
        ("1250.50", "1250.50", "1250.50"),
        (",50", "0.50", "0.50"),
    ],
)
def test_the_country_says_what_a_sign_with_three_digits_behind_it_is(
    written: str, with_point: str, with_comma: str
) -> None:
    assert {normalise_amount(written, country) for country in ("GB", "US", "CH")} == {with_point}
    assert {normalise_amount(written, country) for country in ("DE", "FR", "NL", "ES")} == {with_comma}


@pytest.mark.parametrize("plain", ["0", "34.90", "1250.00", "1.255", "0.1250", "-20.5", "900719925474.0991"])
@pytest.mark.parametrize("country", ["GB", "DE", "FR", "US", "IN", "CH"])
def test_what_stands_where_someone_types_is_read_as_the_same_again(plain: str, country: str) -> None:
    assert normalise_amount(localise_amount(plain, country), country) == plain


@pytest.mark.parametrize(
    ("column", "signs"),
    [
        (("12,50", "1.234"), (",", None)),
        (("1,234", "-12.5"), (".", None)),
        (("1,234,567", "1.234"), (".", None)),
        (("12,34,567", "1"), (".", None)),
        (("1.234", "7"), (None, "1.234")),
        (("1,250", "2,500"), (None, "1,250")),
        (("12,50", "12.50", "1,234"), (None, None)),
        (("12", "1 250", "", "soon"), (None, None)),
    ],
)
def test_a_column_tells_its_decimal_sign(column: tuple[str, ...], signs: tuple[str | None, str | None]) -> None:
    assert detect_column_format(column) == signs


@pytest.mark.parametrize(
    ("written", "with_dot", "with_comma"),
    [
        ("1,250", "1250", "1.250"),
        ("1.250", "1.250", "1250"),
        ("1 250", "1250", "1250"),
        ("-1.250,50", "-1250.50", "-1250.50"),
        ("12", "12", "12"),
        (".5", "0.5", "0.5"),
        ("ten", "ten", "ten"),
    ],
)
def test_a_number_is_read_by_the_sign_of_its_column(written: str, with_dot: str, with_comma: str) -> None:
    assert (normalise_number(written, "."), normalise_number(written, ",")) == (with_dot, with_comma)


def test_without_a_sign_only_what_is_unclear_is_refused() -> None:
    assert [normalise_number(written, None) for written in ("12,50", "12.50", "1 250")] == ["12.50", "12.50", "1250"]
    with pytest.raises(ValueError, match=r"^could be 1\.234 or 1234$"):
        normalise_number("1,234", None)


@pytest.mark.parametrize(
    ("written", "currency", "mark"),
    [
        ("\u20ac 5", "GBP", "\u20ac"),
        ("\u20ac 5", "EUR", None),
        ("5 USD", "EUR", "USD"),
        ("$5", "AUD", None),
        ("A$5", "GBP", "$"),
        ("\u00a35", "GBP", None),
        ("NET 5", "GBP", None),
        ("5", "GBP", None),
    ],
)
def test_the_sign_of_another_currency_is_seen(written: str, currency: str, mark: str | None) -> None:
    assert find_foreign_currency(written, currency) == mark


@pytest.mark.parametrize("written", ["\u00a3 5", "5 \u00a3", "GBP 5", "5 GBP", "5"])
def test_an_amount_stands_without_its_currency(written: str) -> None:
    assert remove_currency(written) == "5"
