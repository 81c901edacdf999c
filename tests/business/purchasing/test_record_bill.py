from typing import Any

import pytest

from cast import Cast
from evidence import as_told, history
from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.purchasing.bills import get_bill, record_bill, void_bill
from mainstay.business.purchasing.ending import close_purchase_order
from mainstay.terms.refusal import Blocked, Conflict, Forbidden, Invalid, Lapsed, NotFound
from mainstay.terms.rights import Role
from ordering import PIPE, VALVE, a_bill, an_order, as_it_is, billed, bought_for, materials, ordered, received
from quoting import usual_tax
from wares import a_supplier, an_item


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_everything_that_it_says_is_kept(cast: Cast, role: Role) -> None:
    tax, supplier, job = usual_tax(cast), a_supplier(cast), bought_for(cast)
    given: dict[str, Any] = {"supplierNumber": "2026-4711", "on": "2026-02-02", "dueOn": "2026-03-04", "notes": "Ok."}
    told = given | {"supplierId": supplier, "jobId": job["number"], "lines": [PIPE, VALVE], "total": "120"}
    made = cast.perform(record_bill, role, **told)
    assert {name: made[name] for name in given} == given
    assert (made["status"], made["supplierName"], made["paidOn"]) == ("draft", "Pennine Supplies", None)
    assert (made["jobId"], made["jobNumber"], made["purchaseOrderId"]) == (job["id"], job["number"], None)
    assert (made["net"], made["tax"], made["total"], made["currency"]) == ("100.00", "20.00", "120.00", "GBP")
    assert [(line["description"], line["amount"], line["taxRateId"]) for line in made["lines"]] == [
        ("Copper pipe", "60.00", tax),
        ("Valve", "40.00", tax),
    ]
    assert as_told(cast.perform(get_bill, role, billId=made["id"])) == as_told(made)
    assert history(cast, made["id"]) == ["record_bill"]
    assert made["availableActions"] == ["update_bill", "void_bill"]
    assert materials(cast) == [("billLine", "Copper pipe", 10, 60), ("billLine", "Valve", 2, 40)]


def test_it_is_due_when_the_supplier_s_terms_say(cast: Cast) -> None:
    supplier = a_supplier(cast, paymentTermsDays=30)
    assert a_bill(cast, supplierId=supplier)["dueOn"] == "2026-03-04"
    assert a_bill(cast, supplierId=supplier, supplierNumber="2", dueOn="2026-02-10")["dueOn"] == "2026-02-10"
    assert a_bill(cast)["dueOn"] is None
    with pytest.raises(Invalid, match="dueOn: is before the date on it, 2026-02-02"):
        a_bill(cast, supplierNumber="3", dueOn="2026-02-01")


@pytest.mark.parametrize("year", ["0001", "1999", "2100", "9999"])
@pytest.mark.parametrize("name", ["on", "dueOn"])
def test_a_year_that_was_mistyped_is_told(cast: Cast, name: str, year: str) -> None:
    with pytest.raises(Invalid, match=f"{name}: is not within the years 2000 to 2099"):
        a_bill(cast, **{name: f"{year}-02-02"})


@pytest.mark.parametrize("total", ["119.99", "100", "120.01", "-120"])
def test_its_total_is_what_its_lines_come_to(cast: Cast, total: str) -> None:
    usual_tax(cast)
    with pytest.raises(Invalid) as refusal:
        a_bill(cast, lines=[PIPE, VALVE], total=total)
    told = "the lines come to 100.00 and tax of 20.00, together 120.00"
    assert refusal.value.text == f"total: is not that: {told}, correct them, or add a line for the difference"
    assert materials(cast) == []
    more = [PIPE, VALVE, {"description": "Rounding", "unitPrice": "-0.01", "taxRateId": None}]
    assert a_bill(cast, lines=more, total="119.99")["total"] == "119.99"


def test_of_an_order_it_bills_all_that_is_left_where_nothing_else_is_said(cast: Cast) -> None:
    job = bought_for(cast)
    order = ordered(cast, jobId=job["id"])
    first = billed(cast, order, "4", "", total="24", supplierNumber="1")
    assert (first["supplierId"], first["purchaseOrderNumber"], first["jobId"]) == (
        order["supplierId"],
        order["number"],
        job["id"],
    )
    assert as_it_is(cast, order)["status"] == "partBilled"
    rest = a_bill(cast, purchaseOrderId=order["number"], total="76")
    assert [(line["orderLineId"], line["quantity"]) for line in rest["lines"]] == [
        (order["lines"][0]["id"], "6.00"),
        (order["lines"][1]["id"], "2.00"),
    ]
    after = as_it_is(cast, order)
    assert (after["status"], [line["billed"] for line in after["lines"]]) == ("billed", ["10.00", "2.00"])
    with pytest.raises(Invalid, match=r"^lines: is required: what it bills$"):
        a_bill(cast, purchaseOrderId=order["id"], supplierNumber="3", total="0")


def test_what_is_billed_takes_the_place_of_what_was_received_and_is_not_counted_twice(cast: Cast) -> None:
    order = received(cast, ordered(cast, jobId=bought_for(cast)["id"]), "6", "2")
    assert materials(cast) == [("orderLine", "Copper pipe", 6, 36), ("orderLine", "Valve", 2, 40)]
    dearer = {"orderLineId": order["lines"][0]["id"], "quantity": "4", "unitPrice": "7"}
    a_bill(cast, purchaseOrderId=order["id"], lines=[dearer], total="28")
    assert materials(cast) == [
        ("billLine", "Copper pipe", 4, 28),
        ("orderLine", "Copper pipe", 2, 12),
        ("orderLine", "Valve", 2, 40),
    ]
    a_bill(cast, purchaseOrderId=order["id"], supplierNumber="2", total="76")
    assert sum(cost for *_, cost in materials(cast)) == 28 + 36 + 40
    # What comes when it was billed costs nothing more.
    received(cast, order, "4")
    assert sum(cost for *_, cost in materials(cast)) == 28 + 36 + 40


def test_more_than_was_ordered_needs_someone_to_say_so(cast: Cast) -> None:
    order = ordered(cast)
    billed(cast, order, "8", "2", total="88")
    with pytest.raises(Blocked) as refusal:
        billed(cast, order, "3", "1", total="38", supplierNumber="2")
    assert [reason.text for reason in refusal.value.reasons] == [
        (
            "10 m of Copper pipe were ordered, 8 m were billed before, and this bills 3 m."
            " Correct it, or allow it (allowOverbilling)."
        ),
        "2 of Valve were ordered, 2 were billed before, and this bills 1. Correct it, or allow it (allowOverbilling).",
    ]
    after = billed(cast, order, "3", "1", total="38", supplierNumber="2", allowOverbilling=True)
    assert len(after["warnings"]) == 2
    assert as_it_is(cast, order)["status"] == "billed"


def test_the_same_number_of_the_same_supplier_is_refused_however_it_is_written(cast: Cast) -> None:
    supplier = a_supplier(cast)
    first = a_bill(cast, supplierId=supplier, supplierNumber="RE-2026/0042")
    for written in ("re 2026 0042", "RE20260042", "Re-2026-0042"):
        with pytest.raises(Conflict) as refusal:
            a_bill(cast, supplierId=supplier, supplierNumber=written)
        told = f"Pennine Supplies RE-2026/0042 of 2026-02-02 over 60.00 GBP is recorded already (billId {first['id']})."
        assert refusal.value.text.startswith(told)
    a_bill(cast, supplierNumber="RE-2026/0042")
    cast.perform(void_bill, billId=first["id"], confirmed=True)
    assert a_bill(cast, supplierId=supplier, supplierNumber="RE-2026/0042")["status"] == "draft"


def test_numbers_that_differ_by_a_letter_of_few_languages_are_two(cast: Cast) -> None:
    supplier = a_supplier(cast)
    for number in ("RØ-1", "RO-1"):
        assert a_bill(cast, supplierId=supplier, supplierNumber=number)["supplierNumber"] == number
    with pytest.raises(Conflict):
        a_bill(cast, supplierId=supplier, supplierNumber="rø 1")


def test_what_a_supplier_credits_is_a_bill_below_nothing(cast: Cast) -> None:
    back = a_bill(cast, jobId=bought_for(cast)["id"], lines=[PIPE | {"quantity": "-2"}], total="-12")
    assert back["total"] == "-12.00"
    assert materials(cast) == [("billLine", "Copper pipe", -2, -12)]


def test_a_credit_note_names_the_lines_of_the_order_that_it_credits(cast: Cast) -> None:
    order = ordered(cast)
    billed(cast, order, "10", total="60")
    credit = billed(cast, order, "-4", total="-24", supplierNumber="CN 1")
    assert (credit["total"], credit["lines"][0]["orderLineId"]) == ("-24.00", order["lines"][0]["id"])
    assert as_it_is(cast, order)["lines"][0]["billed"] == "6.00"
    assert as_it_is(cast, order)["status"] == "partBilled"


def test_no_more_is_credited_than_was_billed(cast: Cast) -> None:
    order = ordered(cast)
    with pytest.raises(Invalid, match=r"^lines\.0\.quantity: credits more than was billed of it: 0 m$"):
        billed(cast, order, "-1", total="-6")
    first = billed(cast, order, "10", total="60")
    billed(cast, order, "-4", total="-24", supplierNumber="CN 1")
    with pytest.raises(Invalid, match=r"^lines\.0\.quantity: credits more than was billed of it: 6 m$"):
        billed(cast, order, "-7", total="-42", supplierNumber="CN 2")
    with pytest.raises(Blocked, match=r"^What Pennine Supplies 4711 bills is credited by another bill\. Void that one"):
        cast.perform(void_bill, billId=first["id"], confirmed=True)


def test_what_was_ordered_for_stock_can_be_billed_to_a_job_but_not_another_s(cast: Cast) -> None:
    job, other = bought_for(cast), bought_for(cast)
    assert billed(cast, ordered(cast), "10", jobId=job["id"])["jobId"] == job["id"]
    order = ordered(cast, jobId=job["id"])
    with pytest.raises(Invalid, match=f"^jobId: is not the job of {order['number']}, which is {job['number']}$"):
        billed(cast, order, "10", jobId=other["id"])


def test_an_item_keeps_its_price_on_the_way_from_the_order_to_the_bill(cast: Cast) -> None:
    item = an_item(cast, costPrice="600")
    order = ordered(cast, lines=[{"itemId": item}])
    assert billed(cast, order, "1", total="600")["lines"][0]["itemId"] == item


def test_a_closed_order_is_still_billed_and_one_that_was_never_sent_is_not(cast: Cast) -> None:
    closed = received(cast, ordered(cast), "4")
    cast.perform(close_purchase_order, purchaseOrderId=closed["id"], reason="x", confirmed=True)
    billed(cast, closed, "4", total="24")
    assert as_it_is(cast, closed)["status"] == "closed"
    with pytest.raises(Blocked, match=r"^PO-0002 is a draft, so nothing of it is billed\. Send it first\.$"):
        a_bill(cast, purchaseOrderId=an_order(cast)["id"])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"lines": []}, "lines: is required: what it bills"),
        ({"lines": [PIPE | {"quantity": "0"}]}, "lines.0.quantity: is 0"),
        ({"lines": [{"kind": "text", "description": "x"}]}, "lines.0.kind: is not on bills"),
        ({"lines": [{"orderLineId": "line_x"}]}, "lines.0.orderLineId: is no line of the order, there are: none"),
        ({"total": "60.001"}, "total: has more than 2 decimals"),
        ({"total": "much"}, "total: is not a decimal"),
        ({"on": "today"}, "on: is not a date"),
        ({"supplierNumber": " "}, "supplierNumber: "),
        ({"supplierId": "x"}, "supplierId: is not the id of a supplier"),
    ],
)
def test_what_makes_no_sense_is_told(cast: Cast, wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        a_bill(cast, **wrong)
    assert refusal.value.text.startswith(text)


def test_it_is_somebody_s(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^supplierId: is required without purchaseOrderId$"):
        cast.perform(record_bill, supplierNumber="1", on="2026-02-02", total="60", lines=[PIPE])
    with pytest.raises(Invalid, match=r"^supplierId: is not whom PO-0001 was sent to: that is Pennine Supplies$"):
        a_bill(cast, purchaseOrderId=ordered(cast)["id"], supplierId=a_supplier(cast, "Another"))


def test_a_supplier_whom_nothing_is_bought_from_any_more_still_bills(cast: Cast) -> None:
    supplier = a_supplier(cast)
    cast.perform(save_supplier, supplierId=supplier, status="archived")
    assert a_bill(cast, supplierId=supplier)["status"] == "draft"


def test_not_into_closed_books(cast: Cast) -> None:
    cast.perform(update_settings, booksClosedUntil="2026-02-02")
    with pytest.raises(
        Blocked, match=r"^The books are closed until 2026-02-02, so nothing of 2026-02-02 changes any more"
    ):
        a_bill(cast)


def test_not_another_s_order_supplier_or_job(cast: Cast, stranger: Cast) -> None:
    theirs = (
        {"purchaseOrderId": ordered(stranger)["id"]},
        {"supplierId": a_supplier(stranger)},
        {"jobId": bought_for(stranger)["id"]},
    )
    for given in theirs:
        with pytest.raises(NotFound):
            a_bill(cast, **given)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_records_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(record_bill, role, supplierId=a_supplier(cast), supplierNumber="1", on="2026-02-02", total="1")


def test_not_while_the_subscription_has_lapsed(cast: Cast) -> None:
    supplier = a_supplier(cast)
    cast.lapse()
    with pytest.raises(Lapsed):
        a_bill(cast, supplierId=supplier)
