"""What holds for everything that is billed, tested with randomly generated quotes, invoices and credit notes."""

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.kernel.perform import Performer
from support.cast import Cast, make_cast
from support.hours import set_organisation_columns
from support.invoices import make_invoice
from support.random_billing import (
    BilledQuote,
    BillingFirm,
    add_up_documents,
    bill_at_random,
    make_billing_firm,
    make_quote_before_tax,
    subtract,
)

# Amounts are computed before anything is stored, so one engine is enough.
pytestmark = pytest.mark.engines("sqlite")

# With about six documents a story, more than twenty thousand.
LONG_PARTS, LONG_STORIES = 20, 180


@pytest.fixture(scope="session")
def firms(performer: Performer) -> list[BillingFirm]:
    """Firms in currencies with two, no and three decimals."""
    return [make_billing_firm(make_cast(performer), currency) for currency in ("EUR", "JPY", "KWD")]


def check_billed_quote(result: BilledQuote) -> None:
    """Check that documents add up, that invoices less credit notes are the quote, and that credits match invoices."""
    for document in (
        result.quote,
        *result.invoices,
        *(note for notes in result.credit_notes.values() for note in notes),
    ):
        sums = add_up_documents(document)
        assert sums[("net",)] + sums[("tax",)] == sums[("total",)]
        assert sum(amount for name, amount in sums.items() if name[1:] == ("net",)) == sums[("net",)]
    before, last = result.invoices[:-1], result.invoices[-1]
    # What was credited of a part was not taken off, so it is in the last.
    invoiced = add_up_documents(*result.invoices)
    given_back = add_up_documents(*(note for invoice in before for note in result.credit_notes[invoice["id"]]))
    assert subtract(invoiced, given_back) == add_up_documents(result.quote)
    for invoice in result.invoices:
        remaining = subtract(add_up_documents(invoice), add_up_documents(*result.credit_notes[invoice["id"]]))
        assert remaining[("total",)] >= 0
        if result.credit_notes[invoice["id"]] and not remaining[("total",)]:
            # Nothing is left of the whole, so nothing of any tax.
            assert remaining == {}
    assert last["kind"] == ("final" if any(_is_deduction(line) for line in last["lines"]) else "standard")


def _is_deduction(line: dict[str, dict[str, str] | None]) -> bool:
    return bool(line["source"] and line["source"]["kind"] == "deposit")


def check_billed_quotes(firms: list[BillingFirm], seeds: Iterable[int]) -> int:
    documents = 0
    for seed in seeds:
        result = bill_at_random(firms[seed % len(firms)], seed)
        check_billed_quote(result)
        documents += 1 + len(result.invoices) + sum(map(len, result.credit_notes.values()))
    return documents


def test_parts_and_the_last_are_the_quote_and_credit_notes_are_their_invoice(firms: list[BillingFirm]) -> None:
    assert check_billed_quotes(firms, range(60)) > 200


@pytest.mark.long
@pytest.mark.parametrize("part", range(LONG_PARTS))
def test_the_same_of_twenty_thousand_documents(firms: list[BillingFirm], part: int) -> None:
    first = 1000 + part * LONG_STORIES
    assert check_billed_quotes(firms, range(first, first + LONG_STORIES)) >= 20_000 // LONG_PARTS


def test_a_quote_that_is_billed_line_by_line_has_the_same_nets_at_each_rate(firms: list[BillingFirm]) -> None:
    for seed in range(24):
        firm, chance = firms[seed % len(firms)], Random(seed)
        quote = make_quote_before_tax(firm, chance)
        items = [line["id"] for line in quote["lines"] if line["kind"] == "item"]
        some = chance.sample(items, (len(items) + 1) // 2)
        parts = [make_invoice(firm.cast, quoteId=quote["id"], quoteLines=some)]
        if len(some) < len(items):
            parts.append(make_invoice(firm.cast, quoteId=quote["id"]))
        assert _net_amounts(*parts) == _net_amounts(quote)


def _net_amounts(*documents: dict[str, Any]) -> dict[tuple[str, ...], int]:
    return {name: amount for name, amount in add_up_documents(*documents).items() if name[-1] == "net"}


# Cases in which other systems went wrong; each as lines of quantity, price and discount, with the parts of the tax.
GOLDEN = [
    ([("1", "55.55", "0"), ("1", "11.11", "0")], ["23"], False, ("66.66", "15.33", "81.99")),
    ([("16", "348.35", "4")], ["22"], False, ("5350.66", "1177.15", "6527.81")),
    ([("10", "3.60", "0")], ["5.5"], False, ("36.00", "1.98", "37.98")),
    ([("1", "8500", "0"), ("-1", "7500", "0")], ["19"], False, ("1000.00", "190.00", "1190.00")),
    ([("1", "140", "0")], ["5", "9.975"], False, ("140.00", "20.97", "160.97")),
    ([("2", "379.00", "0")], ["21"], True, ("626.45", "131.55", "758.00")),
    ([("1", "90", "0"), ("1", "55", "0")], ["5"], True, ("138.10", "6.90", "145.00")),
    ([("12", "125.00", "0")], ["6"], True, ("1415.09", "84.91", "1500.00")),
]


@pytest.mark.engines("sqlite", "postgresql")
@pytest.mark.parametrize(("lines", "parts", "inclusive", "sums"), GOLDEN)
def test_it_comes_to_what_people_expect(
    cast: Cast, lines: list[tuple[str, str, str]], parts: list[str], inclusive: int, sums: tuple[str, str, str]
) -> None:
    set_organisation_columns(cast, prices_include_tax=int(inclusive))
    components = [{"name": f"T{place}", "percent": percent} for place, percent in enumerate(parts)]
    rate = cast.perform(save_tax_rate, name="Tax", components=components)["id"]
    made = make_invoice(
        cast,
        lines=[
            {"description": "x", "quantity": many, "unitPrice": price, "discountPercent": off, "taxRateId": rate}
            for many, price, off in lines
        ],
    )
    assert (made["net"], made["tax"], made["total"]) == sums
