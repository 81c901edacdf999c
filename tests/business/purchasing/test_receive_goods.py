from datetime import timedelta
from typing import Any

import pytest

from mainstay.business.organisation.settings import update_settings
from mainstay.business.purchasing.closing import cancel_purchase_order, close_purchase_order
from mainstay.business.purchasing.receiving import receive_goods
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, NotFound
from support.cast import Cast
from support.purchases import (
    PIPE,
    bill_order,
    list_materials,
    make_order,
    make_purchase_job,
    place_order,
    receive_order,
    reread_order,
)


def received_and_open(order: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["received"], one["open"]) for one in order["goods"]]


def test_what_comes_is_counted_line_by_line(cast: Cast) -> None:
    order = place_order(cast)
    assert order["status"] == "sent"
    order = receive_order(cast, order, "4", slip="LS 7", on="2026-01-05")
    assert (order["status"], received_and_open(order)) == ("partReceived", [("4.00", "6.00"), ("0.00", "2.00")])
    assert [line["received"] for line in order["lines"]] == ["4.00", "0.00"]
    # All of one line, and nothing of another: that is not received.
    order = receive_order(cast, order, "6")
    assert order["status"] == "partReceived"
    order = receive_order(cast, order, "", "2")
    assert (order["status"], received_and_open(order)) == ("received", [("10.00", "0.00"), ("2.00", "0.00")])
    first = order["receipts"][0]
    assert (first["on"], first["slip"], first["recordedBy"]["person"]["name"]) == ("2026-01-05", "LS 7", "Orla Office")
    assert [[line["quantity"] for line in one["lines"]] for one in order["receipts"]] == [["4.00"], ["6.00"], ["2.00"]]


def test_a_negative_quantity_corrects(cast: Cast) -> None:
    order = receive_order(cast, place_order(cast), "10", "2")
    order = receive_order(cast, order, "-3")
    assert (order["status"], received_and_open(order)) == ("partReceived", [("7.00", "3.00"), ("2.00", "0.00")])
    assert receive_order(cast, order, "-7", "-2")["status"] == "sent"


def test_less_than_was_billed_is_a_warning(cast: Cast) -> None:
    order = receive_order(cast, place_order(cast), "10", "2")
    bill_order(cast, order, "8", total="48")
    assert "warnings" not in receive_order(cast, order, "-2")
    assert receive_order(cast, order, "-1")["warnings"] == ["8 m of Copper pipe billed, but only 7 m received."]


def test_it_is_a_cost_of_the_job_at_once(cast: Cast) -> None:
    order = place_order(cast, jobId=make_purchase_job(cast)["id"], lines=[PIPE | {"discountPercent": "10"}])
    receive_order(cast, order, "4")
    assert list_materials(cast) == [("orderLine", "Copper pipe", 4, 21)]
    receive_order(cast, order, "6")
    assert list_materials(cast) == [("orderLine", "Copper pipe", 10, 54)]
    receive_order(cast, order, "-10")
    assert list_materials(cast) == []


def test_what_is_bought_for_stock_is_no_job_s(cast: Cast) -> None:
    receive_order(cast, place_order(cast), "10", "2")
    assert list_materials(cast) == []


@pytest.mark.parametrize(
    ("quantities", "text"),
    [
        (["11"], "lines.0.quantity: is more than is still to come: 0 m of 10 m already received"),
        (["", "2.0001"], "lines.0.quantity: is more than is still to come: 0 of 2 already received"),
        (["-1"], "lines.0.quantity: returns more than was received: 0 m of 10 m so far"),
        (["0"], "lines.0.quantity: is 0, leave the line out"),
        (["x"], "lines.0.quantity: is not a quantity"),
        ([], "lines: is empty"),
    ],
)
def test_never_more_than_was_ordered_nor_less_than_nothing(cast: Cast, quantities: list[str], text: str) -> None:
    order = place_order(cast)
    with pytest.raises(Invalid) as refusal:
        receive_order(cast, order, *quantities)
    assert refusal.value.text.startswith(text)
    assert reread_order(cast, order)["status"] == "sent"


def test_a_line_that_is_named_twice_counts_twice(cast: Cast) -> None:
    order = place_order(cast)
    line = {"lineId": order["goods"][1]["lineId"], "quantity": "2"}
    with pytest.raises(Invalid, match=r"^lines\.1\.quantity: is more than is still to come: 2 of 2 already received"):
        cast.perform(receive_goods, purchaseOrderId=order["id"], lines=[line, line])


def test_what_is_no_line_of_goods_is_told_those_there_are(cast: Cast) -> None:
    order = place_order(cast, lines=[{"kind": "heading", "description": "Pipes"}, PIPE])
    heading, pipe = (line["id"] for line in order["lines"])
    with pytest.raises(Invalid) as refusal:
        cast.perform(receive_goods, purchaseOrderId=order["id"], lines=[{"lineId": heading, "quantity": "1"}])
    assert refusal.value.text == f"lines.0.lineId: is not a line of the order, its lines: {pipe}"


def test_nothing_comes_of_what_was_not_sent_or_has_ended(cast: Cast) -> None:
    with pytest.raises(Blocked, match=r"^PO-0001 is a draft\. Send it before you receive goods\.$"):
        receive_order(cast, make_order(cast), "1")
    cancelled, closed = place_order(cast), place_order(cast)
    cast.perform(cancel_purchase_order, purchaseOrderId=cancelled["id"], confirmed=True)
    cast.perform(close_purchase_order, purchaseOrderId=closed["id"], reason="Sold out.", confirmed=True)
    for order, ended in ((cancelled, "PO-0002 is cancelled"), (closed, "PO-0003 is closed")):
        with pytest.raises(Blocked, match=f"^{ended}, so no more goods can be received"):
            receive_order(cast, order, "1")


def test_not_ahead_and_not_into_closed_books(cast: Cast) -> None:
    order = place_order(cast)
    ahead = (cast.performer.clock() + timedelta(days=2)).date().isoformat()
    with pytest.raises(Invalid, match=r"^on: is in the future"):
        receive_order(cast, order, "1", on=ahead)
    with pytest.raises(Invalid, match=r"^on: is outside the years 2000 to 2099"):
        receive_order(cast, order, "1", on="0001-01-01")
    cast.perform(update_settings, booksClosedUntil="2026-01-31")
    with pytest.raises(
        Blocked, match=r"^The books are closed up to 2026-01-31, so nothing dated 2026-01-31 can be changed"
    ):
        receive_order(cast, order, "1", on="2026-01-31")


def test_a_member_receives_for_their_own_job_and_sees_no_price(cast: Cast) -> None:
    own = place_order(cast, jobId=make_purchase_job(cast, Role.MEMBER)["id"])
    another_s, stock = place_order(cast, jobId=make_purchase_job(cast)["id"]), place_order(cast)
    line = {"lineId": own["goods"][0]["lineId"], "quantity": "10"}
    after = cast.perform(receive_goods, Role.MEMBER, purchaseOrderId=own["number"], lines=[line])
    assert received_and_open(after) == [("10.00", "0.00"), ("0.00", "2.00")]
    hidden = ("lines", "taxes", "net", "tax", "total", "notes", "closeReason")
    assert {after[name] for name in hidden} == {None}
    assert after["availableActions"] == ["receive_goods"]
    for order in (another_s, stock):
        with pytest.raises(NotFound):
            cast.perform(receive_goods, Role.MEMBER, purchaseOrderId=order["id"], lines=[line])


def test_a_subcontractor_receives_nothing(cast: Cast) -> None:
    order = place_order(cast, jobId=make_purchase_job(cast, Role.SUBCONTRACTOR)["id"])
    line = {"lineId": order["goods"][0]["lineId"], "quantity": "10"}
    with pytest.raises(Forbidden):
        cast.perform(receive_goods, Role.SUBCONTRACTOR, purchaseOrderId=order["id"], lines=[line])
