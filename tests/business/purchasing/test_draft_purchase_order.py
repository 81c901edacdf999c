from typing import Any

import pytest

from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.purchasing.operations import draft_purchase_order, get_purchase_order
from mainstay.business.schedule.job_cancellation import cancel_job
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.prices import make_price_item, make_supplier
from support.purchases import PIPE, VALVE, make_order, make_purchase_job
from support.quotes import make_default_tax_rate
from support.stored_state import operations_on, to_event_record


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_everything_that_is_said_of_it_is_kept(cast: Cast, role: Role) -> None:
    tax, supplier = make_default_tax_rate(cast), make_supplier(cast)
    customer = make_customer(cast)
    job = make_job(cast, customer, siteId=make_site(cast, customer, name="The mill"))
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
    assert to_event_record(cast.perform(get_purchase_order, role, purchaseOrderId="po-1")) == to_event_record(made)
    assert operations_on(cast, made["id"]) == ["draft_purchase_order"]
    assert made["availableActions"] == ["update_purchase_order", "send_purchase_order", "cancel_purchase_order"]
    assert made["url"].endswith(f"/purchasing/orders/{made['id']}")


def test_an_item_of_the_price_list_is_ordered_at_what_it_costs(cast: Cast) -> None:
    dear = make_price_item(cast, code="BLR-24", costPrice="612.5", unit="pcs")
    unknown = make_price_item(cast, "Filter")
    line = make_order(cast, lines=[{"itemId": "blr-24", "quantity": "2"}])["lines"][0]
    assert (line["itemId"], line["description"], line["unit"]) == (dear, "Combi boiler", "pcs")
    assert (line["unitPrice"], line["amount"]) == ("612.50", "1225.00")
    with pytest.raises(Invalid, match=r"^lines\.0\.unitPrice: is required$"):
        make_order(cast, lines=[{"itemId": unknown}])


def test_prices_are_before_tax_even_where_customers_are_told_them_with_it(cast: Cast) -> None:
    make_default_tax_rate(cast)
    cast.perform(update_settings, pricesIncludeTax=True)
    assert make_order(cast, lines=[PIPE])["total"] == "72.00"


def test_it_goes_to_the_office_where_there_is_no_site(cast: Cast) -> None:
    assert (
        make_order(cast)["deliverTo"] == make_order(cast, jobId=make_purchase_job(cast)["id"])["deliverTo"] == "office"
    )
    assert make_order(cast, deliverTo="pickup")["deliverTo"] == "pickup"
    site = make_site(cast, make_customer(cast))
    made = make_order(cast, siteId=site)
    assert (made["deliverTo"], made["siteId"]) == ("site", site)


def test_each_gets_the_next_number_as_the_settings_say(cast: Cast) -> None:
    result = cast.perform(update_settings, purchaseOrderNumbers={"prefix": "B-", "next": 41})
    assert result["purchaseOrderNumbers"] == {"prefix": "B-", "digits": 4, "next": 41}
    assert [make_order(cast)["number"] for _ in range(2)] == ["B-0041", "B-0042"]


def test_a_rate_that_it_names_stays_as_it_is(cast: Cast) -> None:
    tax = make_default_tax_rate(cast)
    make_order(cast)
    with pytest.raises(Conflict, match="is used on documents"):
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
            "lines: add up to more than the limit of 100000000000 GBP",
        ),
        ({"deliverTo": "site"}, "siteId: is required to deliver to a site, list_sites shows the sites"),
        ({"deliverTo": "moon"}, "deliverTo: is not one of"),
        ({"neededOn": "tomorrow"}, "neededOn: is not a date"),
    ],
)
def test_what_makes_no_sense_is_told(cast: Cast, wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        make_order(cast, **wrong)
    assert refusal.value.text.startswith(text)


def test_a_site_is_the_customer_s_whose_job_it_is_for(cast: Cast) -> None:
    site = make_site(cast, make_customer(cast, "Another"))
    with pytest.raises(Invalid, match="siteId: is a site of another customer"):
        make_order(cast, jobId=make_purchase_job(cast)["id"], siteId=site)
    with pytest.raises(Invalid, match="siteId: can only be set for delivery to a site, not with office"):
        make_order(cast, deliverTo="office", siteId=site)


def test_nothing_is_ordered_for_work_that_is_over_or_from_who_is_archived(cast: Cast) -> None:
    job, supplier = make_purchase_job(cast), make_supplier(cast)
    cast.perform(cancel_job, jobId=job["id"], reason="No more.", confirmed=True)
    with pytest.raises(Blocked, match=r"is cancelled\. Reopen it first"):
        make_order(cast, jobId=job["id"])
    cast.perform(save_supplier, supplierId=supplier, status="archived")
    with pytest.raises(Blocked, match=r"Pennine Supplies is archived\. Restore them first"):
        make_order(cast, supplierId=supplier)


def test_not_for_another_s_supplier_or_job(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        make_order(cast, supplierId=make_supplier(other_cast))
    with pytest.raises(NotFound):
        make_order(cast, jobId=make_purchase_job(other_cast)["id"])


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_orders_nothing(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(draft_purchase_order, role, supplierId=make_supplier(cast))


def test_not_while_the_subscription_has_lapsed(cast: Cast) -> None:
    supplier = make_supplier(cast)
    cast.lapse()
    with pytest.raises(Lapsed):
        make_order(cast, supplierId=supplier)
