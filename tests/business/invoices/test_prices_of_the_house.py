"""What the organisation has a price for costs the same on every document, whether its prices are with tax or not."""

from typing import Any

import pytest

from billing import BOILER, a_sold_quote, an_invoice, changed
from cast import Cast
from labour import at, decide, logged, price
from mainstay.business.organisation.settings import update_settings
from mainstay.terms.rights import Role
from ordering import PIPE, a_bill, to_bill
from quoting import a_draft, edited, usual_tax
from trade import a_customer, a_job
from wares import a_rate, an_item


@pytest.fixture
def retail(cast: Cast) -> Cast:
    """The cast where prices are told with 20 % tax in them."""
    cast = at(cast)
    usual_tax(cast)
    decide(cast, prices_include_tax=1)
    return cast


def a_fixed_price(cast: Cast) -> tuple[dict[str, Any], dict[str, Any]]:
    """A job for 1000 before tax, and its invoice, whose prices are before tax."""
    price(cast, Role.MEMBER, 25, 60)
    job = a_job(cast, a_customer(cast), Role.MEMBER, billing="fixed", budget="1000")
    return job, an_invoice(cast, jobId=job["id"], lines=[])


def sums(document: dict[str, Any]) -> tuple[str, str, str]:
    return document["net"], document["tax"], document["total"]


def test_an_item_on_the_invoice_of_a_fixed_price_costs_what_the_price_list_says(retail: Cast) -> None:
    item = an_item(retail, sellPrice="120")
    _, invoice = a_fixed_price(retail)
    after = changed(retail, invoice, {"edit": "add", "itemId": item})
    assert after["pricesIncludeTax"] is False
    assert after["lines"][1]["unitPrice"] == "100.00"
    assert sums(after) == ("1100.00", "220.00", "1320.00")


def test_a_line_that_becomes_an_item_costs_likewise(retail: Cast) -> None:
    item = an_item(retail, sellPrice="120")
    _, invoice = a_fixed_price(retail)
    after = changed(retail, invoice, {"edit": "set", "lineId": invoice["lines"][0]["id"], "itemId": item})
    assert sums(after) == ("100.00", "20.00", "120.00")


def test_the_tax_in_a_price_is_that_of_its_line(retail: Cast) -> None:
    reduced = a_rate(retail, "VAT 5 %", components=[{"name": "VAT", "percent": "5"}])
    item, own = an_item(retail, sellPrice="105"), an_item(retail, sellPrice="105", taxRateId=reduced)
    _, invoice = a_fixed_price(retail)
    after = changed(
        retail,
        invoice,
        {"edit": "add", "itemId": own},
        {"edit": "add", "itemId": item, "taxRateId": reduced},
        {"edit": "add", "itemId": item, "taxRateId": None},
        {"edit": "add", "itemId": item},
    )
    assert [line["unitPrice"] for line in after["lines"][1:]] == ["100.00", "100.00", "105.00", "87.50"]
    assert after["total"] == "1620.00"


def test_a_price_without_its_tax_has_at_most_four_decimals(retail: Cast) -> None:
    _, invoice = a_fixed_price(retail)
    after = changed(retail, invoice, {"edit": "add", "itemId": an_item(retail, sellPrice="100")})
    assert (after["lines"][1]["unitPrice"], after["total"]) == ("83.3333", "1300.00")


def test_a_price_that_is_typed_is_the_document_s_own(retail: Cast) -> None:
    item = an_item(retail, sellPrice="120")
    _, invoice = a_fixed_price(retail)
    after = changed(retail, invoice, {"edit": "add", "itemId": item, "unitPrice": "50"}, {"edit": "add", **BOILER})
    assert [line["unitPrice"] for line in after["lines"][1:]] == ["50.00", "1000.00"]


def test_an_hour_costs_the_same_on_either_way_to_bill_it(retail: Cast) -> None:
    job, invoice = a_fixed_price(retail)
    worked = {"jobId": job["id"], "personId": retail.people[Role.MEMBER], "minutes": 60, "billable": True}
    first, second = (logged(retail, Role.OFFICE, "approved", **worked, on=f"2026-11-1{day}")["id"] for day in (1, 2))
    beside = changed(retail, invoice, sources=[first])
    assert sums(beside) == ("1050.00", "210.00", "1260.00")
    alone = an_invoice(retail, jobId=job["id"], sources=[second])
    assert (alone["pricesIncludeTax"], sums(alone)) == (True, ("50.00", "10.00", "60.00"))


def test_materials_cost_the_same_on_a_quote_s_invoice(cast: Cast) -> None:
    usual_tax(cast)
    quote = a_sold_quote(cast, BOILER)
    job = a_job(cast, quote["customerId"], billing="timeAndMaterials")
    cast.perform(update_settings, pricesIncludeTax=True)
    a_bill(cast, jobId=job["id"], lines=[PIPE], total="72")
    (pipe,) = to_bill(cast, job)
    made = an_invoice(cast, quoteId=quote["id"], jobId=job["id"], sources=[pipe.id])
    assert (made["lines"][1]["unitPrice"], sums(made)) == ("6.00", ("1060.00", "212.00", "1272.00"))


@pytest.mark.parametrize(("before", "unit_price", "total"), [(0, "100.00", "1320.00"), (1, "144.00", "1144.00")])
def test_a_quote_made_before_the_prices_were_told_otherwise_keeps_its_way(
    cast: Cast, before: int, unit_price: str, total: str
) -> None:
    usual_tax(cast)
    item = an_item(cast, sellPrice="120")
    decide(cast, prices_include_tax=before)
    sold, draft = a_sold_quote(cast, BOILER), a_draft(cast, lines=[BOILER])
    decide(cast, prices_include_tax=1 - before)
    billed = an_invoice(cast, quoteId=sold["id"], lines=[{"itemId": item}])
    quoted = edited(cast, draft, {"edit": "add", "itemId": item})
    for document in (billed, quoted):
        assert document["pricesIncludeTax"] is bool(before)
        assert (document["lines"][1]["unitPrice"], document["total"]) == (unit_price, total)


def test_what_was_drafted_before_stays_as_it_was_drafted(cast: Cast) -> None:
    usual_tax(cast)
    item = an_item(cast, sellPrice="120")
    draft = an_invoice(cast, lines=[{"itemId": item}])
    cast.perform(update_settings, pricesIncludeTax=True)
    after = changed(cast, draft, title="Otherwise")
    assert (after["lines"], sums(after)) == (draft["lines"], ("120.00", "24.00", "144.00"))
