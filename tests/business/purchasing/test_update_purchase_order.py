from typing import Any

import pytest

from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.purchasing.operations import update_purchase_order
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.prices import make_supplier
from support.purchases import make_order, make_purchase_job, place_order, reread_order
from support.stored_state import to_event_record


def change_order(cast: Cast, order: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(update_purchase_order, Role.OFFICE, purchaseOrderId=order["id"], **given)


def test_one_line_changes_and_the_others_stay(cast: Cast) -> None:
    order = make_order(cast)
    pipe, valve = order["lines"]
    after = change_order(cast, order, edits=[{"edit": "set", "lineId": valve["id"], "quantity": "3"}])
    assert after["lines"] == [pipe, valve | {"quantity": "3.00", "amount": "60.00"}]
    assert [one["open"] for one in after["goods"]] == ["10.00", "3.00"]
    assert after["total"] == "120.00"
    after = change_order(cast, order, edits=[{"edit": "remove", "lineId": pipe["id"]}])
    assert [line["description"] for line in after["lines"]] == ["Valve"]


def test_only_what_is_sent_changes_and_null_clears(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = make_order(cast, jobId=job["id"], notes="Before noon.", neededOn="2031-01-31")
    after = change_order(cast, order, notes=None, deliverTo="pickup")
    assert (after["notes"], after["neededOn"], after["deliverTo"]) == (None, "2031-01-31", "pickup")
    assert after["jobId"] == job["id"]
    other = make_supplier(cast, "Dales Timber")
    after = change_order(cast, order, jobId=None, supplierId=other)
    assert (after["jobId"], after["supplierName"], after["deliverTo"]) == (None, "Dales Timber", "pickup")
    assert after["version"] == order["version"] + 2


def test_what_goes_to_the_site_of_one_job_goes_to_that_of_the_next(cast: Cast) -> None:
    customer, other = make_customer(cast), make_customer(cast, "Another")
    first = make_job(cast, customer, siteId=make_site(cast, customer))
    second = make_job(cast, other, siteId=make_site(cast, other))
    order = make_order(cast, jobId=first["id"])
    assert change_order(cast, order, jobId=second["id"])["siteId"] == second["siteId"]
    after = change_order(cast, order, jobId=None)
    assert (after["deliverTo"], after["siteId"]) == ("office", None)
    assert change_order(cast, order, siteId=first["siteId"])["deliverTo"] == "site"


def test_nothing_changes_by_nothing(cast: Cast) -> None:
    order = make_order(cast)
    assert to_event_record(change_order(cast, order, notes=None)) == to_event_record(order)


def test_what_was_sent_stays_as_it_is(cast: Cast) -> None:
    order = place_order(cast)
    with pytest.raises(Blocked, match=r"^PO-0001 was sent, so it can't be changed\. Create another") as refusal:
        change_order(cast, order, notes="Now.")
    assert refusal.value.reasons[0].instead == "draft_purchase_order"
    assert reread_order(cast, order)["notes"] is None


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (
            {"edit": "set", "lineId": "line_x", "quantity": "1"},
            "edits.0.lineId: is not a line of this document, its lines are line_",
        ),
        ({"edit": "add"}, "edits.0.description: is required without itemId; edits.0.unitPrice: is required"),
        ({"edit": "add", "description": "x", "unitPrice": "1", "quantity": "0"}, "edits.0.quantity: is not above 0"),
        ({"edit": "add", "description": "x", "unitPrice": "1", "cost": "1"}, "edits.0.cost: is not known here"),
    ],
)
def test_edits_that_make_no_sense_are_told(cast: Cast, edit: dict[str, Any], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        change_order(cast, make_order(cast), edits=[edit])
    assert refusal.value.text.startswith(text)


def test_not_to_a_supplier_who_is_archived(cast: Cast) -> None:
    gone = make_supplier(cast, "Gone")
    cast.perform(save_supplier, supplierId=gone, status="archived")
    with pytest.raises(Blocked, match="Gone is archived"):
        change_order(cast, make_order(cast), supplierId=gone)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_changes_none(cast: Cast, role: Role) -> None:
    order = make_order(cast, jobId=make_purchase_job(cast, role)["id"])
    with pytest.raises(Forbidden):
        cast.perform(update_purchase_order, role, purchaseOrderId=order["id"], notes="x")
