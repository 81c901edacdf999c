"""Purchasing in the office: orders with their lines, goods that come, bills, and where they stand beside others."""

from typing import Any

import pytest

from doors.office.test_quotes import fields_of
from mainstay.business.purchasing.bills import get_bill, list_bills, update_bill
from mainstay.business.purchasing.operations import get_purchase_order
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast, sign_in_new_person, visible_text
from support.cast import Cast
from support.prices import make_supplier
from support.purchases import (
    PIPE,
    VALVE,
    bill_order,
    make_bill,
    make_order,
    make_purchase_job,
    place_order,
    receive_order,
    reread_order,
)
from support.quotes import make_default_tax_rate
from support.servers import RunningServer


@pytest.fixture
def session(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_new_person(server, cast, Role.OFFICE)


def path_of(order: dict[str, Any]) -> str:
    return f"/purchasing/orders/{order['id']}"


def fetch_only_bill(cast: Cast) -> dict[str, Any]:
    [bill] = cast.perform(list_bills)["data"]
    return dict(bill)


def test_an_order_is_drafted_its_lines_typed_and_sent_after_a_preview(session: BrowserSession, cast: Cast) -> None:
    make_default_tax_rate(cast)
    supplier, job = make_supplier(cast, email="sales@pennine.example"), make_purchase_job(cast)
    made = session.submit_form(
        "/purchasing/orders/new", supplierId=supplier, jobId=job["number"], neededOn="2031-01-31"
    )
    assert "PO-0001 Pennine Supplies" in visible_text(session.follow_redirect(made).text)
    order = cast.perform(get_purchase_order, purchaseOrderId="PO-0001")
    page = session.get(f"{path_of(order)}/lines").text
    assert "Optional" not in visible_text(page)
    typed = {"new kind": "item", "new description": "Pipe", "new quantity": "2,5", "new unitPrice": "4", "do": "done"}
    answer = session.submit_page(page, f"{path_of(order)}/lines", **typed)
    shown = visible_text(session.follow_redirect(answer).text)
    assert "Pipe 2.5 £4.00 £10.00" in shown
    assert "Total £12.00" in shown
    preview = session.get(f"{path_of(order)}/send")
    assert fields_of(preview.text)["to"] == "sales@pennine.example"
    sent = session.post(f"{path_of(order)}/send", fields_of(preview.text))
    assert "Purchase order PO-0001 sent." in visible_text(session.follow_redirect(sent).text)
    assert session.get(f"{path_of(order)}/pdf").headers["Content-Type"] == "application/pdf"


def test_totals_follow_what_is_typed_and_nothing_is_kept(session: BrowserSession, cast: Cast) -> None:
    order = make_order(cast)
    page = session.get(f"{path_of(order)}/lines").text
    typed = fields_of(page.replace('class="line-editor"', "").replace('method="post" ', 'method="post"'))
    line = order["lines"][0]["id"]
    answer = session.submit_page(page, f"{path_of(order)}/lines/totals", **typed | {f"{line} quantity": "20"})
    assert "160.00" in visible_text(answer.text)
    assert reread_order(cast, order) == order


def test_everything_that_is_open_is_written_in_to_be_received(session: BrowserSession, cast: Cast) -> None:
    order = receive_order(cast, place_order(cast), "4")
    path = f"{path_of(order)}/receive-goods"
    page = session.get(path).text
    pipe, valve = (f"came {one['lineId']}" for one in order["goods"])
    fields = fields_of(page)
    assert (fields[pipe], fields[valve]) == ("6", "2")
    assert "4 of 10 m received so far." in visible_text(page)
    answer = session.submit_page(page, path, **{pipe: "2,5", valve: "", "slip": "LS 7"})
    assert "Goods received." in visible_text(session.follow_redirect(answer).text)
    assert [one["received"] for one in reread_order(cast, order)["goods"]] == ["6.50", "0.00"]
    assert "Delivery note LS 7" in visible_text(session.get(path_of(order)).text)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("11", "is more than is still to come"),
        ("x", "is not a quantity"),
        ("", "Goods received must have a quantity for at least one item."),
    ],
)
def test_what_cannot_have_come_is_told_and_what_was_typed_stays(
    session: BrowserSession, cast: Cast, typed: str, told: str
) -> None:
    order = place_order(cast)
    path = f"{path_of(order)}/receive-goods"
    pipe, valve = (f"came {one['lineId']}" for one in order["goods"])
    answer = session.submit_page(session.get(path).text, path, **{pipe: typed, valve: ""})
    assert answer.status_code == 422
    assert told in visible_text(answer.text)
    assert fields_of(answer.text)[pipe] == typed
    assert reread_order(cast, order)["status"] == "sent"


def test_a_bill_is_recorded_from_what_is_open_of_its_order(session: BrowserSession, cast: Cast) -> None:
    make_default_tax_rate(cast)
    order = place_order(cast)
    bill_order(cast, order, "4", total="28.80", supplierNumber="1")
    assert "Record bill" in visible_text(session.get(path_of(order)).text)
    path = f"/purchasing/bills/new?purchaseOrderId={order['id']}"
    page = session.get(path).text
    fields = fields_of(page)
    assert [fields[f"lines.{place}.quantity"] for place in (0, 1)] == ["6", "2"]
    typed = fields | {"supplierNumber": "2", "on": "2026-02-02", "do": "record"}
    wrong = session.submit_page(page, "/purchasing/bills/new", **typed | {"total": "90"})
    assert wrong.status_code == 422
    assert "they add up to £76.00 plus £15.20 tax, £91.20 in total" in visible_text(wrong.text)
    again = fields_of(wrong.text) | {"total": "91,20", "do": "record"}
    made = session.submit_page(wrong.text, "/purchasing/bills/new", **again)
    assert "Bill recorded." in visible_text(session.follow_redirect(made).text)
    assert reread_order(cast, order)["status"] == "billed"


def test_a_bill_is_typed_approved_paid_and_taken_back(session: BrowserSession, cast: Cast) -> None:
    supplier = make_supplier(cast)
    page = session.get("/purchasing/bills/new").text
    typed = {"supplierId": supplier, "supplierNumber": "4711", "on": "2026-02-02", "total": "10"}
    lines = {"lines.0.description": "Screws", "lines.0.quantity": "2", "lines.0.unitPrice": "5"}
    more = session.submit_page(page, "/purchasing/bills/new", **typed, **lines, do="more")
    assert more.status_code == 200
    assert "lines.8.description" in fields_of(more.text)
    made = session.submit_page(more.text, "/purchasing/bills/new", **typed, **lines, do="record")
    place = session.follow_redirect(made)
    assert "Pennine Supplies 4711" in visible_text(place.text)
    path = f"/purchasing/bills/{fetch_only_bill(cast)['id']}"
    for button, status in (("Approve", "approved"), ("Mark as paid", "paid")):
        shown = session.get(path).text
        assert button in visible_text(shown)
        session.follow_redirect(session.submit_page(shown, f"{path}/become", status=status))
        assert fetch_only_bill(cast)["status"] == status
    form = session.get(f"{path}/edit").text
    session.follow_redirect(
        session.submit_page(form, f"{path}/edit", **fields_of(form) | {"status": "draft", "paidOn": ""})
    )
    assert (fetch_only_bill(cast)["status"], fetch_only_bill(cast)["supplierNumber"]) == ("draft", "4711")
    preview = session.submit_form(f"{path}/void", reason="Twice.")
    assert "will no longer count" in visible_text(preview.text)
    session.follow_redirect(session.submit_page(preview.text, f"{path}/void", reason="Twice.", confirmed="yes"))
    assert fetch_only_bill(cast)["status"] == "void"


def test_purchases_stand_beside_their_job_and_their_supplier(session: BrowserSession, cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = place_order(cast, jobId=job["id"])
    bill_order(cast, order, "4", total="24")
    for path in (f"/jobs/{job['id']}", f"/suppliers/{order['supplierId']}"):
        shown = visible_text(session.get(path).text)
        assert "PO-0001" in shown
        assert "Pennine Supplies 4711" in shown
    assert "Materials £24.00" in visible_text(session.get(f"/jobs/{job['id']}").text)
    assert "Pennine Supplies 4711" in visible_text(session.get(path_of(order)).text)


def test_lists_have_their_tabs_and_search(session: BrowserSession, cast: Cast) -> None:
    place_order(cast)
    make_order(cast)
    make_bill(cast)
    assert "PO-0002" not in visible_text(session.get("/purchasing/orders?status=sent").text)
    assert "PO-0002" in visible_text(session.get("/purchasing/orders?text=pennine&status=draft").text)
    assert "4711" in visible_text(session.get("/purchasing/bills?status=draft").text)
    assert "4711" not in visible_text(session.get("/purchasing/bills?status=paid").text)
    assert session.get("/purchasing").headers["Location"] == "/purchasing/orders"
    assert "PO-0001" in session.get("/purchasing/orders/export.csv").text


def test_a_member_receives_and_sees_no_price(server: RunningServer, cast: Cast) -> None:
    order = place_order(cast, jobId=make_purchase_job(cast, Role.MEMBER)["id"])
    mia = sign_in_cast(server, cast, Role.MEMBER)
    for path in ("/purchasing/orders", path_of(order), f"{path_of(order)}/receive-goods"):
        page = mia.get(path)
        assert page.status_code == 200
        for price in ("6.00", "60.00", "100.00", "120.00"):
            assert price not in page.text
    assert "Copper pipe 10 m 0 10" in visible_text(mia.get(path_of(order)).text)
    for closed in ("/purchasing/bills", "/purchasing/orders/new", f"{path_of(order)}/pdf", f"{path_of(order)}/lines"):
        assert mia.get(closed).status_code == 403
    path = f"{path_of(order)}/receive-goods"
    form = mia.get(path).text
    mia.follow_redirect(mia.submit_page(form, path, **fields_of(form)))
    assert reread_order(cast, order)["status"] == "received"


def test_the_lines_of_a_bill_are_changed_together_with_what_it_says(session: BrowserSession, cast: Cast) -> None:
    bill = make_bill(cast, lines=[PIPE, VALVE], total="100")
    path = f"/purchasing/bills/{bill['id']}"
    assert f'href="{path}/lines"' in session.get(path).text
    form = fields_of(session.get(f"{path}/lines").text)
    pipe, valve = (line["id"] for line in bill["lines"])
    assert (form[f"{pipe} quantity"], form[f"{pipe} unit"], form["total"]) == ("10", "m", "100.00")
    # One is changed, one goes, one comes; what they come to is not what the bill says.
    typed = form | {f"{pipe} quantity": "12", f"{pipe} discountPercent": "50"}
    typed |= {f"{valve} description": "", f"{valve} unitPrice": ""}
    typed |= {"new description": "Freight", "new unitPrice": "4,50", "do": "done"}
    refused = session.post(f"{path}/lines", typed)
    assert refused.status_code == 422
    assert "£40.50 in total" in visible_text(refused.text)
    again = fields_of(refused.text)
    assert (again[f"{pipe} quantity"], again["new description"], again["new4 description"]) == ("12", "Freight", "")
    shown = session.follow_redirect(session.post(f"{path}/lines", again | {"total": "40,50", "do": "done"}))
    assert "Bill saved." in visible_text(shown.text)
    kept = cast.perform(get_bill, billId=bill["id"])
    line_values = [(line["description"], line["quantity"], line["amount"]) for line in kept["lines"]]
    assert line_values == [("Copper pipe", "12.00", "36.00"), ("Freight", "1.00", "4.50")]
    assert kept["lines"][0]["id"] == bill["lines"][0]["id"]


def test_a_line_of_a_bill_that_cannot_be_is_marked_and_nothing_is_changed(session: BrowserSession, cast: Cast) -> None:
    bill = make_bill(cast, lines=[PIPE, VALVE], total="100")
    path = f"/purchasing/bills/{bill['id']}/lines"
    form, (pipe, valve) = fields_of(session.get(path).text), (line["id"] for line in bill["lines"])
    answer = session.post(path, form | {f"{valve} quantity": "many"})
    assert answer.status_code == 422
    assert f'<label for="{valve}-quantity">Quantity</label>' in answer.text
    assert f'id="{valve}-quantity" value="many" inputmode="decimal"' in answer.text
    assert f'aria-describedby="{valve}-quantity-fault"' in answer.text
    more = fields_of(session.post(path, form | {"new3 description": "Freight", "do": "more"}).text)
    assert (more["new3 description"], more["new7 description"]) == ("Freight", "")
    stale = session.post(path, form | {"version": "7", f"{pipe} quantity": "1"})
    assert stale.status_code == 409
    cast.perform(update_bill, billId=bill["id"], status="approved")
    assert "Edit lines" not in visible_text(session.get(path.removesuffix("/lines")).text)
    late = session.post(path, fields_of(session.get(path).text) | {f"{pipe} quantity": "1", "total": "46"})
    assert (late.status_code, "Set it back to draft first" in visible_text(late.text)) == (409, True)
    assert cast.perform(get_bill, billId=bill["id"])["lines"] == bill["lines"]


def test_a_bill_that_was_changed_meanwhile_is_not_approved_unseen(session: BrowserSession, cast: Cast) -> None:
    bill = make_bill(cast, lines=[PIPE], total="60")
    path = f"/purchasing/bills/{bill['id']}"
    shown = session.get(path).text
    cast.perform(update_bill, billId=bill["id"], supplierNumber="4712")
    stale = session.submit_page(shown, f"{path}/become", status="approved")
    assert (stale.status_code, "Someone else changed this" in visible_text(stale.text)) == (409, True)
    assert fetch_only_bill(cast)["status"] == "draft"
    session.follow_redirect(session.submit_page(session.get(path).text, f"{path}/become", status="approved"))
    assert fetch_only_bill(cast)["status"] == "approved"


@pytest.mark.parametrize("number", ["9" * 5000, "99999", "\u0663", "-1", "x", ""])
def test_a_row_that_no_page_has_is_no_row_and_no_fault_of_ours(
    session: BrowserSession, cast: Cast, number: str
) -> None:
    bill = make_bill(cast, lines=[PIPE], total="60")
    path = f"/purchasing/bills/{bill['id']}/lines"
    typed = {f"new{number or 'er'} description": "Freight", f"new{number or 'er'} unitPrice": "4"}
    session.follow_redirect(session.post(path, fields_of(session.get(path).text) | typed))
    assert cast.perform(get_bill, billId=bill["id"])["lines"] == bill["lines"]


def test_a_credit_note_is_recorded_from_its_order(session: BrowserSession, cast: Cast) -> None:
    order = place_order(cast, jobId=make_purchase_job(cast)["id"], lines=[PIPE])
    assert "Record credit note" not in visible_text(session.get(path_of(order)).text)
    receive_order(cast, order, "10")
    bill_order(cast, order, "10", total="60")
    receive_order(cast, order, "-4")
    path = f"/purchasing/bills/new?purchaseOrderId={order['id']}&credit=on"
    assert path.replace("&", "&amp;") in session.get(path_of(order)).text
    page = session.get(path)
    assert "Lines are filled in from PO-0001." in visible_text(page.text)
    given = {"supplierNumber": "CN 1", "on": "2026-02-10", "total": "-24", "do": "record"}
    made = session.submit_page(page.text, path, **fields_of(page.text) | given)
    assert "Bill recorded." in visible_text(session.follow_redirect(made).text)
    assert reread_order(cast, order)["lines"][0]["billed"] == "6.00"
