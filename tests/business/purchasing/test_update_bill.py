from datetime import timedelta
from typing import Any

import pytest

from mainstay.business.organisation.settings import update_settings
from mainstay.business.purchasing.bills import update_bill, void_bill
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Invalid
from support.cast import Cast
from support.purchases import VALVE, bill_order, list_materials, make_bill, make_purchase_job, place_order, reread_order


def change_bill(cast: Cast, bill: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(update_bill, Role.OFFICE, billId=bill["id"], **given)


def test_one_line_changes_and_its_cost_with_it(cast: Cast) -> None:
    bill = make_bill(cast, jobId=make_purchase_job(cast)["id"])
    line = bill["lines"][0]["id"]
    dearer = [{"edit": "set", "lineId": line, "unitPrice": "7"}]
    with pytest.raises(Invalid, match=r"^total: doesn't match the lines: they add up to 70\.00"):
        change_bill(cast, bill, edits=dearer)
    after = change_bill(cast, bill, edits=[*dearer, {"edit": "add", **VALVE}], total="110")
    assert [one["amount"] for one in after["lines"]] == ["70.00", "40.00"]
    assert (after["lines"][0]["id"], after["total"]) == (line, "110.00")
    assert list_materials(cast) == [("billLine", "Copper pipe", 10, 70), ("billLine", "Valve", 2, 40)]


def test_what_it_bills_of_an_order_follows(cast: Cast) -> None:
    order = place_order(cast, jobId=make_purchase_job(cast)["id"])
    bill = bill_order(cast, order, "10")
    less = [{"edit": "set", "lineId": bill["lines"][0]["id"], "quantity": "5"}]
    change_bill(cast, bill, edits=less, total="30")
    assert [line["billed"] for line in reread_order(cast, order)["lines"]] == ["5.00", "0.00"]
    valve = {"edit": "add", "orderLineId": order["lines"][1]["id"]}
    after = change_bill(cast, bill, edits=[valve], total="70")
    assert [line["orderLineId"] for line in after["lines"]] == [line["id"] for line in order["lines"]]
    over = [{"edit": "set", "lineId": bill["lines"][0]["id"], "quantity": "11"}]
    with pytest.raises(Blocked, match="You ordered 10 m of Copper pipe, but this bill is for 11 m"):
        change_bill(cast, bill, edits=over, total="106")
    assert change_bill(cast, bill, edits=over, total="106", allowOverbilling=True)["total"] == "106.00"
    with pytest.raises(Invalid, match=r"^edits\.0\.orderLineId: can only be set on a new line"):
        change_bill(cast, bill, edits=[{"edit": "set", "lineId": bill["lines"][0]["id"], "orderLineId": None}])


def test_it_goes_over_to_another_job(cast: Cast) -> None:
    bill = make_bill(cast, jobId=make_purchase_job(cast)["id"])
    other = make_purchase_job(cast)
    assert change_bill(cast, bill, jobId=other["number"])["jobId"] == other["id"]
    assert change_bill(cast, bill, jobId=None)["jobId"] is None
    assert list_materials(cast) == []


def test_only_what_is_sent_changes(cast: Cast) -> None:
    bill = make_bill(cast, notes="Look.", dueOn="2026-03-01")
    after = change_bill(cast, bill, notes=None, supplierNumber="4712", on="2026-02-03")
    assert (after["notes"], after["supplierNumber"], after["on"]) == (None, "4712", "2026-02-03")
    assert (after["dueOn"], after["total"]) == ("2026-03-01", "60.00")


def test_it_is_approved_paid_and_taken_back(cast: Cast) -> None:
    bill = make_bill(cast)
    assert change_bill(cast, bill, status="approved")["status"] == "approved"
    paid = change_bill(cast, bill, status="paid", paidOn="2026-02-20")
    assert (paid["status"], paid["paidOn"], paid["availableActions"]) == ("paid", "2026-02-20", ["update_bill"])
    back = change_bill(cast, bill, status="approved")
    assert (back["status"], back["paidOn"]) == ("approved", None)
    today = cast.performer.clock().date().isoformat()
    assert change_bill(cast, bill, status="paid")["paidOn"] == today
    # A form sends along what stands there.
    back = change_bill(cast, bill, status="approved", paidOn=today)
    assert (back["status"], back["paidOn"]) == ("approved", None)
    assert change_bill(cast, bill, status="draft", notes="Wrong.")["notes"] == "Wrong."


def test_what_is_approved_or_paid_says_what_it_says(cast: Cast) -> None:
    bill = change_bill(cast, make_bill(cast), status="approved")
    job = make_purchase_job(cast)["id"]
    others = ({"notes": "x"}, {"total": "60"}, {"supplierNumber": "9"}, {"jobId": job}, {"dueOn": "2026-03-01"})
    for change in others:
        with pytest.raises(Blocked, match=r"is approved, so it can't be changed\. Set it back to draft") as refusal:
            change_bill(cast, bill, **change)
        assert refusal.value.reasons[0].first == "update_bill"
    # What it says already is no change of it.
    change_bill(cast, bill, status="paid", supplierNumber="4711", on="2026-02-02", dueOn=None, jobId=None, notes=None)
    with pytest.raises(Blocked, match="is paid, so it can't be changed"):
        change_bill(cast, bill, notes="x")


def test_a_date_of_payment_that_makes_no_sense_is_told(cast: Cast) -> None:
    bill = make_bill(cast)
    with pytest.raises(Invalid, match=r"^paidOn: can only be set when the status is paid$"):
        change_bill(cast, bill, paidOn="2026-02-20")
    ahead = (cast.performer.clock() + timedelta(days=2)).date().isoformat()
    with pytest.raises(Invalid, match=r"^paidOn: is in the future"):
        change_bill(cast, bill, status="paid", paidOn=ahead)


def test_it_is_never_due_before_its_date(cast: Cast) -> None:
    bill = make_bill(cast, on="2026-02-02", dueOn="2026-03-04")
    for wrong in ({"on": "2026-03-05"}, {"dueOn": "2026-02-01"}):
        with pytest.raises(Invalid, match="dueOn: is before the bill date"):
            cast.perform(update_bill, billId=bill["id"], **wrong)
    later = cast.perform(update_bill, billId=bill["id"], on="2026-03-05", dueOn="2026-03-05")
    assert (later["on"], later["dueOn"]) == ("2026-03-05", "2026-03-05")


def test_not_to_a_number_that_is_taken(cast: Cast) -> None:
    first = make_bill(cast)
    other = make_bill(cast, supplierId=first["supplierId"], supplierNumber="2")
    with pytest.raises(Conflict, match=r"^Bill Pennine Supplies 4711 dated 2026-02-02 for 60\.00 GBP is already"):
        change_bill(cast, other, supplierNumber="47-11")
    assert change_bill(cast, first, supplierNumber="47-11")["supplierNumber"] == "47-11"


def test_what_is_void_and_what_lies_in_closed_books_stays(cast: Cast) -> None:
    bill, gone = make_bill(cast), make_bill(cast)
    cast.perform(void_bill, billId=gone["id"], confirmed=True)
    with pytest.raises(Blocked, match=r"is void\. Record it again instead\.$"):
        change_bill(cast, gone, notes="x")
    cast.perform(update_settings, booksClosedUntil="2026-02-28")
    with pytest.raises(
        Blocked, match="The books are closed up to 2026-02-28, so nothing dated 2026-02-02 can be changed"
    ):
        change_bill(cast, bill, on="2026-03-01")
    # That it is paid is no change of what it says.
    assert change_bill(cast, bill, status="paid", paidOn="2026-03-02")["status"] == "paid"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_changes_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(update_bill, role, billId=make_bill(cast)["id"], status="paid")
