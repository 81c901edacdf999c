"""The form of a payment: it offers what is still owed, with what is to be paid and when."""

import re
from html import unescape

import httpx2
import pytest

from doors.office.test_finding import find_hits
from mainstay.business.invoices.payments.recording import list_payments
from mainstay.doors.pages.formatting import format_date
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer
from support.form_fields import read_form
from support.hours import set_organisation_columns
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, reread_invoice, void_issued
from support.servers import RunningServer


@pytest.fixture
def session(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_new_person(server, cast, Role.OFFICE)


def list_options(page: str, field: str) -> dict[str, str]:
    """What can be picked in a field, by its id, in the order in which it stands there."""
    listed = page.partition(f'<select id="{field}"')[2].partition("</select>")[0]
    return {name: unescape(text) for name, text in re.findall(r'<option value="(\w+)"[^>]*>([^<]+)<', listed)}


def issue_invoice_for(cast: Cast, customer: str, **given: object) -> dict[str, str]:
    return issue_invoice(cast, make_invoice(cast, customerId=customer, **given))


def test_it_offers_what_the_customer_owes_with_what_is_to_pay_and_when_what_is_due_first_first(
    session: BrowserSession, cast: Cast
) -> None:
    customer = make_customer(cast)
    later = issue_invoice_for(cast, customer, dueOn="2030-05-07")
    sooner = issue_invoice_for(cast, customer, title=None, dueOn="2030-01-02")
    pay_invoice(cast, sooner, "400")
    pay_invoice(cast, issue_invoice_for(cast, customer))
    void_issued(cast, issue_invoice_for(cast, customer))
    credit_issued(cast, issue_invoice_for(cast, customer))
    make_invoice(cast, customerId=customer)
    issue_invoice(cast)
    page = session.get(f"/payments/new?customerId={customer}").text
    expected = {
        sooner["id"]: f"{sooner['number']} · £600.00, due 2 Jan 2030",
        later["id"]: f"{later['number']} · £1,000.00, due 7 May 2030 · New heating",
    }
    for field in ("invoiceId", "allocations.0.invoiceId"):
        assert list(list_options(page, field).items()) == list(expected.items())
    set_organisation_columns(cast, country="DE")
    again = session.get(f"/payments/new?customerId={customer}").text
    assert "1.000,00\N{NO-BREAK SPACE}£" in list_options(again, "invoiceId")[later["id"]]


def test_from_an_invoice_it_opens_with_it_and_the_others_of_the_customer_can_be_picked(
    session: BrowserSession, cast: Cast
) -> None:
    invoice = issue_invoice(cast)
    other = issue_invoice_for(cast, invoice["customerId"])
    page = session.get(f"/invoices/{invoice['id']}").text
    [path] = {*re.findall(r'href="(/payments/new\?[^"]+)"', page)}
    form = session.get(unescape(path)).text
    fields = read_form(form)
    assert (fields["invoiceId"], fields["customerId"], fields["amount"]) == (
        invoice["id"],
        "Calder Property",
        "1000.00",
    )
    session.follow_redirect(session.post("/payments/new", fields | {"invoiceId": other["id"]}))
    assert (reread_invoice(cast, invoice)["due"], reread_invoice(cast, other)["due"]) == ("1000.00", "0.00")


def test_what_is_paid_meanwhile_is_refused_with_why_and_stays_named(session: BrowserSession, cast: Cast) -> None:
    invoice = issue_invoice(cast)
    issue_invoice_for(cast, invoice["customerId"])
    path = f"/payments/new?invoiceId={invoice['id']}&customerId={invoice['customerId']}&amount=1000.00"
    fields = read_form(session.get(path).text)
    pay_invoice(cast, invoice)
    answer = session.post("/payments/new", fields)
    assert answer.status_code == 409
    assert f"{invoice['number']} is already paid." in visible_text(answer.text)
    assert f'<option value="{invoice["id"]}" selected>{invoice["number"]} New heating</option>' in answer.text


def test_what_is_typed_is_meant_of_what_is_owed_and_else_why_not_is_told(session: BrowserSession, cast: Cast) -> None:
    customer = make_customer(cast, "Ashdown School")
    settled, owed = issue_invoice_for(cast, customer), issue_invoice_for(cast, customer)
    pay_invoice(cast, settled)

    def type_in(text: str) -> httpx2.Response:
        opened = read_form(session.get("/payments/new").text)
        return session.post("/payments/new", opened | {"amount": "30", "invoiceId": text})

    session.follow_redirect(type_in("Ashdown"))
    assert cast.perform(list_payments)["data"][0]["allocations"][0]["invoiceId"] == owed["id"]
    assert f"{settled['number']} is already paid" in visible_text(type_in(settled["number"]).text)


def test_while_one_types_it_finds_what_is_owed(server: RunningServer, session: BrowserSession, cast: Cast) -> None:
    customer = make_customer(cast, "Ashdown School")
    owed = issue_invoice_for(cast, customer)
    pay_invoice(cast, issue_invoice_for(cast, customer))
    page = session.get("/payments/new").text
    assert re.search(r'<input id="invoiceId"[^>]* data-find="invoice" data-status="unpaid"', page)
    due = f"£1,000.00, due {format_date(str(owed['dueOn']))}"
    hit = {"title": f"{owed['number']} New heating", "number": owed["number"], "detail": f"Ashdown School · {due}"}
    found = [{"id": owed["id"], **hit}]
    assert find_hits(session, "kind=invoice&status=unpaid&text=ashdown") == found
    for queries in ("kind=invoice&status=lost&text=ashdown", "kind=x&status=unpaid&text=ashdown"):
        assert find_hits(session, queries) == []
    assert find_hits(sign_in_new_person(server, cast, Role.MEMBER), "kind=invoice&status=unpaid&text=ashdown") == []


def test_what_a_payment_is_for_stays_where_it_is_put_to_others(session: BrowserSession, cast: Cast) -> None:
    invoice = issue_invoice(cast)
    payment = pay_invoice(cast, invoice, "1100")
    other = issue_invoice_for(cast, invoice["customerId"])
    path = f"/payments/{payment['id']}/allocate"
    page = session.get(path).text
    assert list(list_options(page, "allocations.0.invoiceId")) == [other["id"], invoice["id"]]
    assert list(list_options(page, "allocations.1.invoiceId")) == [other["id"]]
    put = {"allocations.1.invoiceId": other["id"], "allocations.1.amount": "100"}
    session.follow_redirect(session.post(path, read_form(page) | put))
    assert (reread_invoice(cast, invoice)["status"], reread_invoice(cast, other)["due"]) == ("paid", "900.00")
