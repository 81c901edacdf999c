from typing import Any

import pytest

from mainstay.business.lines.model import (
    Line,
    PricingTerms,
    choose_optional_lines,
    max_amount,
    price_document,
    read_lines,
)
from mainstay.business.pricelist.model import TaxRate
from mainstay.values.money import CURRENCIES, UNIT, Money, parse_price
from mainstay.values.totals import Discount
from mainstay.vocabulary.refusal import Invalid


def build_rate(record_id: str, *percents: str) -> TaxRate:
    parts = [{"name": f"Tax {place}", "percent": percent} for place, percent in enumerate(percents)]
    total_percent = sum(parse_price(one) for one in percents)
    return TaxRate(
        (), record_id, f"Tax {record_id}", "standard", parts, total_percent, "active", is_default=False, used=False
    )


RATES = {one.id: one for one in (build_rate("vat", "20"), build_rate("low", "5"), build_rate("both", "5", "9.975"))}
PLAIN = PricingTerms("EUR", inclusive=False, discount=Discount())


def build_line(record_id: str, price: str, rate: str | None = "vat", **more: Any) -> Line:
    return Line(record_id, record_id.upper(), unit_price=parse_price(price), tax_rate_id=rate, **more)


def compute_sums(lines: list[Line], terms: PricingTerms = PLAIN) -> tuple[int, int, int]:
    totals = price_document(lines, RATES, terms).totals
    return totals.net, totals.tax, totals.total


def test_it_comes_to_what_its_lines_come_to() -> None:
    assert compute_sums([build_line("a", "55.55"), build_line("b", "11.11", "low")]) == (6666, 1167, 7833)
    assert compute_sums([]) == (0, 0, 0)


def test_what_is_optional_counts_once_it_is_chosen() -> None:
    lines = [build_line("a", "100"), build_line("b", "40", optional=True, chosen=False)]
    assert compute_sums(lines) == (10000, 2000, 12000)
    assert compute_sums(choose_optional_lines(lines, ["b"])) == (14000, 2800, 16800)
    assert compute_sums(choose_optional_lines(choose_optional_lines(lines, ["b"]), [])) == (10000, 2000, 12000)


def test_what_is_not_chosen_still_says_what_it_would_cost() -> None:
    drawn = price_document([build_line("b", "40", optional=True, chosen=False)], RATES, PLAIN)
    assert drawn.lines[0]["amount"] == "40.00"


def test_only_optional_lines_can_be_chosen() -> None:
    lines = [build_line("a", "100"), build_line("b", "40", optional=True, chosen=False)]
    for wrong in ("a", "x"):
        with pytest.raises(Invalid, match=f"^chosen: includes {wrong}, which is not an optional line$"):
            choose_optional_lines(lines, [wrong])


def test_headings_and_words_cost_nothing() -> None:
    words = [Line("h", "Heating", "heading", unit_price=UNIT), Line("t", "Thank you", "text", unit_price=UNIT)]
    assert compute_sums([*words, build_line("a", "10")]) == (1000, 200, 1200)


def test_each_rate_has_its_sum_and_each_part_its_tax() -> None:
    drawn = price_document([build_line("a", "140", "both"), build_line("b", "10", None)], RATES, PLAIN)
    taxed, untaxed = drawn.taxes
    assert (taxed["taxRateId"], taxed["percent"], taxed["net"], taxed["amount"]) == (
        "both",
        "14.975",
        "140.00",
        "20.97",
    )
    assert [part["amount"] for part in taxed["components"]] == ["7.00", "13.97"]
    assert (untaxed["taxRateId"], untaxed["name"], untaxed["amount"]) == (None, None, "0.00")


def test_prices_that_include_the_tax_come_to_exactly_what_they_say() -> None:
    terms = PricingTerms("EUR", inclusive=True, discount=Discount())
    assert compute_sums([build_line("a", "379", quantity=2 * UNIT)], terms) == (63167, 12633, 75800)


def test_a_discount_is_taken_off_the_whole() -> None:
    assert compute_sums(
        [build_line("a", "100")], PricingTerms("EUR", inclusive=False, discount=Discount(percent=10 * UNIT))
    ) == (
        9000,
        1800,
        10800,
    )
    assert (
        compute_sums([build_line("a", "100")], PricingTerms("EUR", inclusive=False, discount=Discount(amount=500)))[0]
        == 9500
    )


@pytest.mark.parametrize(("currency", "text"), [("JPY", "101"), ("EUR", "100.51"), ("KWD", "100.505")])
def test_amounts_have_the_decimals_of_their_currency(currency: str, text: str) -> None:
    drawn = price_document(
        [build_line("a", "100.505")], RATES, PricingTerms(currency, inclusive=False, discount=Discount())
    )
    assert drawn.lines[0]["amount"] == text


def test_what_is_kept_of_lines_is_read_again_as_they_were() -> None:
    lines = [
        build_line("a", "-0.005", quantity=-3 * UNIT, discount_percent=55_000, cost=1, unit="h", item_id="item_1"),
        build_line("b", "1", optional=True, chosen=False, source={"kind": "timeEntry", "id": "entry_1"}),
        Line("t", "Words", "text"),
    ]
    assert read_lines(price_document(lines, RATES, PLAIN).lines) == lines


def test_more_than_can_be_billed_is_refused() -> None:
    huge = build_line("a", "900000000000", quantity=10**7 * UNIT)
    with pytest.raises(Invalid, match=r"^lines\.1: is more than the largest possible amount, 1000000000000\.00 EUR$"):
        price_document([build_line("b", "1"), huge], RATES, PLAIN)
    large = [build_line(f"l{number}", "600000000000") for number in range(2)]
    with pytest.raises(
        Invalid, match=r"^lines: add up to more than the largest possible amount, 1000000000000\.00 EUR$"
    ):
        price_document(large, RATES, PLAIN)


@pytest.mark.parametrize("kind", ["in one line", "not chosen", "together", "at one rate"])
def test_nor_is_more_than_can_be_kept_of_what_it_costs_or_of_one_rate(kind: str) -> None:
    much, less = parse_price("600000000000"), parse_price("-600000000000")
    lines = {
        "in one line": [build_line("a", "0", quantity=10**7 * UNIT, cost=much)],
        "not chosen": [build_line("a", "0", quantity=10**7 * UNIT, cost=much, optional=True, chosen=False)],
        "together": [build_line("a", "0", cost=much), build_line("b", "0", cost=much)],
        "at one rate": [
            Line(f"l{place}", "L", unit_price=one, tax_rate_id=rate)
            for place, (one, rate) in enumerate([(much, "vat"), (less, "low")] * 2)
        ],
    }[kind]
    with pytest.raises(Invalid, match=r"more than the largest possible amount, 1000000000000\.00 EUR"):
        price_document(lines, RATES, PLAIN)


@pytest.mark.parametrize("currency", ["JPY", "EUR", "KWD"])
def test_the_most_that_can_be_billed_is_within_what_a_database_holds(currency: str) -> None:
    assert max_amount(currency) * UNIT // 10 ** CURRENCIES[currency] * 100 < 2**63
    assert Money(max_amount(currency), currency).to_text().startswith("1000000000000")
