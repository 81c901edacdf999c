from typing import Any

import pytest

from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.purchasing.bills import get_bill, record_bill, void_bill
from mainstay.business.purchasing.closing import close_purchase_order
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.prices import make_price_item, make_supplier
from support.purchases import (
    PIPE,
    VALVE,
    bill_order,
    list_materials,
    make_bill,
    make_order,
    make_purchase_job,
    place_order,
    receive_order,
    reread_order,
)
from support.quotes import make_default_tax_rate
from support.stored_state import operations_on, to_event_record


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_everything_that_it_says_is_kept(cast: Cast, role: Role) -> None:
    tax, supplier, job = make_default_tax_rate(cast), make_supplier(cast), make_purchase_job(cast)
    given: dict[str, Any] = {"supplierNumber": "2026-4711", "on": "2026-02-02", "dueOn": "2026-03-04", "notes": "Ok."}
    message = given | {"supplierId": supplier, "jobId": job["number"], "lines": [PIPE, VALVE], "total": "120"}
    made = cast.perform(record_bill, role, **message)
    assert {name: made[name] for name in given} == given
    assert (made["status"], made["supplierName"], made["paidOn"]) == ("draft", "Pennine Supplies", None)
    assert (made["jobId"], made["jobNumber"], made["purchaseOrderId"]) == (job["id"], job["number"], None)
    assert (made["net"], made["tax"], made["total"], made["currency"]) == ("100.00", "20.00", "120.00", "GBP")
    assert [(line["description"], line["amount"], line["taxRateId"]) for line in made["lines"]] == [
        ("Copper pipe", "60.00", tax),
        ("Valve", "40.00", tax),
    ]
    assert to_event_record(cast.perform(get_bill, role, billId=made["id"])) == to_event_record(made)
    assert operations_on(cast, made["id"]) == ["record_bill"]
    assert made["availableActions"] == ["update_bill", "void_bill"]
    assert list_materials(cast) == [("billLine", "Copper pipe", 10, 60), ("billLine", "Valve", 2, 40)]


def test_it_is_due_when_the_supplier_s_terms_say(cast: Cast) -> None:
    supplier = make_supplier(cast, paymentTermsDays=30)
    assert make_bill(cast, supplierId=supplier)["dueOn"] == "2026-03-04"
    assert make_bill(cast, supplierId=supplier, supplierNumber="2", dueOn="2026-02-10")["dueOn"] == "2026-02-10"
    assert make_bill(cast)["dueOn"] is None
    with pytest.raises(Invalid, match="dueOn: is before the bill date, 2026-02-02"):
        make_bill(cast, supplierNumber="3", dueOn="2026-02-01")


@pytest.mark.parametrize("year", ["0001", "1999", "2100", "9999"])
@pytest.mark.parametrize("name", ["on", "dueOn"])
def test_a_year_that_was_mistyped_is_told(cast: Cast, name: str, year: str) -> None:
    with pytest.raises(Invalid, match=f"{name}: is outside the years 2000 to 2099"):
        make_bill(cast, **{name: f"{year}-02-02"})


@pytest.mark.parametrize("total", ["119.99", "100", "120.01", "-120"])
def test_its_total_is_what_its_lines_come_to(cast: Cast, total: str) -> None:
    make_default_tax_rate(cast)
    with pytest.raises(Invalid) as refusal:
        make_bill(cast, lines=[PIPE, VALVE], total=total)
    sums = "they add up to 100.00 GBP plus 20.00 GBP tax, 120.00 GBP in total"
    advice = "correct them, or add a line for the difference"
    assert refusal.value.text == f"total: doesn't match the lines: {sums}, {advice}"
    assert list_materials(cast) == []
    more = [PIPE, VALVE, {"description": "Rounding", "unitPrice": "-0.01", "taxRateId": None}]
    assert make_bill(cast, lines=more, total="119.99")["total"] == "119.99"


def test_of_an_order_it_bills_all_that_is_left_where_nothing_else_is_said(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = place_order(cast, jobId=job["id"])
    first = bill_order(cast, order, "4", "", total="24", supplierNumber="1")
    assert (first["supplierId"], first["purchaseOrderNumber"], first["jobId"]) == (
        order["supplierId"],
        order["number"],
        job["id"],
    )
    assert reread_order(cast, order)["status"] == "partBilled"
    rest = make_bill(cast, purchaseOrderId=order["number"], total="76")
    assert [(line["orderLineId"], line["quantity"]) for line in rest["lines"]] == [
        (order["lines"][0]["id"], "6.00"),
        (order["lines"][1]["id"], "2.00"),
    ]
    after = reread_order(cast, order)
    assert (after["status"], [line["billed"] for line in after["lines"]]) == ("billed", ["10.00", "2.00"])
    with pytest.raises(Invalid, match=r"^lines: are required: add what the bill is for$"):
        make_bill(cast, purchaseOrderId=order["id"], supplierNumber="3", total="0")


def test_what_is_billed_takes_the_place_of_what_was_received_and_is_not_counted_twice(cast: Cast) -> None:
    order = receive_order(cast, place_order(cast, jobId=make_purchase_job(cast)["id"]), "6", "2")
    assert list_materials(cast) == [("orderLine", "Copper pipe", 6, 36), ("orderLine", "Valve", 2, 40)]
    dearer = {"orderLineId": order["lines"][0]["id"], "quantity": "4", "unitPrice": "7"}
    make_bill(cast, purchaseOrderId=order["id"], lines=[dearer], total="28")
    assert list_materials(cast) == [
        ("billLine", "Copper pipe", 4, 28),
        ("orderLine", "Copper pipe", 2, 12),
        ("orderLine", "Valve", 2, 40),
    ]
    make_bill(cast, purchaseOrderId=order["id"], supplierNumber="2", total="76")
    assert sum(cost for *_, cost in list_materials(cast)) == 28 + 36 + 40
    # What comes when it was billed costs nothing more.
    receive_order(cast, order, "4")
    assert sum(cost for *_, cost in list_materials(cast)) == 28 + 36 + 40


def test_more_than_was_ordered_needs_someone_to_say_so(cast: Cast) -> None:
    order = place_order(cast)
    bill_order(cast, order, "8", "2", total="88")
    with pytest.raises(Blocked) as refusal:
        bill_order(cast, order, "3", "1", total="38", supplierNumber="2")
    advice = " Correct the quantity, or allow more than was ordered. To allow it, send `allowOverbilling`: true."
    assert [reason.text for reason in refusal.value.reasons] == [
        f"You ordered 10 m of Copper pipe, 8 m was already billed, and this bill is for 3 m.{advice}",
        f"You ordered 2 of Valve, 2 was already billed, and this bill is for 1.{advice}",
    ]
    after = bill_order(cast, order, "3", "1", total="38", supplierNumber="2", allowOverbilling=True)
    assert len(after["warnings"]) == 2
    assert reread_order(cast, order)["status"] == "billed"


def test_the_same_number_of_the_same_supplier_is_refused_however_it_is_written(cast: Cast) -> None:
    supplier = make_supplier(cast)
    first = make_bill(cast, supplierId=supplier, supplierNumber="RE-2026/0042")
    for written in ("re 2026 0042", "RE20260042", "Re-2026-0042"):
        with pytest.raises(Conflict) as refusal:
            make_bill(cast, supplierId=supplier, supplierNumber=written)
        message = "Bill Pennine Supplies RE-2026/0042 dated 2026-02-02 for 60.00 GBP is already recorded."
        assert refusal.value.text.startswith(message)
        assert refusal.value.text.endswith(f" Its billId is {first['id']}.")
    make_bill(cast, supplierNumber="RE-2026/0042")
    cast.perform(void_bill, billId=first["id"], confirmed=True)
    assert make_bill(cast, supplierId=supplier, supplierNumber="RE-2026/0042")["status"] == "draft"


def test_numbers_that_differ_by_a_letter_of_few_languages_are_two(cast: Cast) -> None:
    supplier = make_supplier(cast)
    for number in ("RØ-1", "RO-1"):
        assert make_bill(cast, supplierId=supplier, supplierNumber=number)["supplierNumber"] == number
    with pytest.raises(Conflict):
        make_bill(cast, supplierId=supplier, supplierNumber="rø 1")


def test_what_a_supplier_credits_is_a_bill_below_nothing(cast: Cast) -> None:
    back = make_bill(cast, jobId=make_purchase_job(cast)["id"], lines=[PIPE | {"quantity": "-2"}], total="-12")
    assert back["total"] == "-12.00"
    assert list_materials(cast) == [("billLine", "Copper pipe", -2, -12)]


def test_a_credit_note_names_the_lines_of_the_order_that_it_credits(cast: Cast) -> None:
    order = place_order(cast)
    bill_order(cast, order, "10", total="60")
    credit = bill_order(cast, order, "-4", total="-24", supplierNumber="CN 1")
    assert (credit["total"], credit["lines"][0]["orderLineId"]) == ("-24.00", order["lines"][0]["id"])
    assert reread_order(cast, order)["lines"][0]["billed"] == "6.00"
    assert reread_order(cast, order)["status"] == "partBilled"


def test_no_more_is_credited_than_was_billed(cast: Cast) -> None:
    order = place_order(cast)
    with pytest.raises(Invalid, match=r"^lines\.0\.quantity: credits more than was billed, which is 0 m$"):
        bill_order(cast, order, "-1", total="-6")
    first = bill_order(cast, order, "10", total="60")
    bill_order(cast, order, "-4", total="-24", supplierNumber="CN 1")
    with pytest.raises(Invalid, match=r"^lines\.0\.quantity: credits more than was billed, which is 6 m$"):
        bill_order(cast, order, "-7", total="-42", supplierNumber="CN 2")
    with pytest.raises(Blocked, match=r"^Another bill credits goods of Pennine Supplies 4711\. Void that one first\.$"):
        cast.perform(void_bill, billId=first["id"], confirmed=True)


def test_what_was_ordered_for_stock_can_be_billed_to_a_job_but_not_another_s(cast: Cast) -> None:
    job, other = make_purchase_job(cast), make_purchase_job(cast)
    assert bill_order(cast, place_order(cast), "10", jobId=job["id"])["jobId"] == job["id"]
    order = place_order(cast, jobId=job["id"])
    with pytest.raises(Invalid, match=f"^jobId: is not the job of {order['number']}: {job['number']}$"):
        bill_order(cast, order, "10", jobId=other["id"])


def test_an_item_keeps_its_price_on_the_way_from_the_order_to_the_bill(cast: Cast) -> None:
    item = make_price_item(cast, costPrice="600")
    order = place_order(cast, lines=[{"itemId": item}])
    assert bill_order(cast, order, "1", total="600")["lines"][0]["itemId"] == item


def test_a_closed_order_is_still_billed_and_one_that_was_never_sent_is_not(cast: Cast) -> None:
    closed = receive_order(cast, place_order(cast), "4")
    cast.perform(close_purchase_order, purchaseOrderId=closed["id"], reason="x", confirmed=True)
    bill_order(cast, closed, "4", total="24")
    assert reread_order(cast, closed)["status"] == "closed"
    with pytest.raises(Blocked, match=r"^PO-0002 is a draft\. Send it before you record a bill for it\.$"):
        make_bill(cast, purchaseOrderId=make_order(cast)["id"])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"lines": []}, "lines: are required: add what the bill is for"),
        ({"lines": [PIPE | {"quantity": "0"}]}, "lines.0.quantity: is 0"),
        ({"lines": [{"kind": "text", "description": "x"}]}, "lines.0.kind: can't be on a bill"),
        ({"lines": [{"orderLineId": "line_x"}]}, "lines.0.orderLineId: is not a line of the order, it has no lines"),
        ({"total": "60.001"}, "total: has more than 2 decimals"),
        ({"total": "much"}, "total: is not a number such as 85.50"),
        ({"on": "today"}, "on: is not a date"),
        ({"supplierNumber": " "}, "supplierNumber: "),
        ({"supplierId": "x"}, "supplierId: is not the id of a supplier"),
    ],
)
def test_what_makes_no_sense_is_told(cast: Cast, wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        make_bill(cast, **wrong)
    assert refusal.value.text.startswith(text)


def test_it_is_somebody_s(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^supplierId: is required without purchaseOrderId$"):
        cast.perform(record_bill, supplierNumber="1", on="2026-02-02", total="60", lines=[PIPE])
    with pytest.raises(Invalid, match=r"^supplierId: is not the supplier of PO-0001: Pennine Supplies$"):
        make_bill(cast, purchaseOrderId=place_order(cast)["id"], supplierId=make_supplier(cast, "Another"))


def test_a_supplier_whom_nothing_is_bought_from_any_more_still_bills(cast: Cast) -> None:
    supplier = make_supplier(cast)
    cast.perform(save_supplier, supplierId=supplier, status="archived")
    assert make_bill(cast, supplierId=supplier)["status"] == "draft"


def test_not_into_closed_books(cast: Cast) -> None:
    cast.perform(update_settings, booksClosedUntil="2026-02-02")
    with pytest.raises(
        Blocked, match=r"^The books are closed up to 2026-02-02, so nothing dated 2026-02-02 can be changed"
    ):
        make_bill(cast)


def test_not_another_s_order_supplier_or_job(cast: Cast, other_cast: Cast) -> None:
    theirs = (
        {"purchaseOrderId": place_order(other_cast)["id"]},
        {"supplierId": make_supplier(other_cast)},
        {"jobId": make_purchase_job(other_cast)["id"]},
    )
    for given in theirs:
        with pytest.raises(NotFound):
            make_bill(cast, **given)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_records_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(record_bill, role, supplierId=make_supplier(cast), supplierNumber="1", on="2026-02-02", total="1")


def test_not_while_the_subscription_has_lapsed(cast: Cast) -> None:
    supplier = make_supplier(cast)
    cast.lapse()
    with pytest.raises(Lapsed):
        make_bill(cast, supplierId=supplier)
