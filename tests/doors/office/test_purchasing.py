"""Purchasing in the office: orders with their lines, goods that come, bills, and where they stand beside others."""

from typing import Any

import pytest

from cast import Cast
from doors.office.test_quotes import fields_of
from mainstay.business.purchasing.bills import get_bill, list_bills, update_bill
from mainstay.business.purchasing.operations import get_purchase_order
from mainstay.terms.rights import Role
from ordering import PIPE, VALVE, a_bill, an_order, as_it_is, billed, bought_for, ordered, received
from quoting import usual_tax
from running import RunningServer
from visiting import Visit, visit, visit_as, words
from wares import a_supplier


@pytest.fixture
def visiting(server: RunningServer, cast: Cast) -> Visit:
    return visit(server, cast, Role.OFFICE)


def path_of(order: dict[str, Any]) -> str:
    return f"/purchasing/orders/{order['id']}"


def the_bill(cast: Cast) -> dict[str, Any]:
    [bill] = cast.perform(list_bills)["data"]
    return dict(bill)


def test_an_order_is_drafted_its_lines_typed_and_sent_after_a_preview(visiting: Visit, cast: Cast) -> None:
    usual_tax(cast)
    supplier, job = a_supplier(cast, email="sales@pennine.example"), bought_for(cast)
    made = visiting.submit("/purchasing/orders/new", supplierId=supplier, jobId=job["number"], neededOn="2031-01-31")
    assert "PO-0001 Pennine Supplies" in words(visiting.follow(made).text)
    order = cast.perform(get_purchase_order, purchaseOrderId="PO-0001")
    page = visiting.get(f"{path_of(order)}/lines").text
    assert "Option" not in words(page)
    typed = {"new kind": "item", "new description": "Pipe", "new quantity": "2,5", "new unitPrice": "4", "do": "done"}
    answer = visiting.answer(page, f"{path_of(order)}/lines", **typed)
    shown = words(visiting.follow(answer).text)
    assert "Pipe 2.5 4.00 10.00" in shown
    assert "Total GBP 12.00" in shown
    preview = visiting.submit(f"{path_of(order)}/send", deliver="email")
    assert "It is mailed to sales@pennine.example" in words(preview.text)
    sent = visiting.answer(preview.text, f"{path_of(order)}/send", confirmed="yes", deliver="email")
    assert "The order is sent." in words(visiting.follow(sent).text)
    assert visiting.get(f"{path_of(order)}/pdf").headers["Content-Type"] == "application/pdf"


def test_totals_follow_what_is_typed_and_nothing_is_kept(visiting: Visit, cast: Cast) -> None:
    order = an_order(cast)
    page = visiting.get(f"{path_of(order)}/lines").text
    typed = fields_of(page.replace('class="line-editor"', "").replace('method="post" ', 'method="post"'))
    line = order["lines"][0]["id"]
    answer = visiting.answer(page, f"{path_of(order)}/lines/totals", **typed | {f"{line} quantity": "20"})
    assert "160.00" in words(answer.text)
    assert as_it_is(cast, order) == order


def test_everything_that_is_open_is_written_in_to_be_received(visiting: Visit, cast: Cast) -> None:
    order = received(cast, ordered(cast), "4")
    path = f"{path_of(order)}/receive-goods"
    page = visiting.get(path).text
    pipe, valve = (f"came {one['lineId']}" for one in order["goods"])
    fields = fields_of(page)
    assert (fields[pipe], fields[valve]) == ("6", "2")
    assert "4 of 10 m have come before." in words(page)
    answer = visiting.answer(page, path, **{pipe: "2,5", valve: "", "slip": "LS 7"})
    assert "The goods are received." in words(visiting.follow(answer).text)
    assert [one["received"] for one in as_it_is(cast, order)["goods"]] == ["6.50", "0.00"]
    assert "Delivery note LS 7" in words(visiting.get(path_of(order)).text)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("11", "is more than is open"),
        ("x", "is not a quantity"),
        ("", "say how many of something have come."),
    ],
)
def test_what_cannot_have_come_is_told_and_what_was_typed_stays(
    visiting: Visit, cast: Cast, typed: str, told: str
) -> None:
    order = ordered(cast)
    path = f"{path_of(order)}/receive-goods"
    pipe, valve = (f"came {one['lineId']}" for one in order["goods"])
    answer = visiting.answer(visiting.get(path).text, path, **{pipe: typed, valve: ""})
    assert answer.status_code == 422
    assert told in words(answer.text)
    assert fields_of(answer.text)[pipe] == typed
    assert as_it_is(cast, order)["status"] == "sent"


def test_a_bill_is_recorded_from_what_is_open_of_its_order(visiting: Visit, cast: Cast) -> None:
    usual_tax(cast)
    order = ordered(cast)
    billed(cast, order, "4", total="28.80", supplierNumber="1")
    assert "Record a bill" in words(visiting.get(path_of(order)).text)
    path = f"/purchasing/bills/new?purchaseOrderId={order['id']}"
    page = visiting.get(path).text
    fields = fields_of(page)
    assert [fields[f"lines.{place}.quantity"] for place in (0, 1)] == ["6", "2"]
    typed = fields | {"supplierNumber": "2", "on": "2026-02-02", "do": "record"}
    wrong = visiting.answer(page, "/purchasing/bills/new", **typed | {"total": "90"})
    assert wrong.status_code == 422
    assert "the lines come to 76.00 and tax of 15.20, together 91.20" in words(wrong.text)
    again = fields_of(wrong.text) | {"total": "91,20", "do": "record"}
    made = visiting.answer(wrong.text, "/purchasing/bills/new", **again)
    assert "The bill is recorded." in words(visiting.follow(made).text)
    assert as_it_is(cast, order)["status"] == "billed"


def test_a_bill_is_typed_approved_paid_and_taken_back(visiting: Visit, cast: Cast) -> None:
    supplier = a_supplier(cast)
    page = visiting.get("/purchasing/bills/new").text
    typed = {"supplierId": supplier, "supplierNumber": "4711", "on": "2026-02-02", "total": "10"}
    lines = {"lines.0.description": "Screws", "lines.0.quantity": "2", "lines.0.unitPrice": "5"}
    more = visiting.answer(page, "/purchasing/bills/new", **typed, **lines, do="more")
    assert more.status_code == 200
    assert "lines.8.description" in fields_of(more.text)
    made = visiting.answer(more.text, "/purchasing/bills/new", **typed, **lines, do="record")
    place = visiting.follow(made)
    assert "Pennine Supplies 4711" in words(place.text)
    path = f"/purchasing/bills/{the_bill(cast)['id']}"
    for button, status in (("Approve", "approved"), ("Mark as paid", "paid")):
        shown = visiting.get(path).text
        assert button in words(shown)
        visiting.follow(visiting.answer(shown, f"{path}/become", status=status))
        assert the_bill(cast)["status"] == status
    form = visiting.get(f"{path}/edit").text
    visiting.follow(visiting.answer(form, f"{path}/edit", **fields_of(form) | {"status": "draft", "paidOn": ""}))
    assert (the_bill(cast)["status"], the_bill(cast)["supplierNumber"]) == ("draft", "4711")
    preview = visiting.submit(f"{path}/void", reason="Twice.")
    assert "counts no longer" in words(preview.text)
    visiting.follow(visiting.answer(preview.text, f"{path}/void", reason="Twice.", confirmed="yes"))
    assert the_bill(cast)["status"] == "void"


def test_purchases_stand_beside_their_job_and_their_supplier(visiting: Visit, cast: Cast) -> None:
    job = bought_for(cast)
    order = ordered(cast, jobId=job["id"])
    billed(cast, order, "4", total="24")
    for path in (f"/jobs/{job['id']}", f"/suppliers/{order['supplierId']}"):
        shown = words(visiting.get(path).text)
        assert "PO-0001" in shown
        assert "Pennine Supplies 4711" in shown
    assert "Materials 24.00 GBP" in words(visiting.get(f"/jobs/{job['id']}").text)
    assert "Pennine Supplies 4711" in words(visiting.get(path_of(order)).text)


def test_lists_have_their_tabs_and_search(visiting: Visit, cast: Cast) -> None:
    ordered(cast)
    an_order(cast)
    a_bill(cast)
    assert "PO-0002" not in words(visiting.get("/purchasing/orders?status=sent").text)
    assert "PO-0002" in words(visiting.get("/purchasing/orders?text=pennine&status=draft").text)
    assert "4711" in words(visiting.get("/purchasing/bills?status=draft").text)
    assert "4711" not in words(visiting.get("/purchasing/bills?status=paid").text)
    assert visiting.get("/purchasing").headers["Location"] == "/purchasing/orders"
    assert "PO-0001" in visiting.get("/purchasing/orders/export.csv").text


def test_a_member_receives_and_sees_no_price(server: RunningServer, cast: Cast) -> None:
    order = ordered(cast, jobId=bought_for(cast, Role.MEMBER)["id"])
    mia = visit_as(server, cast, Role.MEMBER)
    for path in ("/purchasing/orders", path_of(order), f"{path_of(order)}/receive-goods"):
        page = mia.get(path)
        assert page.status_code == 200
        for price in ("6.00", "60.00", "100.00", "120.00"):
            assert price not in page.text
    assert "Copper pipe 10 m 0 10" in words(mia.get(path_of(order)).text)
    for closed in ("/purchasing/bills", "/purchasing/orders/new", f"{path_of(order)}/pdf", f"{path_of(order)}/lines"):
        assert mia.get(closed).status_code == 403
    path = f"{path_of(order)}/receive-goods"
    form = mia.get(path).text
    mia.follow(mia.answer(form, path, **fields_of(form)))
    assert as_it_is(cast, order)["status"] == "received"


def test_the_lines_of_a_bill_are_changed_together_with_what_it_says(visiting: Visit, cast: Cast) -> None:
    bill = a_bill(cast, lines=[PIPE, VALVE], total="100")
    path = f"/purchasing/bills/{bill['id']}"
    assert f'href="{path}/lines"' in visiting.get(path).text
    form = fields_of(visiting.get(f"{path}/lines").text)
    assert (form["lines.0.quantity"], form["lines.0.unit"], form["total"]) == ("10", "m", "100.00")
    # One is changed, one goes, one comes; what they come to is not what the bill says.
    typed = form | {"lines.0.quantity": "12", "lines.0.discountPercent": "50"}
    typed |= {"lines.1.description": "", "lines.1.unitPrice": ""}
    typed |= {"lines.2.description": "Freight", "lines.2.unitPrice": "4,50"}
    refused = visiting.post(f"{path}/lines", typed)
    assert refused.status_code == 422
    assert "together 40.50" in words(refused.text)
    again = fields_of(refused.text)
    assert (again["lines.0.quantity"], again["lines.2.description"]) == ("12", "Freight")
    shown = visiting.follow(visiting.post(f"{path}/lines", again | {"total": "40,50", "do": "save"}))
    assert "Your changes are saved." in words(shown.text)
    kept = cast.perform(get_bill, billId=bill["id"])
    told = [(line["description"], line["quantity"], line["amount"]) for line in kept["lines"]]
    assert told == [("Copper pipe", "12.00", "36.00"), ("Freight", "1.00", "4.50")]
    assert kept["lines"][0]["id"] == bill["lines"][0]["id"]


def test_a_line_of_a_bill_that_cannot_be_is_marked_and_nothing_is_changed(visiting: Visit, cast: Cast) -> None:
    bill = a_bill(cast, lines=[PIPE, VALVE], total="100")
    path = f"/purchasing/bills/{bill['id']}/lines"
    form = fields_of(visiting.get(path).text)
    answer = visiting.post(path, form | {"lines.1.quantity": "many"})
    assert answer.status_code == 422
    assert 'id="lines.1.quantity" value="many" aria-label="Quantity, line 2" inputmode="decimal"' in answer.text
    assert 'aria-describedby="lines.1.quantity-fault"' in answer.text
    more = fields_of(visiting.post(path, form | {"do": "more"}).text)
    assert "lines.9.description" in more
    stale = visiting.post(path, form | {"version": "7", "lines.0.quantity": "1"})
    assert stale.status_code == 409
    cast.perform(update_bill, billId=bill["id"], status="approved")
    assert "Edit lines" not in words(visiting.get(path.removesuffix("/lines")).text)
    late = visiting.post(path, fields_of(visiting.get(path).text) | {"lines.0.quantity": "1", "total": "46"})
    assert (late.status_code, "Make it a draft again first" in words(late.text)) == (409, True)
    assert cast.perform(get_bill, billId=bill["id"])["lines"] == bill["lines"]


def test_a_bill_that_was_changed_meanwhile_is_not_approved_unseen(visiting: Visit, cast: Cast) -> None:
    bill = a_bill(cast, lines=[PIPE], total="60")
    path = f"/purchasing/bills/{bill['id']}"
    shown = visiting.get(path).text
    cast.perform(update_bill, billId=bill["id"], supplierNumber="4712")
    stale = visiting.answer(shown, f"{path}/become", status="approved")
    assert (stale.status_code, "Someone has changed this" in words(stale.text)) == (409, True)
    assert the_bill(cast)["status"] == "draft"
    visiting.follow(visiting.answer(visiting.get(path).text, f"{path}/become", status="approved"))
    assert the_bill(cast)["status"] == "approved"


@pytest.mark.parametrize("number", ["9" * 5000, "99999", "\u0663", "-1", "x", ""])
def test_a_row_that_no_page_has_is_no_row_and_no_fault_of_ours(visiting: Visit, cast: Cast, number: str) -> None:
    bill = a_bill(cast, lines=[PIPE], total="60")
    path = f"/purchasing/bills/{bill['id']}/lines"
    typed = {f"lines.{number}.description": "Freight", f"lines.{number}.unitPrice": "4"}
    visiting.follow(visiting.post(path, fields_of(visiting.get(path).text) | typed))
    assert cast.perform(get_bill, billId=bill["id"])["lines"] == bill["lines"]


def test_a_credit_note_is_recorded_from_its_order(visiting: Visit, cast: Cast) -> None:
    order = ordered(cast, jobId=bought_for(cast)["id"], lines=[PIPE])
    assert "Record a credit note" not in words(visiting.get(path_of(order)).text)
    received(cast, order, "10")
    billed(cast, order, "10", total="60")
    received(cast, order, "-4")
    path = f"/purchasing/bills/new?purchaseOrderId={order['id']}&credit=on"
    assert path.replace("&", "&amp;") in visiting.get(path_of(order)).text
    page = visiting.get(path)
    assert "What was billed of PO-0001 and went back is written in." in words(page.text)
    given = {"supplierNumber": "CN 1", "on": "2026-02-10", "total": "-24", "do": "record"}
    made = visiting.answer(page.text, path, **fields_of(page.text) | given)
    assert "The bill is recorded." in words(visiting.follow(made).text)
    assert as_it_is(cast, order)["lines"][0]["billed"] == "6.00"
