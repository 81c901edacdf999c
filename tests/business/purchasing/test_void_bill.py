from typing import Any

import pytest

from cast import Cast
from mainstay.business.organisation.settings import update_settings
from mainstay.business.purchasing.bills import update_bill, void_bill
from mainstay.terms.refusal import Blocked, Forbidden
from mainstay.terms.rights import Role
from ordering import a_bill, as_it_is, billed, bought_for, materials, ordered, received


def voided(cast: Cast, bill: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(void_bill, Role.OFFICE, **{"billId": bill["id"], "confirmed": True, **given})


def test_it_counts_no_longer_for_its_order_or_its_job(cast: Cast) -> None:
    order = received(cast, ordered(cast, jobId=bought_for(cast)["id"]), "10")
    bill = billed(cast, order, "10")
    assert as_it_is(cast, order)["status"] == "partBilled"
    preview = voided(cast, bill, confirmed=False)
    assert preview["summary"] == "Pennine Supplies 4711 over 60.00 GBP counts no longer."
    assert preview["effects"] == ["What it bills of PO-0001 is not billed any more."]
    after = voided(cast, bill, reason="Twice.")
    assert (after["status"], after["voidReason"], after["availableActions"]) == ("void", "Twice.", [])
    assert as_it_is(cast, order)["status"] == "partReceived"
    assert materials(cast) == [("orderLine", "Copper pipe", 10, 60)]


def test_once_and_not_while_it_is_paid(cast: Cast) -> None:
    bill = a_bill(cast)
    cast.perform(update_bill, billId=bill["id"], status="paid")
    with pytest.raises(Blocked, match=r"is paid\. Say first that it is approved only\.$") as refusal:
        voided(cast, bill)
    assert refusal.value.reasons[0].unblock == "update_bill"
    cast.perform(update_bill, billId=bill["id"], status="approved")
    voided(cast, bill)
    with pytest.raises(Blocked, match=r"is void already\.$"):
        voided(cast, bill)


def test_not_in_closed_books(cast: Cast) -> None:
    bill = a_bill(cast)
    cast.perform(update_settings, booksClosedUntil="2026-02-28")
    with pytest.raises(Blocked, match="The books are closed"):
        voided(cast, bill)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_voids_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(void_bill, role, billId=a_bill(cast)["id"], confirmed=True)
