from typing import Any

import pytest

from mainstay.business.organisation.settings import update_settings
from mainstay.business.purchasing.bills import update_bill, void_bill
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden
from support.cast import Cast
from support.purchases import (
    bill_order,
    list_materials,
    make_bill,
    make_purchase_job,
    place_order,
    receive_order,
    reread_order,
)


def void_recorded_bill(cast: Cast, bill: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(void_bill, Role.OFFICE, **{"billId": bill["id"], "confirmed": True, **given})


def test_it_counts_no_longer_for_its_order_or_its_job(cast: Cast) -> None:
    order = receive_order(cast, place_order(cast, jobId=make_purchase_job(cast)["id"]), "10")
    bill = bill_order(cast, order, "10")
    assert reread_order(cast, order)["status"] == "partBilled"
    preview = void_recorded_bill(cast, bill, confirmed=False)
    assert preview["summary"] == "Pennine Supplies 4711 for 60.00 GBP will no longer count."
    assert preview["effects"] == ["The goods of PO-0001 on it can be billed again."]
    after = void_recorded_bill(cast, bill, reason="Twice.")
    assert (after["status"], after["voidReason"], after["availableActions"]) == ("void", "Twice.", [])
    assert reread_order(cast, order)["status"] == "partReceived"
    assert list_materials(cast) == [("orderLine", "Copper pipe", 10, 60)]


def test_once_and_not_while_it_is_paid(cast: Cast) -> None:
    bill = make_bill(cast)
    cast.perform(update_bill, billId=bill["id"], status="paid")
    with pytest.raises(Blocked, match=r"is paid\. Set it back to approved first\.$") as refusal:
        void_recorded_bill(cast, bill)
    assert refusal.value.reasons[0].first == "update_bill"
    cast.perform(update_bill, billId=bill["id"], status="approved")
    void_recorded_bill(cast, bill)
    with pytest.raises(Blocked, match=r"is already void\.$"):
        void_recorded_bill(cast, bill)


def test_not_in_closed_books(cast: Cast) -> None:
    bill = make_bill(cast)
    cast.perform(update_settings, booksClosedUntil="2026-02-28")
    with pytest.raises(Blocked, match="The books are closed"):
        void_recorded_bill(cast, bill)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_voids_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(void_bill, role, billId=make_bill(cast)["id"], confirmed=True)
