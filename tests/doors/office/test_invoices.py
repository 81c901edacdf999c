"""Invoices, payments and credit notes in the office, and the customer's own page of an invoice."""

import re
from typing import Any

import pytest

from doors.office.test_quotes import fields_of
from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.invoices.issuing.crediting import list_credit_notes
from mainstay.business.invoices.payments.recording import list_payments
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.organisation.operations import update_organisation
from mainstay.composition import open_link_maker
from mainstay.identity.links import LinkKind
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer, make_job
from support.invoices import (
    FLUE,
    credit_issued,
    issue_invoice,
    make_accepted_quote,
    make_invoice,
    pay_invoice,
    reread_invoice,
    void_issued,
)
from support.purchases import make_bill
from support.quotes import make_default_tax_rate
from support.servers import RunningServer
from support.stored_state import names_amount


@pytest.fixture
def session(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_new_person(server, cast, Role.OFFICE)


def submit_form(session: BrowserSession, path: str, **typed: str) -> Any:
    page = session.get(path)
    assert page.status_code == 200, page.text
    return session.post(path, fields_of(page.text) | typed)


def test_what_the_organisation_says_below_stands_on_what_is_drafted_here(session: BrowserSession, cast: Cast) -> None:
    cast.perform(update_organisation, invoiceNotes="Thank you.")
    customer = make_customer(cast)
    session.follow_redirect(submit_form(session, f"/invoices/new?customerId={customer}"))
    (draft,) = cast.perform(list_invoices)["data"]
    assert reread_invoice(cast, draft)["notes"] == "Thank you."
    session.follow_redirect(submit_form(session, f"/invoices/new?customerId={customer}", notes="Mine."))
    assert reread_invoice(cast, cast.perform(list_invoices)["data"][0])["notes"] == "Mine."


def test_a_payment_is_recorded_on_the_page_of_its_invoice(session: BrowserSession, cast: Cast) -> None:
    invoice = issue_invoice(cast)
    page = session.get(f"/invoices/{invoice['id']}").text
    path = f"/payments/new?invoiceId={invoice['id']}&customerId={invoice['customerId']}&amount=1000.00"
    # As the next step, and beside what was paid before.
    assert page.count(f'href="{path.replace("&", "&amp;")}"') == 2
    session.follow_redirect(submit_form(session, path, amount="400"))
    assert (reread_invoice(cast, invoice)["status"], reread_invoice(cast, invoice)["due"]) == ("partPaid", "600.00")
    # For nothing in particular, it is for what is due first.
    session.follow_redirect(submit_form(session, f"/payments/new?customerId={invoice['customerId']}", amount="700"))
    assert reread_invoice(cast, invoice)["status"] == "paid"
    last = cast.perform(list_payments)["data"][0]
    shown = visible_text(session.get(f"/payments/{last['id']}").text)
    assert "INV-0001 £600.00" in shown
    assert "On account £100.00" in shown


def test_all_that_is_due_is_filled_in_and_paid_by_sending_the_form(session: BrowserSession, cast: Cast) -> None:
    invoice = issue_invoice(cast)
    pay_invoice(cast, invoice, "400")
    page = session.get(f"/invoices/{invoice['id']}").text
    path = f"/payments/new?invoiceId={invoice['id']}&customerId={invoice['customerId']}&amount=600.00"
    assert path.replace("&", "&amp;") in page
    session.follow_redirect(submit_form(session, path))
    assert (reread_invoice(cast, invoice)["status"], reread_invoice(cast, invoice)["due"]) == ("paid", "0.00")


def test_a_payment_is_offered_only_where_something_can_be_paid(session: BrowserSession, cast: Cast) -> None:
    settled = issue_invoice(cast)
    pay_invoice(cast, settled)
    gone = issue_invoice(cast)
    for invoice in (
        make_invoice(cast),
        settled,
        void_issued(cast, issue_invoice(cast)),
        credit_issued(cast, gone) and gone,
    ):
        page = session.get(f"/invoices/{invoice['id']}").text
        assert ("Payments" in visible_text(page)) == (invoice == settled)
        assert "/payments/new?" not in page


@pytest.mark.parametrize(("percent", "shown"), [("10", "10"), ("5.50", "5.5"), ("100", "100"), ("0", "")])
def test_a_discount_is_shown_as_it_is(session: BrowserSession, cast: Cast, percent: str, shown: str) -> None:
    draft = make_invoice(cast, lines=[{**FLUE, "discountPercent": percent}])
    line = draft["lines"][0]["id"]
    fields = fields_of(session.get(f"/invoices/{draft['id']}/lines").text)
    assert fields[f"{line} discountPercent"] == shown


def test_some_of_a_line_is_credited_and_its_page_says_so(session: BrowserSession, cast: Cast) -> None:
    make_default_tax_rate(cast)
    invoice = issue_invoice(cast, make_invoice(cast, lines=[{**FLUE, "cost": "20"}]))
    line, path = invoice["lines"][0]["id"], f"/invoices/{invoice['id']}/credit"
    typed = {"reason": "One came back", "deliver": "none", f"quantity {line}": "1"}
    preview = submit_form(session, path, **typed)
    assert "CN-0001 will credit £54.66 of INV-0001" in visible_text(preview.text)
    session.follow_redirect(session.post(path, fields_of(preview.text) | typed | {"confirmed": "yes"}))
    assert reread_invoice(cast, invoice)["credited"] == "54.66"
    (note,) = cast.perform(list_credit_notes)["data"]
    page = session.get(f"/credit-notes/{note['id']}")
    assert page.status_code == 200
    assert "One came back" in visible_text(page.text)
    credit_issued(cast, invoice)
    rest = cast.perform(list_credit_notes)["data"][0]
    assert session.get(f"/credit-notes/{rest['id']}").status_code == 200


def test_why_an_invoice_cannot_be_void_is_told_before_anything_is_typed_with_the_ways_on(
    session: BrowserSession, cast: Cast
) -> None:
    invoice = issue_invoice(cast)
    path = f"/invoices/{invoice['id']}"
    assert 'name="reason"' in session.get(f"{path}/void").text
    pay_invoice(cast, invoice, "400")
    page = session.get(f"{path}/void").text
    assert "INV-0001 has been paid. Credit it instead, or reverse the payment first." in visible_text(page)
    assert 'name="reason"' not in page
    assert f'href="{path}/credit"' in page
    payments = f"/payments?invoiceId={invoice['id']}"
    assert f'href="{payments}"' in page
    assert session.get(payments).status_code == session.get(f"{path}/credit").status_code == 200
    # Where there is nothing to credit either, nothing of it is offered.
    credit_issued(cast, invoice)
    assert f'href="{path}/credit"' not in session.get(f"{path}/void").text


def test_the_warning_of_an_empty_draft_is_not_shown_of_a_later_version(session: BrowserSession, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))
    warning = "This draft is empty"
    for fills_in in (False, True):
        page = session.get(f"/invoices/new?jobId={job['id']}").text
        drafted = session.post("/invoices/new", fields_of(page) | {"choice": "other"})
        path = drafted.headers["location"].partition("?")[0].removesuffix("/lines")
        if fills_in:
            session.submit_form(f"{path}/lines", **{"new description": "Work", "new unitPrice": "100", "do": "save"})
        assert (warning not in visible_text(session.get(path).text)) == fills_in


def test_a_document_names_its_job_and_quote_as_links(session: BrowserSession, cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    invoice = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"]))
    page = session.get(f"/invoices/{invoice['id']}").text
    facts = dict(re.findall(r'<dt>(Job|Quote)</dt><dd><a href="([^"]*)"', page))
    assert facts == {"Job": f"/jobs/{quote['jobId']}", "Quote": f"/quotes/{quote['id']}"}
    # A supplier's number of a bill is no supplier.
    bill = make_bill(cast)
    assert "<dt>Bill number</dt><dd>4711</dd>" in session.get(f"/purchasing/bills/{bill['id']}").text


def test_work_that_is_done_and_agreed_stands_on_the_worklist(session: BrowserSession, cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    cast.perform(change_job_status, jobId=quote["jobId"], status="done")
    page = session.get("/hours/to-bill").text
    assert f"/invoices/new?jobId={quote['jobId']}&amp;quoteId={quote['id']}" in page
    issue_invoice(cast, make_invoice(cast, quoteId=quote["id"]))
    assert quote["jobId"] not in session.get("/hours/to-bill").text


def test_the_list_has_tabs_and_the_field_finds_none(server: RunningServer, session: BrowserSession, cast: Cast) -> None:
    for invoice in (issue_invoice(cast), void_issued(cast, issue_invoice(cast)), make_invoice(cast)):
        assert session.get(f"/invoices/{invoice['id']}").status_code == 200
    assert "INV-0001" in visible_text(session.get("/invoices?status=unpaid").text)
    assert "INV-0002" not in visible_text(session.get("/invoices?status=unpaid").text)
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        for path in ("/invoices", "/payments", "/credit-notes", "/payments/statement", f"/invoices/{invoice['id']}"):
            assert sign_in_new_person(server, cast, role).get(path).status_code in {403, 404}


def test_the_customer_s_page_tells_what_is_left_and_how_to_pay(server: RunningServer, cast: Cast) -> None:
    bank = {"name": "Calder Bank", "account": "31926819", "sortCode": "20-00-00"}
    cast.perform(update_organisation, bank=bank)
    invoice = issue_invoice(cast, make_invoice(cast, jobId=make_job(cast, make_customer(cast))["id"]))
    link = open_link_maker(server.settings).build_url(LinkKind.INVOICE, invoice["id"]).partition("/i/")[2]
    pay_invoice(cast, invoice, "400")
    page = BrowserSession(server).get(f"/i/{link}")
    shown = visible_text(page.text)
    assert page.status_code == 200
    for expected in ("INV-0001", "Combi boiler", "£600.00", "31926819", "20-00-00"):
        assert expected in shown
    assert not names_amount(shown, 700)
    assert page.headers["x-robots-tag"] == "noindex, nofollow"
    assert reread_invoice(cast, invoice)["viewedAt"] is None
    other = open_link_maker(server.settings).build_url(LinkKind.QUOTE, invoice["id"]).rpartition(".")[2]
    for wrong in (f"{invoice['id']}.{other}", invoice["id"], f"{link}x"):
        assert BrowserSession(server).get(f"/i/{wrong}").status_code == 404
    pay_invoice(cast, invoice)
    assert "Paid in full" in visible_text(BrowserSession(server).get(f"/i/{link}").text)


def test_its_files_are_at_its_own_address(server: RunningServer, session: BrowserSession, cast: Cast) -> None:
    make_default_tax_rate(cast)
    draft = make_invoice(cast)
    assert session.get(f"/invoices/{draft['id']}/pdf").status_code == 409
    invoice = issue_invoice(cast, draft)
    printed = session.get(f"/invoices/{invoice['id']}/pdf")
    assert (printed.status_code, printed.content[:5]) == (200, b"%PDF-")
    # The organisation has not said who it is, so it is no e-invoice.
    assert "is not an e-invoice" in visible_text(session.get(f"/invoices/{invoice['id']}/ubl").text)
    assert session.get(f"/invoices/{invoice['id']}/pdf?copy=void").status_code == 409
    void_issued(cast, invoice)
    stamped = session.get(f"/invoices/{invoice['id']}/pdf?copy=void")
    assert (stamped.status_code, stamped.content == printed.content) == (200, False)
    assert session.get(f"/invoices/{invoice['id']}/pdf").content == printed.content
    assert sign_in_new_person(server, cast, Role.MEMBER).get(f"/invoices/{invoice['id']}/pdf").status_code == 403
    assert session.get(f"/invoices/{invoice['id']}/csv").status_code == 404
