from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mainstay.values.money import (
    CURRENCIES,
    UNIT,
    Money,
    minor_to_price,
    pad_decimals,
    parse_price,
    price_text,
    price_to_minor,
    round_half_away,
    spread_total,
)

LARGEST = 2**53 - 1

NOT_DECIMALS = [
    "",
    " ",
    "-",
    ".",
    "+1",
    " 1",
    "1 ",
    "1\n",
    "--1",
    "1.",
    ".5",
    "-.5",
    "1,5",
    "1_000",
    "1 000",
    "1e3",
    "1E3",
    "1.0e1",
    "0x10",
    "NaN",
    "nan",
    "sNaN",
    "Infinity",
    "-inf",
    "1.2.3",
    "\u0661\u0662",
    "1.\u0665",
    "\u00b2",
    "\uff11",
    "\u22121",
    "1\0",
    "\ud800",
]

amounts = st.builds(Money, st.integers(-LARGEST, LARGEST), st.sampled_from(sorted(CURRENCIES)))


def parse_euros(text: str) -> Money:
    return Money.parse(text, "EUR")


@pytest.mark.parametrize(
    ("text", "currency", "minor", "written"),
    [
        ("1190.00", "EUR", 119000, "1190.00"),
        ("1190", "EUR", 119000, "1190.00"),
        ("1190.5", "EUR", 119050, "1190.50"),
        ("-0.05", "EUR", -5, "-0.05"),
        ("-12.30", "EUR", -1230, "-12.30"),
        ("-0.00", "EUR", 0, "0.00"),
        ("007.10", "EUR", 710, "7.10"),
        ("1190", "JPY", 1190, "1190"),
        ("-3", "JPY", -3, "-3"),
        ("1.234", "KWD", 1234, "1.234"),
        ("-0.001", "KWD", -1, "-0.001"),
    ],
)
def test_an_amount_is_read_and_written(text: str, currency: str, minor: int, written: str) -> None:
    amount = Money.parse(text, currency)

    assert amount == Money(minor, currency)
    assert amount.to_text() == written


@pytest.mark.parametrize("text", [*NOT_DECIMALS, "1.234", "0.000"])
def test_an_amount_in_any_other_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_euros(text)


def test_a_currency_without_decimals_takes_none() -> None:
    with pytest.raises(ValueError, match="No decimals are allowed"):
        Money.parse("1190.0", "JPY")


@given(amounts)
def test_an_amount_is_the_same_price_and_the_price_the_same_amount(amount: Money) -> None:
    parts = minor_to_price(amount.minor, amount.currency)

    assert Decimal(parts) / UNIT == Decimal(amount.to_text())
    assert price_to_minor(parts, amount.currency) == amount.minor


@pytest.mark.parametrize(
    ("price", "currency", "problem"), [("0.001", "EUR", "has more than 2 decimals"), ("0.1", "JPY", "has decimals")]
)
def test_a_price_with_more_decimals_than_its_currency_is_no_amount(price: str, currency: str, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{problem}$"):
        price_to_minor(parse_price(price), currency)


@given(amounts)
def test_what_is_written_reads_back_the_same(amount: Money) -> None:
    assert Money.parse(amount.to_text(), amount.currency) == amount


@given(amounts)
def test_what_is_written_has_the_value_and_the_decimals_of_the_currency(amount: Money) -> None:
    digits = CURRENCIES[amount.currency]
    _, _, fraction = amount.to_text().partition(".")

    assert len(fraction) == digits
    assert Decimal(amount.to_text()) == Decimal(amount.minor).scaleb(-digits)


@pytest.mark.parametrize("currency", ["", "eur", "EURO", "XAU", "XXX", "XTS", "HRK"])
def test_what_is_nobodys_money_is_refused(currency: str) -> None:
    with pytest.raises(ValueError, match="ISO 4217"):
        Money.parse("1", currency)
    with pytest.raises(ValueError, match="ISO 4217"):
        Money(1, currency)


def test_currencies_have_their_iso_decimals() -> None:
    assert {code: CURRENCIES[code] for code in ("EUR", "USD", "GBP", "CHF", "MGA", "XCG")} == dict.fromkeys(
        ("EUR", "USD", "GBP", "CHF", "MGA", "XCG"), 2
    )
    assert CURRENCIES["JPY"] == CURRENCIES["ISK"] == CURRENCIES["XOF"] == 0
    assert CURRENCIES["KWD"] == CURRENCIES["TND"] == CURRENCIES["IQD"] == 3
    assert len(CURRENCIES) == 155


@pytest.mark.parametrize("text", ["90071992547409.92", "-90071992547409.92", "1" * 30, "9" * 5_000, "0." + "0" * 5_000])
def test_an_amount_beyond_the_bound_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"too (large|long)"):
        parse_euros(text)


@pytest.mark.parametrize(
    ("gross", "percent", "net"),
    [("758.00", "21", "626.45"), ("145.00", "5", "138.10"), ("1500.00", "6", "1415.09"), ("0.03", "20", "0.03")],
)
def test_net_out_of_a_gross_amount_matches_the_golden_cases(gross: str, percent: str, net: str) -> None:
    exact = Decimal(gross) / (1 + Decimal(percent) / 100)

    assert str(round_half_away(exact, 2)) == net
    assert str(round_half_away(-exact, 2)) == f"-{net}"


@pytest.mark.parametrize(
    ("value", "digits", "rounded"),
    [
        ("0.125", 2, "0.13"),
        ("-0.125", 2, "-0.13"),
        ("0.135", 2, "0.14"),
        ("0.1249999", 2, "0.12"),
        ("2.5", 0, "3"),
        ("-2.5", 0, "-3"),
        ("3.5", 0, "4"),
        ("1", 2, "1.00"),
        ("-0.001", 2, "0.00"),
        ("0.00005", 4, "0.0001"),
        ("1E+3", 0, "1000"),
        ("12345678901234567890123456789012345678.5", 0, "12345678901234567890123456789012345679"),
        ("0.4999999999999999999999999999999999999999", 0, "0"),
    ],
)
def test_a_half_is_rounded_away_from_zero(value: str, digits: int, rounded: str) -> None:
    assert str(round_half_away(Decimal(value), digits)) == rounded


@pytest.mark.parametrize("value", ["NaN", "sNaN", "Infinity", "-Infinity", "1E+500"])
def test_what_has_no_decimals_cannot_be_rounded(value: str) -> None:
    with pytest.raises(ValueError):
        round_half_away(Decimal(value), 2)


@given(st.decimals(-(10**20), 10**20, places=6), st.integers(0, 4))
def test_rounding_is_nearest_and_mirrors(value: Decimal, digits: int) -> None:
    rounded = round_half_away(value, digits)

    assert abs(rounded - value) * 2 <= Decimal(1).scaleb(-digits)
    assert round_half_away(-value, digits) == -rounded


@pytest.mark.parametrize(
    ("total", "weights", "parts"),
    [
        (100, [1, 1, 1], [34, 33, 33]),
        (-100, [1, 1, 1], [-34, -33, -33]),
        (100, [1, 1, 4], [17, 17, 66]),
        (5, [0, 0], [3, 2]),
        (-5, [0, 0], [-3, -2]),
        (1, [0, 1, 0], [0, 1, 0]),
        (2, [0, 1, 1, 1], [0, 1, 1, 0]),
        (10, [-3, -7], [3, 7]),
        (5, [100, -50], [10, -5]),
        (-5, [100, -50], [-10, 5]),
        (1, [2, 2, -1], [1, 0, 0]),
        (-1, [2, 2, -1], [-1, 0, 0]),
        (10, [70, -70], [5, 5]),
        (0, [3, 4], [0, 0]),
        (0, [], []),
        (7, [5], [7]),
    ],
)
def test_a_total_is_spread(total: int, weights: list[int], parts: list[int]) -> None:
    assert spread_total(total, weights) == parts


def test_a_total_cannot_be_spread_over_nothing() -> None:
    with pytest.raises(ValueError, match="nothing to spread"):
        spread_total(1, [])


weights_of_lines = st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20)
totals = st.integers(-LARGEST, LARGEST)


@given(totals, weights_of_lines)
def test_the_parts_sum_to_the_total(total: int, weights: list[int]) -> None:
    assert sum(spread_total(total, weights)) == total


@given(totals, weights_of_lines)
def test_a_credit_mirrors_exactly(total: int, weights: list[int]) -> None:
    mirrored = [-part for part in spread_total(total, weights)]

    assert spread_total(-total, weights) == mirrored
    assert spread_total(-total, [-weight for weight in weights]) == mirrored


@given(totals, weights_of_lines)
def test_each_part_is_within_one_of_its_exact_share(total: int, weights: list[int]) -> None:
    whole = sum(weights)
    assume(whole)
    for part, weight in zip(spread_total(total, weights), weights, strict=True):
        assert abs(part * whole - total * weight) < abs(whole)


@given(totals, weights_of_lines.filter(any))
def test_what_weighs_nothing_gets_nothing(total: int, weights: list[int]) -> None:
    parts = spread_total(total, [*weights, 0])

    assert parts[-1] == 0


@pytest.mark.parametrize(
    ("text", "stored", "written"),
    [
        ("85", 850000, "85.00"),
        ("85.00", 850000, "85.00"),
        ("0.125", 1250, "0.125"),
        ("12.3456", 123456, "12.3456"),
        ("-0.0001", -1, "-0.0001"),
        ("-2.5", -25000, "-2.50"),
        ("0", 0, "0.00"),
        ("-0", 0, "0.00"),
        ("1200", 12000000, "1200.00"),
        ("900719925474.0991", LARGEST, "900719925474.0991"),
        ("-900719925474.0991", -LARGEST, "-900719925474.0991"),
    ],
)
def test_a_price_is_read_and_written(text: str, stored: int, written: str) -> None:
    assert parse_price(text) == stored
    assert price_text(stored) == written


@pytest.mark.parametrize(
    "text", [*NOT_DECIMALS, "1.23456", "1.00000", "900719925474.0992", "-900719925474.0992", "9" * 5_000]
)
def test_a_price_in_any_other_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_price(text)


@given(st.integers(-LARGEST, LARGEST))
def test_a_written_price_reads_back_the_same(stored: int) -> None:
    assert parse_price(price_text(stored)) == stored


@given(st.integers(-LARGEST, LARGEST), st.sampled_from(sorted(CURRENCIES)))
def test_a_price_has_all_decimals_of_its_currency_and_more_where_it_needs_them(stored: int, currency: str) -> None:
    written = pad_decimals(price_text(stored), currency)
    assert parse_price(written) == stored
    decimals = written.partition(".")[2]
    assert len(decimals) >= CURRENCIES[currency]
    assert len(decimals) == CURRENCIES[currency] or decimals[-1] != "0"


@given(st.text() | st.text("0123456789.-+eE ", max_size=24))
def test_a_text_is_read_exactly_or_refused(text: str) -> None:
    stored = try_parse_price(text)

    assert stored is None or Decimal(stored) == Decimal(text) * 10_000


def try_parse_price(text: str) -> int | None:
    try:
        return parse_price(text)
    except ValueError:
        return None
