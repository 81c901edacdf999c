"""Invoices, payments and credit notes in the office, and the customer's own page of an invoice."""

from typing import Any

import pytest

from billing import FLUE, a_sold_quote, an_invoice, credited, issued, now, paid, voided
from cast import Cast
from doors.office.test_quotes import fields_of
from evidence import names_amount
from mainstay.business.invoices.crediting import list_credit_notes
from mainstay.business.invoices.operations import list_invoices
from mainstay.business.invoices.paying import list_payments
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.organisation.operations import update_organisation
from mainstay.identity.links import Kind
from mainstay.staging import open_link_maker
from mainstay.terms.rights import Role
from quoting import usual_tax
from running import RunningServer
from trade import a_customer, a_job
from visiting import Visit, visit, words


@pytest.fixture
def visiting(server: RunningServer, cast: Cast) -> Visit:
    return visit(server, cast, Role.OFFICE)


def send(visiting: Visit, path: str, **typed: str) -> Any:
    page = visiting.get(path)
    assert page.status_code == 200, page.text
    return visiting.post(path, fields_of(page.text) | typed)


def test_what_the_organisation_says_below_stands_on_what_is_drafted_here(visiting: Visit, cast: Cast) -> None:
    cast.perform(update_organisation, invoiceNotes="Thank you.")
    customer = a_customer(cast)
    visiting.follow(send(visiting, f"/invoices/new?customerId={customer}"))
    (draft,) = cast.perform(list_invoices)["data"]
    assert now(cast, draft)["notes"] == "Thank you."
    visiting.follow(send(visiting, f"/invoices/new?customerId={customer}", notes="Mine."))
    assert now(cast, cast.perform(list_invoices)["data"][0])["notes"] == "Mine."


def test_a_payment_is_recorded_on_the_page_of_its_invoice(visiting: Visit, cast: Cast) -> None:
    invoice = issued(cast)
    page = visiting.get(f"/invoices/{invoice['id']}").text
    path = f"/payments/new?invoiceId={invoice['id']}&customerId={invoice['customerId']}&amount=1000.00"
    # As the next step, and beside what was paid before.
    assert page.count(f'href="{path.replace("&", "&amp;")}"') == 2
    visiting.follow(send(visiting, path, amount="400"))
    assert (now(cast, invoice)["status"], now(cast, invoice)["due"]) == ("partPaid", "600.00")
    # For nothing in particular, it is for what is due first.
    visiting.follow(send(visiting, f"/payments/new?customerId={invoice['customerId']}", amount="700"))
    assert now(cast, invoice)["status"] == "paid"
    last = cast.perform(list_payments)["data"][0]
    shown = words(visiting.get(f"/payments/{last['id']}").text)
    assert "INV-0001 600.00" in shown
    assert "On account 100.00" in shown


def test_all_that_is_due_is_filled_in_and_paid_by_sending_the_form(visiting: Visit, cast: Cast) -> None:
    invoice = issued(cast)
    paid(cast, invoice, "400")
    page = visiting.get(f"/invoices/{invoice['id']}").text
    path = f"/payments/new?invoiceId={invoice['id']}&customerId={invoice['customerId']}&amount=600.00"
    assert path.replace("&", "&amp;") in page
    visiting.follow(send(visiting, path))
    assert (now(cast, invoice)["status"], now(cast, invoice)["due"]) == ("paid", "0.00")


def test_a_payment_is_offered_only_where_something_can_be_paid(visiting: Visit, cast: Cast) -> None:
    settled = issued(cast)
    paid(cast, settled)
    gone = issued(cast)
    for invoice in (an_invoice(cast), settled, voided(cast, issued(cast)), credited(cast, gone) and gone):
        page = visiting.get(f"/invoices/{invoice['id']}").text
        assert "Payments" in words(page)
        assert "/payments/new?" not in page


@pytest.mark.parametrize(("percent", "shown"), [("10", "10"), ("5.50", "5.5"), ("100", "100"), ("0", "")])
def test_a_discount_is_shown_as_it_is(visiting: Visit, cast: Cast, percent: str, shown: str) -> None:
    draft = an_invoice(cast, lines=[{**FLUE, "discountPercent": percent}])
    line = draft["lines"][0]["id"]
    fields = fields_of(visiting.get(f"/invoices/{draft['id']}/lines").text)
    assert fields[f"{line} discountPercent"] == shown


def test_some_of_a_line_is_credited_and_its_page_says_so(visiting: Visit, cast: Cast) -> None:
    usual_tax(cast)
    invoice = issued(cast, an_invoice(cast, lines=[{**FLUE, "cost": "20"}]))
    line, path = invoice["lines"][0]["id"], f"/invoices/{invoice['id']}/credit"
    typed = {"reason": "One came back", "deliver": "none", f"quantity {line}": "1"}
    preview = send(visiting, path, **typed)
    assert "CN-0001 credits 54.66 GBP" in words(preview.text)
    visiting.follow(visiting.post(path, fields_of(preview.text) | typed | {"confirmed": "yes"}))
    assert now(cast, invoice)["credited"] == "54.66"
    (note,) = cast.perform(list_credit_notes)["data"]
    page = visiting.get(f"/credit-notes/{note['id']}")
    assert page.status_code == 200
    assert "One came back" in words(page.text)
    credited(cast, invoice)
    rest = cast.perform(list_credit_notes)["data"][0]
    assert visiting.get(f"/credit-notes/{rest['id']}").status_code == 200


def test_why_an_invoice_cannot_be_void_is_told_before_anything_is_typed_with_the_ways_on(
    visiting: Visit, cast: Cast
) -> None:
    invoice = issued(cast)
    path = f"/invoices/{invoice['id']}"
    assert 'name="reason"' in visiting.get(f"{path}/void").text
    paid(cast, invoice, "400")
    page = visiting.get(f"{path}/void").text
    assert "INV-0001 is paid. Credit it instead, or reverse the payment first." in words(page)
    assert 'name="reason"' not in page
    assert f'href="{path}/credit"' in page
    payments = f"/payments?invoiceId={invoice['id']}"
    assert f'href="{payments}"' in page
    assert visiting.get(payments).status_code == visiting.get(f"{path}/credit").status_code == 200
    # Where there is nothing to credit either, nothing of it is offered.
    credited(cast, invoice)
    assert f'href="{path}/credit"' not in visiting.get(f"{path}/void").text


def test_work_that_is_done_and_agreed_stands_on_the_worklist(visiting: Visit, cast: Cast) -> None:
    quote = a_sold_quote(cast)
    cast.perform(change_job_status, jobId=quote["jobId"], status="done")
    page = visiting.get("/hours/to-bill").text
    assert f"/invoices/new?jobId={quote['jobId']}&amp;quoteId={quote['id']}" in page
    issued(cast, an_invoice(cast, quoteId=quote["id"]))
    assert quote["jobId"] not in visiting.get("/hours/to-bill").text


def test_the_list_has_tabs_and_the_field_finds_none(server: RunningServer, visiting: Visit, cast: Cast) -> None:
    for invoice in (issued(cast), voided(cast, issued(cast)), an_invoice(cast)):
        assert visiting.get(f"/invoices/{invoice['id']}").status_code == 200
    assert "INV-0001" in words(visiting.get("/invoices?status=unpaid").text)
    assert "INV-0002" not in words(visiting.get("/invoices?status=unpaid").text)
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        for path in ("/invoices", "/payments", "/credit-notes", "/payments/statement", f"/invoices/{invoice['id']}"):
            assert visit(server, cast, role).get(path).status_code in {403, 404}


def test_the_customer_s_page_tells_what_is_left_and_how_to_pay(server: RunningServer, cast: Cast) -> None:
    bank = {"name": "Calder Bank", "account": "31926819", "sortCode": "20-00-00"}
    cast.perform(update_organisation, bank=bank)
    invoice = issued(cast, an_invoice(cast, jobId=a_job(cast, a_customer(cast))["id"]))
    link = open_link_maker(server.settings).address(Kind.INVOICE, invoice["id"]).partition("/i/")[2]
    paid(cast, invoice, "400")
    page = Visit(server).get(f"/i/{link}")
    shown = words(page.text)
    assert page.status_code == 200
    for told in ("INV-0001", "Combi boiler", "£600.00", "31926819", "20-00-00"):
        assert told in shown
    assert not names_amount(shown, 700)
    assert page.headers["x-robots-tag"] == "noindex, nofollow"
    assert now(cast, invoice)["viewedAt"] is None
    other = open_link_maker(server.settings).address(Kind.QUOTE, invoice["id"]).rpartition(".")[2]
    for wrong in (f"{invoice['id']}.{other}", invoice["id"], f"{link}x"):
        assert Visit(server).get(f"/i/{wrong}").status_code == 404
    paid(cast, invoice)
    assert "Paid in full" in words(Visit(server).get(f"/i/{link}").text)


def test_its_files_are_at_its_own_address(server: RunningServer, visiting: Visit, cast: Cast) -> None:
    usual_tax(cast)
    draft = an_invoice(cast)
    assert visiting.get(f"/invoices/{draft['id']}/pdf").status_code == 409
    invoice = issued(cast, draft)
    printed = visiting.get(f"/invoices/{invoice['id']}/pdf")
    assert (printed.status_code, printed.content[:5]) == (200, b"%PDF-")
    # The organisation has not said who it is, so it is no e-invoice.
    assert "is no e-invoice" in words(visiting.get(f"/invoices/{invoice['id']}/ubl").text)
    assert visiting.get(f"/invoices/{invoice['id']}/pdf?copy=void").status_code == 409
    voided(cast, invoice)
    stamped = visiting.get(f"/invoices/{invoice['id']}/pdf?copy=void")
    assert (stamped.status_code, stamped.content == printed.content) == (200, False)
    assert visiting.get(f"/invoices/{invoice['id']}/pdf").content == printed.content
    assert visit(server, cast, Role.MEMBER).get(f"/invoices/{invoice['id']}/pdf").status_code == 403
    assert visiting.get(f"/invoices/{invoice['id']}/csv").status_code == 404
