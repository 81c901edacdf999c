"""The form of a payment: it offers what is still owed, with what is to be paid and when."""

import re
from html import unescape

import httpx2
import pytest

from billing import an_invoice, credited, issued, now, paid, voided
from cast import Cast
from doors.office.test_finding import hits
from filling import as_opened
from labour import decide
from mainstay.business.invoices.paying import list_payments
from mainstay.doors.pages.words import date_words
from mainstay.terms.rights import Role
from running import RunningServer
from trade import a_customer
from visiting import Visit, visit, words


@pytest.fixture
def visiting(server: RunningServer, cast: Cast) -> Visit:
    return visit(server, cast, Role.OFFICE)


def offered(page: str, field: str) -> dict[str, str]:
    """What can be picked in a field, by its id, in the order in which it stands there."""
    listed = page.partition(f'<select id="{field}"')[2].partition("</select>")[0]
    return {name: unescape(text) for name, text in re.findall(r'<option value="(\w+)"[^>]*>([^<]+)<', listed)}


def bill(cast: Cast, customer: str, **given: object) -> dict[str, str]:
    return issued(cast, an_invoice(cast, customerId=customer, **given))


def test_it_offers_what_the_customer_owes_with_what_is_to_pay_and_when_what_is_due_first_first(
    visiting: Visit, cast: Cast
) -> None:
    customer = a_customer(cast)
    later = bill(cast, customer, dueOn="2030-05-07")
    sooner = bill(cast, customer, title=None, dueOn="2030-01-02")
    paid(cast, sooner, "400")
    paid(cast, bill(cast, customer))
    voided(cast, bill(cast, customer))
    credited(cast, bill(cast, customer))
    an_invoice(cast, customerId=customer)
    issued(cast)
    page = visiting.get(f"/payments/new?customerId={customer}").text
    told = {
        sooner["id"]: f"{sooner['number']} · 600.00 GBP, due 2 Jan 2030",
        later["id"]: f"{later['number']} · 1,000.00 GBP, due 7 May 2030 · New heating",
    }
    for field in ("invoiceId", "allocations.0.invoiceId"):
        assert list(offered(page, field).items()) == list(told.items())
    decide(cast, country="DE")
    again = visiting.get(f"/payments/new?customerId={customer}").text
    assert "1.000,00 GBP" in offered(again, "invoiceId")[later["id"]]


def test_from_an_invoice_it_opens_with_it_and_the_others_of_the_customer_can_be_picked(
    visiting: Visit, cast: Cast
) -> None:
    invoice = issued(cast)
    other = bill(cast, invoice["customerId"])
    page = visiting.get(f"/invoices/{invoice['id']}").text
    [path] = {*re.findall(r'href="(/payments/new\?[^"]+)"', page)}
    form = visiting.get(unescape(path)).text
    fields = as_opened(form)
    assert (fields["invoiceId"], fields["customerId"], fields["amount"]) == (
        invoice["id"],
        "Calder Property",
        "1000.00",
    )
    visiting.follow(visiting.post("/payments/new", fields | {"invoiceId": other["id"]}))
    assert (now(cast, invoice)["due"], now(cast, other)["due"]) == ("1000.00", "0.00")


def test_what_is_paid_meanwhile_is_refused_with_why_and_stays_named(visiting: Visit, cast: Cast) -> None:
    invoice = issued(cast)
    bill(cast, invoice["customerId"])
    path = f"/payments/new?invoiceId={invoice['id']}&customerId={invoice['customerId']}&amount=1000.00"
    fields = as_opened(visiting.get(path).text)
    paid(cast, invoice)
    answer = visiting.post("/payments/new", fields)
    assert answer.status_code == 409
    assert f"{invoice['number']} is paid already, so there is nothing to pay." in words(answer.text)
    assert f'<option value="{invoice["id"]}" selected>{invoice["number"]} New heating</option>' in answer.text


def test_what_is_typed_is_meant_of_what_is_owed_and_else_why_not_is_told(visiting: Visit, cast: Cast) -> None:
    customer = a_customer(cast, "Ashdown School")
    settled, owed = bill(cast, customer), bill(cast, customer)
    paid(cast, settled)

    def type_in(text: str) -> httpx2.Response:
        opened = as_opened(visiting.get("/payments/new").text)
        return visiting.post("/payments/new", opened | {"amount": "30", "invoiceId": text})

    visiting.follow(type_in("Ashdown"))
    assert cast.perform(list_payments)["data"][0]["allocations"][0]["invoiceId"] == owed["id"]
    assert f"{settled['number']} is paid already" in words(type_in(settled["number"]).text)


def test_while_one_types_it_finds_what_is_owed(server: RunningServer, visiting: Visit, cast: Cast) -> None:
    customer = a_customer(cast, "Ashdown School")
    owed = bill(cast, customer)
    paid(cast, bill(cast, customer))
    page = visiting.get("/payments/new").text
    assert re.search(r'<input id="invoiceId"[^>]* data-find="invoice" data-status="unpaid"', page)
    due = f"1,000.00 GBP, due {date_words(str(owed['dueOn']))}"
    called = {"title": f"{owed['number']} New heating", "detail": f"Ashdown School · {due}"}
    found = [{"id": owed["id"], **called}]
    assert hits(visiting, "kind=invoice&status=unpaid&text=ashdown") == found
    for asked in ("kind=invoice&status=lost&text=ashdown", "kind=x&status=unpaid&text=ashdown"):
        assert hits(visiting, asked) == []
    assert hits(visit(server, cast, Role.MEMBER), "kind=invoice&status=unpaid&text=ashdown") == []


def test_what_a_payment_is_for_stays_where_it_is_put_to_others(visiting: Visit, cast: Cast) -> None:
    invoice = issued(cast)
    payment = paid(cast, invoice, "1100")
    other = bill(cast, invoice["customerId"])
    path = f"/payments/{payment['id']}/allocate"
    page = visiting.get(path).text
    assert list(offered(page, "allocations.0.invoiceId")) == [other["id"], invoice["id"]]
    assert list(offered(page, "allocations.1.invoiceId")) == [other["id"]]
    put = {"allocations.1.invoiceId": other["id"], "allocations.1.amount": "100"}
    visiting.follow(visiting.post(path, as_opened(page) | put))
    assert (now(cast, invoice)["status"], now(cast, other)["due"]) == ("paid", "900.00")
