"""The totals of documents: cases that other systems got wrong, and what holds for every document."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainstay.values.money import parse_price
from mainstay.values.totals import HUNDRED_PERCENT, Charge, Discount, FixedAmount, Rate, Totals, calculate_totals


def build_rate(*percents: str) -> Rate:
    return Rate("+".join(percents), tuple(map(parse_price, percents)))


def build_charge(quantity: str, price: str, rate: Rate, discount: str = "0") -> Charge:
    return Charge(parse_price(quantity), parse_price(price), rate, parse_price(discount))


@pytest.mark.parametrize(
    ("charges", "told", "net", "tax", "total"),
    [
        (
            [build_charge("1", "55.55", build_rate("23")), build_charge("1", "11.11", build_rate("23"))],
            "without tax",
            6666,
            1533,
            8199,
        ),
        ([build_charge("16", "348.35", build_rate("22"), "4")], "without tax", 535066, 117715, 652781),
        ([build_charge("10", "3.60", build_rate("5.5"))], "without tax", 3600, 198, 3798),
        (
            [build_charge("1", "8500", build_rate("19")), build_charge("1", "-7500", build_rate("19"))],
            "without tax",
            100000,
            19000,
            119000,
        ),
        ([build_charge("1", "140", build_rate("5", "9.975"))], "without tax", 14000, 2097, 16097),
        ([build_charge("2", "379", build_rate("21"))], "with tax", 62645, 13155, 75800),
        (
            [build_charge("1", "90", build_rate("5")), build_charge("1", "55", build_rate("5"))],
            "with tax",
            13810,
            690,
            14500,
        ),
        ([build_charge("12", "125", build_rate("6"))], "with tax", 141509, 8491, 150000),
    ],
)
def test_it_comes_to_what_people_expect(charges: list[Charge], told: str, net: int, tax: int, total: int) -> None:
    found = calculate_totals(charges, 2, inclusive=told == "with tax")
    assert (found.net, found.tax, found.total) == (net, tax, total)


@pytest.mark.parametrize(
    ("quantity", "price", "decimals", "amount"),
    [
        ("1", "0.005", 2, 1),
        ("1", "0.0049", 2, 0),
        ("-1", "0.005", 2, -1),
        ("1", "-0.005", 2, -1),
        ("0", "100", 2, 0),
        ("3", "0.3333", 2, 100),
        ("1", "0.5", 0, 1),
        ("1", "0.0005", 3, 1),
        ("1000000", "1000000", 2, 10**14),
    ],
)
def test_a_line_is_rounded_once_and_a_half_goes_away_from_zero(
    quantity: str, price: str, decimals: int, amount: int
) -> None:
    assert build_charge(quantity, price, build_rate("0")).calculate_amount(decimals) == amount


def test_each_part_of_a_rate_is_rounded_by_itself() -> None:
    (group,) = calculate_totals([build_charge("1", "140", build_rate("5", "9.975"))], 2).groups
    assert group.taxes == (700, 1397)


def test_the_parts_of_a_tax_that_prices_include_add_up_to_it() -> None:
    (group,) = calculate_totals([build_charge("1", "100", build_rate("5", "9.975"))], 2, inclusive=True).groups
    assert (group.net, group.taxes) == (8698, (435, 867))


def test_a_discount_is_rounded_once_and_shared_out_over_the_lines() -> None:
    charges = [
        build_charge("1", "0.99", build_rate("20")),
        build_charge("1", "0.99", build_rate("20")),
        build_charge("1", "0.99", build_rate("5")),
    ]
    found = calculate_totals(charges, 2, Discount(percent=parse_price("10")))
    assert (found.discounts, found.discount) == ((10, 10, 10), 30)
    by_amount = calculate_totals(charges, 2, Discount(amount=100))
    assert (by_amount.discounts, by_amount.net) == ((34, 33, 33), 197)


@pytest.mark.parametrize(
    ("prices", "discount", "nets", "tax"),
    [
        (["100", "-50"], Discount(percent=parse_price("10")), [9000, -4500], 1800),
        (["100", "-50"], Discount(amount=500), [9000, -4500], 1800),
        (["100", "-50"], Discount(percent=HUNDRED_PERCENT), [0, 0], 0),
        # Lines that cancel each other out, or nearly so, are still less by the percentage.
        (["100", "-100"], Discount(percent=parse_price("10")), [9000, -9000], 1800),
        (["100", "-99.99"], Discount(percent=parse_price("10")), [9000, -8999], 1800),
        (["-100", "-50"], Discount(percent=parse_price("10")), [-9000, -4500], -1800),
        (["-100", "-50"], Discount(amount=1500), [-11000, -5500], -2200),
        # Of an amount, lines that come to nothing have no proportion: their sizes count.
        (["100", "-100"], Discount(amount=1000), [9500, -10500], 1900),
    ],
)
def test_a_discount_is_shared_out_by_signed_amounts(
    prices: list[str], discount: Discount, nets: list[int], tax: int
) -> None:
    charges = [
        build_charge("1", price, at) for price, at in zip(prices, (build_rate("20"), build_rate("0")), strict=True)
    ]
    found = calculate_totals(charges, 2, discount)
    assert ([group.net for group in found.groups], found.tax) == (nets, tax)


def test_a_line_whose_share_is_settled_is_discounted_by_it() -> None:
    charges = [
        replace(build_charge("1", "100", build_rate("20")), discount_share=1001),
        build_charge("1", "-99.99", build_rate("0")),
    ]
    found = calculate_totals(charges, 2, Discount(amount=1001))
    assert (found.discounts, [group.net for group in found.groups]) == ((1001, 0), [8999, -9999])


def test_what_was_invoiced_before_is_not_discounted() -> None:
    deposit = replace(build_charge("-1", "100", build_rate("20")), fixed_amount=FixedAmount(-10000, (-2000,)))
    found = calculate_totals(
        [build_charge("1", "400", build_rate("20")), deposit], 2, Discount(percent=parse_price("10"))
    )
    assert (found.discounts, found.net) == ((4000, 0), 26000)
    assert calculate_totals([deposit], 2, Discount(percent=parse_price("10"))).discount == 0


@pytest.mark.parametrize("inclusive", [False, True])
def test_what_was_invoiced_before_is_taken_off_to_the_cent(*, inclusive: bool) -> None:
    work = [build_charge("1", "1000.03", build_rate("5", "9.975"))]
    whole = calculate_totals(work, 2, inclusive=inclusive)
    (before,) = calculate_totals([build_charge("1", "333.33", build_rate("5", "9.975"))], 2, inclusive=True).groups
    deducted = replace(
        build_charge("-1", "1", build_rate("5", "9.975")),
        fixed_amount=FixedAmount(-before.net, tuple(-t for t in before.taxes)),
    )
    (rest,) = calculate_totals([*work, deducted], 2, inclusive=inclusive).groups
    (all_of_it,) = whole.groups
    assert rest.net == all_of_it.net - before.net
    assert rest.taxes == tuple(a - b for a, b in zip(all_of_it.taxes, before.taxes, strict=True))


def test_nothing_comes_to_nothing() -> None:
    assert calculate_totals([], 2, Discount(percent=parse_price("10"))) == Totals((), (), ())


RATES = [
    build_rate("20"),
    build_rate("19"),
    build_rate("5.5"),
    build_rate("0"),
    build_rate("5", "9.975"),
    build_rate("2.1"),
]
LINES = st.lists(
    st.builds(
        Charge,
        st.integers(-(10**7), 10**7),
        st.integers(-(10**9), 10**9),
        st.sampled_from(RATES),
        st.integers(0, HUNDRED_PERCENT),
    ),
    max_size=30,
)
DISCOUNTS = st.one_of(
    st.builds(Discount, percent=st.integers(0, HUNDRED_PERCENT)), st.builds(Discount, amount=st.integers(0, 10**9))
)
DECIMALS = st.sampled_from([0, 2, 3])


@given(charges=LINES, discount=DISCOUNTS, decimals=DECIMALS, inclusive=st.booleans())
def test_a_credit_note_mirrors_its_invoice(
    charges: list[Charge], discount: Discount, decimals: int, *, inclusive: bool
) -> None:
    issued = calculate_totals(charges, decimals, discount, inclusive=inclusive)
    turned = [replace(charge, quantity=-charge.quantity) for charge in charges]
    credited = calculate_totals(turned, decimals, replace(discount, amount=-discount.amount), inclusive=inclusive)
    assert [-amount for amount in credited.amounts] == [*issued.amounts]
    assert [-less for less in credited.discounts] == [*issued.discounts]
    assert [(group.rate, -group.net, [-tax for tax in group.taxes]) for group in credited.groups] == [
        (group.rate, group.net, [*group.taxes]) for group in issued.groups
    ]


@given(LINES, st.integers(0, HUNDRED_PERCENT), DECIMALS)
def test_every_line_is_less_by_the_percentage_to_the_cent(charges: list[Charge], percent: int, decimals: int) -> None:
    found = calculate_totals(charges, decimals, Discount(percent=percent))
    for amount, less in zip(found.amounts, found.discounts, strict=True):
        assert abs(less - Fraction(amount * percent, HUNDRED_PERCENT)) < 1
        assert less == 0 or (less > 0) == (amount > 0)


@given(LINES, DISCOUNTS, DECIMALS)
def test_a_total_with_tax_in_it_is_what_the_customer_was_told(
    charges: list[Charge], discount: Discount, decimals: int
) -> None:
    found = calculate_totals(charges, decimals, discount, inclusive=True)
    assert found.total == sum(found.amounts) - found.discount


@given(charges=LINES, discount=DISCOUNTS, decimals=DECIMALS, inclusive=st.booleans())
def test_tax_is_the_percentage_of_the_net_to_the_cent(
    charges: list[Charge], discount: Discount, decimals: int, *, inclusive: bool
) -> None:
    found = calculate_totals(charges, decimals, discount, inclusive=inclusive)
    assert found.net + found.tax == found.total
    for group in found.groups:
        exact = Fraction(group.net * group.rate.percent, HUNDRED_PERCENT)
        # Each part is rounded by itself; and from a gross amount the net is, of which the tax is a percentage.
        assert abs(group.tax - exact) <= (1 if inclusive else Fraction(len(group.taxes), 2))
