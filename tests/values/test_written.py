"""What people write, as operations take it."""

import pytest

from mainstay.values.written import is_unclear, plain_amount, plain_price, typed_amount


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
    assert plain_price(written) == taken


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
    assert plain_price(written) == written


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
    assert {plain_amount(written, country) for country in ("GB", "US", "CH")} == {with_point}
    assert {plain_amount(written, country) for country in ("DE", "FR", "NL", "ES")} == {with_comma}


@pytest.mark.parametrize("plain", ["0", "34.90", "1250.00", "1.255", "0.1250", "-20.5", "900719925474.0991"])
@pytest.mark.parametrize("country", ["GB", "DE", "FR", "US", "IN", "CH"])
def test_what_stands_where_someone_types_is_read_as_the_same_again(plain: str, country: str) -> None:
    assert plain_amount(typed_amount(plain, country), country) == plain


def test_a_point_before_three_digits_is_unclear_where_it_may_part_thousands() -> None:
    assert is_unclear("1.250", "DE")
    assert not is_unclear("1.250", "GB")
    assert not is_unclear("1.250", None)
    assert not any(is_unclear(written, "DE") for written in ("1.25", "0.250", "1.250.000", "1,250", "1250"))
