"""The organisation's own prices cost the same on every document, whether they are entered with tax or without."""

from typing import Any

import pytest

from mainstay.business.organisation.settings import update_settings
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import cast_at, make_time_entry, set_organisation_columns, set_rates
from support.invoices import BOILER, edit_invoice, make_accepted_quote, make_invoice
from support.prices import make_price_item, make_tax_rate
from support.purchases import PIPE, list_billable_materials, make_bill
from support.quotes import edit_quote, make_default_tax_rate, make_quote


@pytest.fixture
def retail_cast(cast: Cast) -> Cast:
    """A cast whose prices include 20 % tax."""
    cast = cast_at(cast)
    make_default_tax_rate(cast)
    set_organisation_columns(cast, prices_include_tax=1)
    return cast


def draft_fixed_price(cast: Cast) -> tuple[dict[str, Any], dict[str, Any]]:
    """Create a job for 1000 before tax, and a draft of its invoice, whose prices are before tax."""
    set_rates(cast, Role.MEMBER, 25, 60)
    job = make_job(cast, make_customer(cast), Role.MEMBER, billing="fixed", budget="1000")
    return job, make_invoice(cast, jobId=job["id"], lines=[])


def sums_of(document: dict[str, Any]) -> tuple[str, str, str]:
    return document["net"], document["tax"], document["total"]


def test_an_item_on_the_invoice_of_a_fixed_price_costs_what_the_price_list_says(retail_cast: Cast) -> None:
    item = make_price_item(retail_cast, sellPrice="120")
    _, invoice = draft_fixed_price(retail_cast)
    after = edit_invoice(retail_cast, invoice, {"edit": "add", "itemId": item})
    assert after["pricesIncludeTax"] is False
    assert after["lines"][1]["unitPrice"] == "100.00"
    assert sums_of(after) == ("1100.00", "220.00", "1320.00")


def test_a_line_that_becomes_an_item_costs_likewise(retail_cast: Cast) -> None:
    item = make_price_item(retail_cast, sellPrice="120")
    _, invoice = draft_fixed_price(retail_cast)
    after = edit_invoice(retail_cast, invoice, {"edit": "set", "lineId": invoice["lines"][0]["id"], "itemId": item})
    assert sums_of(after) == ("100.00", "20.00", "120.00")


def test_the_tax_in_a_price_is_that_of_its_line(retail_cast: Cast) -> None:
    reduced = make_tax_rate(retail_cast, "VAT 5 %", components=[{"name": "VAT", "percent": "5"}])
    item, own = (
        make_price_item(retail_cast, sellPrice="105"),
        make_price_item(retail_cast, sellPrice="105", taxRateId=reduced),
    )
    _, invoice = draft_fixed_price(retail_cast)
    after = edit_invoice(
        retail_cast,
        invoice,
        {"edit": "add", "itemId": own},
        {"edit": "add", "itemId": item, "taxRateId": reduced},
        {"edit": "add", "itemId": item, "taxRateId": None},
        {"edit": "add", "itemId": item},
    )
    assert [line["unitPrice"] for line in after["lines"][1:]] == ["100.00", "100.00", "105.00", "87.50"]
    assert after["total"] == "1620.00"


def test_a_price_without_its_tax_has_at_most_four_decimals(retail_cast: Cast) -> None:
    _, invoice = draft_fixed_price(retail_cast)
    after = edit_invoice(retail_cast, invoice, {"edit": "add", "itemId": make_price_item(retail_cast, sellPrice="100")})
    assert (after["lines"][1]["unitPrice"], after["total"]) == ("83.3333", "1300.00")


def test_a_price_that_is_typed_is_the_document_s_own(retail_cast: Cast) -> None:
    item = make_price_item(retail_cast, sellPrice="120")
    _, invoice = draft_fixed_price(retail_cast)
    after = edit_invoice(
        retail_cast, invoice, {"edit": "add", "itemId": item, "unitPrice": "50"}, {"edit": "add", **BOILER}
    )
    assert [line["unitPrice"] for line in after["lines"][1:]] == ["50.00", "1000.00"]


def test_an_hour_costs_the_same_on_either_way_to_bill_it(retail_cast: Cast) -> None:
    job, invoice = draft_fixed_price(retail_cast)
    worked = {"jobId": job["id"], "personId": retail_cast.people[Role.MEMBER], "minutes": 60, "billable": True}
    first, second = (
        make_time_entry(retail_cast, Role.OFFICE, "approved", **worked, on=f"2026-11-1{day}")["id"] for day in (1, 2)
    )
    both_hours = edit_invoice(retail_cast, invoice, sources=[first])
    assert sums_of(both_hours) == ("1050.00", "210.00", "1260.00")
    alone = make_invoice(retail_cast, jobId=job["id"], sources=[second])
    assert (alone["pricesIncludeTax"], sums_of(alone)) == (True, ("50.00", "10.00", "60.00"))


def test_materials_cost_the_same_on_a_quote_s_invoice(cast: Cast) -> None:
    make_default_tax_rate(cast)
    quote = make_accepted_quote(cast, BOILER)
    job = make_job(cast, quote["customerId"], billing="timeAndMaterials")
    cast.perform(update_settings, pricesIncludeTax=True)
    make_bill(cast, jobId=job["id"], lines=[PIPE], total="72")
    (pipe,) = list_billable_materials(cast, job)
    made = make_invoice(cast, quoteId=quote["id"], jobId=job["id"], sources=[pipe.id])
    assert (made["lines"][1]["unitPrice"], sums_of(made)) == ("6.00", ("1060.00", "212.00", "1272.00"))


@pytest.mark.parametrize(("before", "unit_price", "total"), [(0, "100.00", "1320.00"), (1, "144.00", "1144.00")])
def test_a_quote_made_before_the_prices_were_told_otherwise_keeps_its_way(
    cast: Cast, before: int, unit_price: str, total: str
) -> None:
    make_default_tax_rate(cast)
    item = make_price_item(cast, sellPrice="120")
    set_organisation_columns(cast, prices_include_tax=before)
    sold, draft = make_accepted_quote(cast, BOILER), make_quote(cast, lines=[BOILER])
    set_organisation_columns(cast, prices_include_tax=1 - before)
    billed = make_invoice(cast, quoteId=sold["id"], lines=[{"itemId": item}])
    quoted = edit_quote(cast, draft, {"edit": "add", "itemId": item})
    for document in (billed, quoted):
        assert document["pricesIncludeTax"] is bool(before)
        assert (document["lines"][1]["unitPrice"], document["total"]) == (unit_price, total)


def test_what_was_drafted_before_stays_as_it_was_drafted(cast: Cast) -> None:
    make_default_tax_rate(cast)
    item = make_price_item(cast, sellPrice="120")
    draft = make_invoice(cast, lines=[{"itemId": item}])
    cast.perform(update_settings, pricesIncludeTax=True)
    after = edit_invoice(cast, draft, title="Otherwise")
    assert (after["lines"], sums_of(after)) == (draft["lines"], ("120.00", "24.00", "144.00"))
