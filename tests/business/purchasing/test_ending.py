from typing import Any

import pytest

from mainstay.business.purchasing.closing import cancel_purchase_order, close_purchase_order
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid
from support.cast import Cast
from support.purchases import make_order, place_order, receive_order, reread_order


def end_order(cast: Cast, operation: Operation, order: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(operation, Role.OFFICE, **{"purchaseOrderId": order["id"], "confirmed": True, **given})


def test_an_order_is_closed_short_with_a_reason(cast: Cast) -> None:
    order = receive_order(cast, place_order(cast), "4", "2")
    with pytest.raises(Invalid, match=r"^reason: is required because goods are still to come$"):
        end_order(cast, close_purchase_order, order)
    preview = end_order(cast, close_purchase_order, order, reason="Sold out.", confirmed=False)
    assert preview["summary"] == "PO-0001 Pennine Supplies will be closed: no more goods are expected."
    assert preview["effects"] == ["6 m of Copper pipe won't be delivered."]
    assert preview["warnings"] == ["No email will be sent. Let Pennine Supplies know yourself."]
    assert reread_order(cast, order)["status"] == "partReceived"
    after = end_order(cast, close_purchase_order, order, reason="Sold out.")
    assert (after["status"], after["closeReason"], after["availableActions"]) == ("closed", "Sold out.", [])
    assert [one["received"] for one in after["goods"]] == ["4.00", "2.00"]


def test_what_has_come_whole_is_closed_without_one(cast: Cast) -> None:
    order = receive_order(cast, place_order(cast), "10", "2")
    assert end_order(cast, close_purchase_order, order)["status"] == "closed"


def test_an_order_is_cancelled_while_nothing_has_come(cast: Cast) -> None:
    order = place_order(cast)
    preview = end_order(cast, cancel_purchase_order, order, confirmed=False)
    assert preview["warnings"] == ["No email will be sent. Let Pennine Supplies know yourself."]
    after = end_order(cast, cancel_purchase_order, order, reason="Another is cheaper.")
    assert (after["status"], after["closeReason"]) == ("cancelled", "Another is cheaper.")
    assert end_order(cast, cancel_purchase_order, make_order(cast))["status"] == "cancelled"


def test_what_has_come_is_not_cancelled_but_closed(cast: Cast) -> None:
    order = receive_order(cast, place_order(cast), "1")
    with pytest.raises(
        Blocked, match=r"^Goods of PO-0001 were already received or billed\. Close it instead\.$"
    ) as refusal:
        end_order(cast, cancel_purchase_order, order)
    assert refusal.value.reasons[0].instead == "close_purchase_order"
    # What was taken back did not come.
    assert end_order(cast, cancel_purchase_order, receive_order(cast, order, "-1"))["status"] == "cancelled"


def test_it_ends_once_and_a_draft_by_being_cancelled(cast: Cast) -> None:
    cancelled = end_order(cast, cancel_purchase_order, place_order(cast))
    with pytest.raises(Blocked, match=r"^PO-0001 is already cancelled\.$"):
        end_order(cast, cancel_purchase_order, cancelled)
    with pytest.raises(Blocked, match=r"^PO-0001 is already cancelled\.$"):
        end_order(cast, close_purchase_order, cancelled, reason="x")
    with pytest.raises(Blocked, match=r"^PO-0002 is a draft\. Cancel it instead\.$"):
        end_order(cast, close_purchase_order, make_order(cast), reason="x")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
@pytest.mark.parametrize("operation", [close_purchase_order, cancel_purchase_order])
def test_the_field_ends_none(cast: Cast, operation: Operation, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(operation, role, purchaseOrderId=place_order(cast)["id"], reason="x", confirmed=True)
