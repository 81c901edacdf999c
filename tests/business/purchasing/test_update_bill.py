from datetime import timedelta
from typing import Any

import pytest

from cast import Cast
from mainstay.business.organisation.settings import update_settings
from mainstay.business.purchasing.bills import update_bill, void_bill
from mainstay.terms.refusal import Blocked, Conflict, Forbidden, Invalid
from mainstay.terms.rights import Role
from ordering import VALVE, a_bill, as_it_is, billed, bought_for, materials, ordered


def changed(cast: Cast, bill: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(update_bill, Role.OFFICE, billId=bill["id"], **given)


def test_one_line_changes_and_its_cost_with_it(cast: Cast) -> None:
    bill = a_bill(cast, jobId=bought_for(cast)["id"])
    line = bill["lines"][0]["id"]
    dearer = [{"edit": "set", "lineId": line, "unitPrice": "7"}]
    with pytest.raises(Invalid, match=r"^total: is not that: the lines come to 70\.00"):
        changed(cast, bill, edits=dearer)
    after = changed(cast, bill, edits=[*dearer, {"edit": "add", **VALVE}], total="110")
    assert [one["amount"] for one in after["lines"]] == ["70.00", "40.00"]
    assert (after["lines"][0]["id"], after["total"]) == (line, "110.00")
    assert materials(cast) == [("billLine", "Copper pipe", 10, 70), ("billLine", "Valve", 2, 40)]


def test_what_it_bills_of_an_order_follows(cast: Cast) -> None:
    order = ordered(cast, jobId=bought_for(cast)["id"])
    bill = billed(cast, order, "10")
    less = [{"edit": "set", "lineId": bill["lines"][0]["id"], "quantity": "5"}]
    changed(cast, bill, edits=less, total="30")
    assert [line["billed"] for line in as_it_is(cast, order)["lines"]] == ["5.00", "0.00"]
    valve = {"edit": "add", "orderLineId": order["lines"][1]["id"]}
    after = changed(cast, bill, edits=[valve], total="70")
    assert [line["orderLineId"] for line in after["lines"]] == [line["id"] for line in order["lines"]]
    over = [{"edit": "set", "lineId": bill["lines"][0]["id"], "quantity": "11"}]
    with pytest.raises(Blocked, match="10 m of Copper pipe were ordered, and this bills 11 m"):
        changed(cast, bill, edits=over, total="106")
    assert changed(cast, bill, edits=over, total="106", allowOverbilling=True)["total"] == "106.00"
    with pytest.raises(Invalid, match=r"^edits\.0\.orderLineId: is sent with a new line"):
        changed(cast, bill, edits=[{"edit": "set", "lineId": bill["lines"][0]["id"], "orderLineId": None}])


def test_it_goes_over_to_another_job(cast: Cast) -> None:
    bill = a_bill(cast, jobId=bought_for(cast)["id"])
    other = bought_for(cast)
    assert changed(cast, bill, jobId=other["number"])["jobId"] == other["id"]
    assert changed(cast, bill, jobId=None)["jobId"] is None
    assert materials(cast) == []


def test_only_what_is_sent_changes(cast: Cast) -> None:
    bill = a_bill(cast, notes="Look.", dueOn="2026-03-01")
    after = changed(cast, bill, notes=None, supplierNumber="4712", on="2026-02-03")
    assert (after["notes"], after["supplierNumber"], after["on"]) == (None, "4712", "2026-02-03")
    assert (after["dueOn"], after["total"]) == ("2026-03-01", "60.00")


def test_it_is_approved_paid_and_taken_back(cast: Cast) -> None:
    bill = a_bill(cast)
    assert changed(cast, bill, status="approved")["status"] == "approved"
    paid = changed(cast, bill, status="paid", paidOn="2026-02-20")
    assert (paid["status"], paid["paidOn"], paid["availableActions"]) == ("paid", "2026-02-20", ["update_bill"])
    back = changed(cast, bill, status="approved")
    assert (back["status"], back["paidOn"]) == ("approved", None)
    today = cast.stage.clock().date().isoformat()
    assert changed(cast, bill, status="paid")["paidOn"] == today
    # A form sends along what stands there.
    back = changed(cast, bill, status="approved", paidOn=today)
    assert (back["status"], back["paidOn"]) == ("approved", None)
    assert changed(cast, bill, status="draft", notes="Wrong.")["notes"] == "Wrong."


def test_what_is_approved_or_paid_says_what_it_says(cast: Cast) -> None:
    bill = changed(cast, a_bill(cast), status="approved")
    job = bought_for(cast)["id"]
    others = ({"notes": "x"}, {"total": "60"}, {"supplierNumber": "9"}, {"jobId": job}, {"dueOn": "2026-03-01"})
    for change in others:
        with pytest.raises(Blocked, match=r"is approved, so it stays\. Make it a draft again first\.$") as refusal:
            changed(cast, bill, **change)
        assert refusal.value.reasons[0].unblock == "update_bill"
    # What it says already is no change of it.
    changed(cast, bill, status="paid", supplierNumber="4711", on="2026-02-02", dueOn=None, jobId=None, notes=None)
    with pytest.raises(Blocked, match="is paid, so it stays"):
        changed(cast, bill, notes="x")


def test_a_date_of_payment_that_makes_no_sense_is_told(cast: Cast) -> None:
    bill = a_bill(cast)
    with pytest.raises(Invalid, match=r"^paidOn: is sent with status paid$"):
        changed(cast, bill, paidOn="2026-02-20")
    ahead = (cast.stage.clock() + timedelta(days=2)).date().isoformat()
    with pytest.raises(Invalid, match=r"^paidOn: lies ahead"):
        changed(cast, bill, status="paid", paidOn=ahead)


def test_it_is_never_due_before_its_date(cast: Cast) -> None:
    bill = a_bill(cast, on="2026-02-02", dueOn="2026-03-04")
    for wrong in ({"on": "2026-03-05"}, {"dueOn": "2026-02-01"}):
        with pytest.raises(Invalid, match="dueOn: is before the date on it"):
            cast.perform(update_bill, billId=bill["id"], **wrong)
    later = cast.perform(update_bill, billId=bill["id"], on="2026-03-05", dueOn="2026-03-05")
    assert (later["on"], later["dueOn"]) == ("2026-03-05", "2026-03-05")


def test_not_to_a_number_that_is_taken(cast: Cast) -> None:
    first = a_bill(cast)
    other = a_bill(cast, supplierId=first["supplierId"], supplierNumber="2")
    with pytest.raises(Conflict, match=r"Pennine Supplies 4711 of 2026-02-02 over 60\.00 GBP is recorded already"):
        changed(cast, other, supplierNumber="47-11")
    assert changed(cast, first, supplierNumber="47-11")["supplierNumber"] == "47-11"


def test_what_is_void_and_what_lies_in_closed_books_stays(cast: Cast) -> None:
    bill, gone = a_bill(cast), a_bill(cast)
    cast.perform(void_bill, billId=gone["id"], confirmed=True)
    with pytest.raises(Blocked, match=r"is void\. Record it anew\.$"):
        changed(cast, gone, notes="x")
    cast.perform(update_settings, booksClosedUntil="2026-02-28")
    with pytest.raises(
        Blocked, match="The books are closed until 2026-02-28, so nothing of 2026-02-02 changes any more"
    ):
        changed(cast, bill, on="2026-03-01")
    # That it is paid is no change of what it says.
    assert changed(cast, bill, status="paid", paidOn="2026-03-02")["status"] == "paid"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_changes_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(update_bill, role, billId=a_bill(cast)["id"], status="paid")
