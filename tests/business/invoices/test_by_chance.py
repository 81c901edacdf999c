"""What holds for all that is billed, whatever it is: tried on stories that chance has written."""

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

from billing import an_invoice
from cast import Cast, assemble
from chances import Firm, Story, less, open_firm, sold_before_tax, story, tally
from labour import decide
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.kernel.perform import Stage

# Money is reckoned with before anything is kept: no engine makes a difference to it.
pytestmark = pytest.mark.engines("sqlite")

# With about six documents a story, more than twenty thousand.
LONG_PARTS, LONG_STORIES = 20, 180


@pytest.fixture(scope="session")
def firms(stage: Stage) -> list[Firm]:
    """Firms in currencies with two, no and three decimals."""
    return [open_firm(assemble(stage), currency) for currency in ("EUR", "JPY", "KWD")]


def check(told: Story) -> None:
    """Each document adds up, the invoices less their credit notes are the quote, and credit notes are their invoice."""
    for document in (told.quote, *told.invoices, *(note for notes in told.notes.values() for note in notes)):
        sums = tally(document)
        assert sums[("net",)] + sums[("tax",)] == sums[("total",)]
        assert sum(amount for name, amount in sums.items() if name[1:] == ("net",)) == sums[("net",)]
    before, last = told.invoices[:-1], told.invoices[-1]
    # What was credited of a part was not taken off, so it is in the last.
    asked = tally(*told.invoices)
    given_back = tally(*(note for invoice in before for note in told.notes[invoice["id"]]))
    assert less(asked, given_back) == tally(told.quote)
    for invoice in told.invoices:
        left = less(tally(invoice), tally(*told.notes[invoice["id"]]))
        assert left[("total",)] >= 0
        if told.notes[invoice["id"]] and not left[("total",)]:
            # Nothing is left of the whole, so nothing of any tax.
            assert left == {}
    assert last["kind"] == ("final" if any(_deducts(line) for line in last["lines"]) else "standard")


def _deducts(line: dict[str, dict[str, str] | None]) -> bool:
    return bool(line["source"] and line["source"]["kind"] == "deposit")


def check_all(firms: list[Firm], seeds: Iterable[int]) -> int:
    documents = 0
    for seed in seeds:
        told = story(firms[seed % len(firms)], seed)
        check(told)
        documents += 1 + len(told.invoices) + sum(map(len, told.notes.values()))
    return documents


def test_parts_and_the_last_are_the_quote_and_credit_notes_are_their_invoice(firms: list[Firm]) -> None:
    assert check_all(firms, range(60)) > 200


@pytest.mark.long
@pytest.mark.parametrize("part", range(LONG_PARTS))
def test_the_same_of_twenty_thousand_documents(firms: list[Firm], part: int) -> None:
    first = 1000 + part * LONG_STORIES
    assert check_all(firms, range(first, first + LONG_STORIES)) >= 20_000 // LONG_PARTS


def test_a_quote_that_is_billed_line_by_line_has_the_same_nets_at_each_rate(firms: list[Firm]) -> None:
    for seed in range(24):
        firm, chance = firms[seed % len(firms)], Random(seed)
        quote = sold_before_tax(firm, chance)
        items = [line["id"] for line in quote["lines"] if line["kind"] == "item"]
        some = chance.sample(items, (len(items) + 1) // 2)
        parts = [an_invoice(firm.cast, quoteId=quote["id"], quoteLines=some)]
        if len(some) < len(items):
            parts.append(an_invoice(firm.cast, quoteId=quote["id"]))
        assert _nets(*parts) == _nets(quote)


def _nets(*documents: dict[str, Any]) -> dict[tuple[str, ...], int]:
    return {name: amount for name, amount in tally(*documents).items() if name[-1] == "net"}


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
    decide(cast, prices_include_tax=int(inclusive))
    components = [{"name": f"T{place}", "percent": percent} for place, percent in enumerate(parts)]
    rate = cast.perform(save_tax_rate, name="Tax", components=components)["id"]
    made = an_invoice(
        cast,
        lines=[
            {"description": "x", "quantity": many, "unitPrice": price, "discountPercent": off, "taxRateId": rate}
            for many, price, off in lines
        ],
    )
    assert (made["net"], made["tax"], made["total"]) == sums
