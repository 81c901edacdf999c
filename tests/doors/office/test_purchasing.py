"""Purchasing in the office: orders with their lines, goods that come, bills, and where they stand beside others."""

import re
from html import unescape
from typing import Any

import pytest

from cast import Cast
from mainstay.business.purchasing.bills import list_bills
from mainstay.business.purchasing.operations import get_purchase_order
from mainstay.terms.rights import Role
from ordering import a_bill, an_order, as_it_is, billed, bought_for, ordered, received
from quoting import usual_tax
from running import RunningServer
from visiting import Visit, visit, visit_as, words
from wares import a_supplier


@pytest.fixture
def visiting(server: RunningServer, cast: Cast) -> Visit:
    return visit(server, cast, Role.OFFICE)


def written(page: str) -> dict[str, str]:
    """What stands in the fields of a page."""
    found: dict[str, str] = {}
    for tag in re.findall(r"<input [^>]*>", page.partition('<form method="post">')[2]):
        name, value = re.search(r' name="([^"]*)"', tag), re.search(r' value="([^"]*)"', tag)
        if name and 'type="checkbox"' not in tag:
            found[name[1]] = unescape(value[1]) if value else ""
    for name, body in re.findall(r'<select [^>]*name="([^"]*)"[^>]*>(.*?)</select>', page, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', body)
        found[name] = chosen[1] if chosen else ""
    return found


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
    assert "Pipe 2.50 4.00 10.00" in shown
    assert "Total GBP 12.00" in shown
    preview = visiting.submit(f"{path_of(order)}/send", deliver="email")
    assert "It is mailed to sales@pennine.example" in words(preview.text)
    sent = visiting.answer(preview.text, f"{path_of(order)}/send", confirmed="yes", deliver="email")
    assert "The order is sent." in words(visiting.follow(sent).text)
    assert visiting.get(f"{path_of(order)}/pdf").headers["Content-Type"] == "application/pdf"


def test_totals_follow_what_is_typed_and_nothing_is_kept(visiting: Visit, cast: Cast) -> None:
    order = an_order(cast)
    page = visiting.get(f"{path_of(order)}/lines").text
    typed = written(page.replace('class="line-editor"', "").replace('method="post" ', 'method="post"'))
    line = order["lines"][0]["id"]
    answer = visiting.answer(page, f"{path_of(order)}/lines/totals", **typed | {f"{line} quantity": "20"})
    assert "160.00" in words(answer.text)
    assert as_it_is(cast, order) == order


def test_everything_that_is_open_is_written_in_to_be_received(visiting: Visit, cast: Cast) -> None:
    order = received(cast, ordered(cast), "4")
    path = f"{path_of(order)}/receive-goods"
    page = visiting.get(path).text
    pipe, valve = (f"came {one['lineId']}" for one in order["goods"])
    fields = written(page)
    assert (fields[pipe], fields[valve]) == ("6", "2")
    assert "4.00 of 10.00 m have come before." in words(page)
    answer = visiting.answer(page, path, **{pipe: "2,5", valve: "", "slip": "LS 7"})
    assert "The goods are received." in words(visiting.follow(answer).text)
    assert [one["received"] for one in as_it_is(cast, order)["goods"]] == ["6.50", "0.00"]
    assert "Delivery note LS 7" in words(visiting.get(path_of(order)).text)


@pytest.mark.parametrize(
    ("typed", "told"), [("11", "is more than is open"), ("x", "is not a quantity"), ("", "has fewer than 1")]
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
    assert written(answer.text)[pipe] == typed
    assert as_it_is(cast, order)["status"] == "sent"


def test_a_bill_is_recorded_from_what_is_open_of_its_order(visiting: Visit, cast: Cast) -> None:
    usual_tax(cast)
    order = ordered(cast)
    billed(cast, order, "4", total="28.80", supplierNumber="1")
    assert "Record a bill" in words(visiting.get(path_of(order)).text)
    path = f"/purchasing/bills/new?purchaseOrderId={order['id']}"
    page = visiting.get(path).text
    fields = written(page)
    assert [fields[f"lines.{place}.quantity"] for place in (0, 1)] == ["6", "2"]
    typed = fields | {"supplierNumber": "2", "on": "2026-02-02", "do": "record"}
    wrong = visiting.answer(page, "/purchasing/bills/new", **typed | {"total": "90"})
    assert wrong.status_code == 422
    assert "the lines come to 76.00 and tax of 15.20, together 91.20" in words(wrong.text)
    again = written(wrong.text) | {"total": "91,20", "do": "record"}
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
    assert "lines.8.description" in written(more.text)
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
    visiting.follow(visiting.answer(form, f"{path}/edit", **written(form) | {"status": "draft", "paidOn": ""}))
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
    assert "Copper pipe 10.00 m 0.00 10.00" in words(mia.get(path_of(order)).text)
    for closed in ("/purchasing/bills", "/purchasing/orders/new", f"{path_of(order)}/pdf", f"{path_of(order)}/lines"):
        assert mia.get(closed).status_code == 403
    path = f"{path_of(order)}/receive-goods"
    form = mia.get(path).text
    mia.follow(mia.answer(form, path, **written(form)))
    assert as_it_is(cast, order)["status"] == "received"
