from typing import Any

import pytest

from cast import Cast
from evidence import as_told, history
from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.purchasing.operations import draft_purchase_order, get_purchase_order
from mainstay.business.schedule.cancelling import cancel_job
from mainstay.terms.refusal import Blocked, Conflict, Forbidden, Invalid, Lapsed, NotFound
from mainstay.terms.rights import Role
from ordering import PIPE, VALVE, an_order, bought_for
from quoting import usual_tax
from trade import a_customer, a_job, a_site
from wares import a_supplier, an_item


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_everything_that_is_said_of_it_is_kept(cast: Cast, role: Role) -> None:
    tax, supplier = usual_tax(cast), a_supplier(cast)
    customer = a_customer(cast)
    job = a_job(cast, customer, siteId=a_site(cast, customer, name="The mill"))
    given: dict[str, Any] = {"supplierId": supplier, "neededOn": "2031-01-31", "notes": "Before noon."}
    lines = [{"kind": "heading", "description": "Heating"}, PIPE, VALVE]
    made = cast.perform(draft_purchase_order, role, jobId=job["number"], lines=lines, **given)
    assert {name: made[name] for name in given} == given
    assert (made["number"], made["status"], made["supplierName"]) == ("PO-0001", "draft", "Pennine Supplies")
    assert (made["jobId"], made["jobNumber"], made["jobTitle"]) == (job["id"], job["number"], job["title"])
    assert (made["deliverTo"], made["siteId"], made["siteName"]) == ("site", job["siteId"], "The mill")
    assert (made["net"], made["tax"], made["total"], made["currency"]) == ("100.00", "20.00", "120.00", "GBP")
    assert [line["taxRateId"] for line in made["lines"]] == [None, tax, tax]
    assert [(one["description"], one["quantity"], one["received"], one["open"]) for one in made["goods"]] == [
        ("Copper pipe", "10.00", "0.00", "10.00"),
        ("Valve", "2.00", "0.00", "2.00"),
    ]
    assert as_told(cast.perform(get_purchase_order, role, purchaseOrderId="po-1")) == as_told(made)
    assert history(cast, made["id"]) == ["draft_purchase_order"]
    assert made["availableActions"] == ["update_purchase_order", "send_purchase_order", "cancel_purchase_order"]
    assert made["url"].endswith(f"/purchasing/orders/{made['id']}")


def test_an_item_of_the_price_list_is_ordered_at_what_it_costs(cast: Cast) -> None:
    dear = an_item(cast, code="BLR-24", costPrice="612.5", unit="pcs")
    unknown = an_item(cast, "Filter")
    line = an_order(cast, lines=[{"itemId": "blr-24", "quantity": "2"}])["lines"][0]
    assert (line["itemId"], line["description"], line["unit"]) == (dear, "Combi boiler", "pcs")
    assert (line["unitPrice"], line["amount"]) == ("612.50", "1225.00")
    with pytest.raises(Invalid, match=r"^lines\.0\.unitPrice: is required$"):
        an_order(cast, lines=[{"itemId": unknown}])


def test_prices_are_before_tax_even_where_customers_are_told_them_with_it(cast: Cast) -> None:
    usual_tax(cast)
    cast.perform(update_settings, pricesIncludeTax=True)
    assert an_order(cast, lines=[PIPE])["total"] == "72.00"


def test_it_goes_to_the_office_where_there_is_no_site(cast: Cast) -> None:
    assert an_order(cast)["deliverTo"] == an_order(cast, jobId=bought_for(cast)["id"])["deliverTo"] == "office"
    assert an_order(cast, deliverTo="pickup")["deliverTo"] == "pickup"
    site = a_site(cast, a_customer(cast))
    made = an_order(cast, siteId=site)
    assert (made["deliverTo"], made["siteId"]) == ("site", site)


def test_each_gets_the_next_number_as_the_settings_say(cast: Cast) -> None:
    told = cast.perform(update_settings, purchaseOrderNumbers={"prefix": "B-", "next": 41})
    assert told["purchaseOrderNumbers"] == {"prefix": "B-", "digits": 4, "next": 41}
    assert [an_order(cast)["number"] for _ in range(2)] == ["B-0041", "B-0042"]


def test_a_rate_that_it_names_stays_as_it_is(cast: Cast) -> None:
    tax = usual_tax(cast)
    an_order(cast)
    with pytest.raises(Conflict, match="stands on documents"):
        cast.perform(save_tax_rate, taxRateId=tax, components=[{"name": "VAT", "percent": "25"}])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"supplierId": "x"}, "supplierId: is not the id of a supplier"),
        ({"lines": [{}]}, "lines.0.description: is required without itemId; lines.0.unitPrice: is required"),
        ({"lines": [PIPE | {"quantity": "0"}]}, "lines.0.quantity: is not above 0"),
        ({"lines": [PIPE | {"quantity": "-1"}]}, "lines.0.quantity: is not above 0"),
        ({"lines": [PIPE | {"optional": True}]}, "lines.0.optional: is not known here"),
        (
            {"lines": [PIPE | {"quantity": "9999999", "unitPrice": "90000"}]},
            "lines: come to more than can be bought: at most 100,000,000,000 GBP",
        ),
        ({"deliverTo": "site"}, "siteId: is required to deliver to a site, list_sites tells them"),
        ({"deliverTo": "moon"}, "deliverTo: is not one of"),
        ({"neededOn": "tomorrow"}, "neededOn: is not a date"),
    ],
)
def test_what_makes_no_sense_is_told(cast: Cast, wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        an_order(cast, **wrong)
    assert refusal.value.text.startswith(text)


def test_a_site_is_the_customer_s_whose_job_it_is_for(cast: Cast) -> None:
    site = a_site(cast, a_customer(cast, "Another"))
    with pytest.raises(Invalid, match="siteId: is a site of another customer than the job's"):
        an_order(cast, jobId=bought_for(cast)["id"], siteId=site)
    with pytest.raises(Invalid, match="siteId: is not sent with deliverTo office"):
        an_order(cast, deliverTo="office", siteId=site)


def test_nothing_is_ordered_for_work_that_is_over_or_from_who_is_archived(cast: Cast) -> None:
    job, supplier = bought_for(cast), a_supplier(cast)
    cast.perform(cancel_job, jobId=job["id"], reason="No more.", confirmed=True)
    with pytest.raises(Blocked, match=r"is cancelled\. Reopen it first"):
        an_order(cast, jobId=job["id"])
    cast.perform(save_supplier, supplierId=supplier, status="archived")
    with pytest.raises(Blocked, match=r"Pennine Supplies is archived\. Restore them first"):
        an_order(cast, supplierId=supplier)


def test_not_for_another_s_supplier_or_job(cast: Cast, stranger: Cast) -> None:
    with pytest.raises(NotFound):
        an_order(cast, supplierId=a_supplier(stranger))
    with pytest.raises(NotFound):
        an_order(cast, jobId=bought_for(stranger)["id"])


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_orders_nothing(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(draft_purchase_order, role, supplierId=a_supplier(cast))


def test_not_while_the_subscription_has_lapsed(cast: Cast) -> None:
    supplier = a_supplier(cast)
    cast.lapse()
    with pytest.raises(Lapsed):
        an_order(cast, supplierId=supplier)
