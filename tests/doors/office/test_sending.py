"""Sending a document: its email can be changed on one page, and what is sent is what the page showed."""

import re
from html import unescape
from typing import Any

import httpx2
import pytest

from doors.office.test_quotes import fields_of
from mainstay.business.customers.operations import update_customer
from mainstay.business.invoices.issuing.sending import send_reminder
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.sent_emails import list_messages
from mainstay.business.quotes.operations import get_quote, update_quote
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast, visible_text
from support.cast import Cast
from support.customers import make_customer
from support.invoices import issue_invoice, make_invoice, reread_invoice
from support.quotes import make_default_tax_rate, make_quote
from support.servers import RunningServer

BANK = {"iban": "GB29NWBK60161331926819"}


@pytest.fixture
def session(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_cast(server, cast, Role.OWNER)


def submit(session: BrowserSession, page: str, path: str, **typed: str) -> httpx2.Response:
    """Send the form of a page with what is typed over its fields."""
    return session.post(path, fields_of(page) | typed)


def read_status(cast: Cast, quote: dict[str, Any]) -> str:
    status: str = cast.perform(get_quote, quoteId=quote["id"])["status"]
    return status


def list_sent(cast: Cast, record: dict[str, Any]) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = cast.perform(list_messages, about=record["id"])["data"]
    return sent


def test_an_email_is_sent_as_it_was_changed_on_the_page(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast)
    path = f"/quotes/{quote['id']}/send"
    page = session.get(path).text
    typed = {"to": "zoe@else.example", "cc": "bob@else.example, cat@else.example", "subject": "Your <boiler>"}
    message = "Dear Zoe,\r\n\r\nsee {link}.\r\n\r\nRuth"
    done = submit(session, page, path, **typed, message=message)
    assert "Quote Q-0001 sent." in visible_text(session.follow_redirect(done).text)
    sent = list_sent(cast, quote)
    assert {(one["recipient"], one["isCopy"]) for one in sent} == {
        ("zoe@else.example", False),
        ("bob@else.example", True),
        ("cat@else.example", True),
    }
    assert {(one["subject"], one["text"]) for one in sent} == {
        ("Your <boiler>", "Dear Zoe,\n\nsee [link].\n\nRuth"),
    }
    # It is kept with the document, folded below its subject.
    shown = session.get(f"/quotes/{quote['id']}").text
    assert '<summary>Your &lt;boiler&gt;</summary><p class="said" dir="auto">Dear Zoe,\n\nsee [link].' in shown


def test_a_form_that_is_sent_twice_counts_once(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast)
    path = f"/quotes/{quote['id']}/send"
    fields = fields_of(session.get(path).text)
    first, second = session.post(path, fields), session.post(path, fields)
    assert (first.status_code, second.status_code) == (303, 303)
    assert len(list_sent(cast, quote)) == 1


def test_what_the_page_did_not_show_is_not_sent(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast)
    path = f"/quotes/{quote['id']}/send"
    page = session.get(path).text
    cast.perform(update_quote, quoteId=quote["id"], title="Something else")
    answer = submit(session, page.replace('name="version"', 'name="unused"'), path, subject="Mine")
    assert answer.status_code == 409
    assert "Something has changed since the preview" in visible_text(answer.text)
    fields = fields_of(answer.text)
    assert fields["subject"] == "Mine"
    assert (read_status(cast, quote), list_sent(cast, quote)) == ("draft", [])
    assert session.post(path, fields).status_code == 303
    assert [one["subject"] for one in list_sent(cast, quote)] == ["Mine"]


def test_another_address_of_the_customer_does_not_replace_the_one_that_was_shown(
    session: BrowserSession, cast: Cast
) -> None:
    quote = make_quote(cast)
    path = f"/quotes/{quote['id']}/send"
    page = session.get(path).text
    cast.perform(update_customer, customerId=quote["customerId"], email="eve@else.example")
    session.follow_redirect(submit(session, page, path))
    assert [one["recipient"] for one in list_sent(cast, quote)] == ["ann@calder.example"]


@pytest.mark.parametrize(
    ("field", "wrong"), [("to", "ann@"), ("cc", "bob@else.example, nobody"), ("subject", " "), ("message", "")]
)
def test_a_refused_email_keeps_what_was_typed(session: BrowserSession, cast: Cast, field: str, wrong: str) -> None:
    quote = make_quote(cast)
    path = f"/quotes/{quote['id']}/send"
    typed = {"to": "zoe@else.example", "cc": "bob@else.example", "subject": "Mine", "message": "See {link}."} | {
        field: wrong
    }
    answer = submit(session, session.get(path).text, path, **typed)
    if field in {"subject", "message"}:
        # An empty field means the standard text, which the page has to show first.
        typed[field] = fields_of(session.get(path).text)[field]
        assert answer.status_code == 409
    else:
        assert answer.status_code == 422
        assert f'id="{field}-fault"' in answer.text
    assert {name: fields_of(answer.text)[name] for name in typed} == typed
    assert (read_status(cast, quote), list_sent(cast, quote)) == ("draft", [])


def test_without_an_address_one_is_typed_or_the_document_issued_without_an_email(
    session: BrowserSession, cast: Cast
) -> None:
    customer = make_customer(cast, "Calder")
    quote = make_quote(cast, customerId=customer)
    path = f"/quotes/{quote['id']}/send"
    page = session.get(path).text
    assert "Calder has no email address." in visible_text(page)
    assert f'href="/customers/{customer}/edit"' in page
    assert fields_of(page)["to"] == ""
    assert "Hello Calder," in fields_of(page)["message"]
    assert submit(session, page, path).status_code == 409
    without = submit(session, page, path, do="without-email")
    assert "No email will be sent. Send or hand over the quote yourself." in visible_text(without.text)
    assert read_status(cast, quote) == "draft"
    done = submit(session, page, path, to="kim@calder.example")
    assert "Quote Q-0001 sent." in visible_text(session.follow_redirect(done).text)
    assert [one["recipient"] for one in list_sent(cast, quote)] == ["kim@calder.example"]


def test_a_document_is_issued_without_an_email(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast)
    path = f"/quotes/{quote['id']}/send"
    without = submit(session, session.get(path).text, path, do="without-email").text
    session.follow_redirect(submit(session, without, path))
    assert (read_status(cast, quote), list_sent(cast, quote)) == ("sent", [])


def test_bank_details_are_added_from_the_warning_and_one_comes_back(session: BrowserSession, cast: Cast) -> None:
    cast.perform(update_organisation, email="office@hartley.example")
    path = f"/invoices/{make_invoice(cast)['id']}/send"
    page = session.get(path).text
    assert "The invoice doesn't say where to pay" in visible_text(page)
    way = f"/settings/documents/edit?back={path}"
    assert f'href="{way}"' in page
    form = session.get(way).text
    answer = submit(session, form, way.partition("?")[0], **{f"bank.{name}": text for name, text in BANK.items()})
    assert answer.headers["location"].partition("?")[0] == path
    assert "The invoice doesn't say where to pay" not in visible_text(session.follow_redirect(answer).text)
    outside = submit(session, session.get(way).text, way.partition("?")[0], back="//else.example")
    assert outside.headers["location"].startswith("/settings/documents")


def test_what_an_e_invoice_lacks_is_added_from_the_warning(session: BrowserSession, cast: Cast) -> None:
    make_default_tax_rate(cast)
    invoice = make_invoice(cast, customerId=make_customer(cast, email="ann@calder.example"))
    path = f"/invoices/{invoice['id']}/send"
    page = session.get(path).text
    assert "No e-invoice will be included. Missing: " in visible_text(page)
    ways = [f"/settings/edit?back={path}", f"/customers/{invoice['customerId']}/edit?back={path}"]
    assert [way for way in ways if f'href="{way}"' not in page] == []
    form = session.get(ways[1]).text
    answer = submit(
        session,
        form,
        ways[1].partition("?")[0],
        **{"billingAddress.line1": "1 Weir Lane", "billingAddress.country": "GB"},
    )
    assert answer.headers["location"].partition("?")[0] == path
    left = session.follow_redirect(answer).text
    assert [f'href="{way}"' in left for way in ways] == [True, False]


def test_money_on_account_is_found_from_the_warning(session: BrowserSession, cast: Cast) -> None:
    invoice = make_invoice(cast)
    cast.perform(record_payment, customerId=invoice["customerId"], amount="50")
    page = session.get(f"/invoices/{invoice['id']}/send").text
    assert "has £50.00 on account" in visible_text(page)
    [link] = re.findall(r'href="(/payments[^"]*)">See money on account', page)
    assert "£50.00" in visible_text(session.get(unescape(link)).text)


def test_a_reminder_is_sent_at_once_and_a_second_one_only_if_one_says_so(session: BrowserSession, cast: Cast) -> None:
    invoice = issue_invoice(cast, make_invoice(cast, customerId=make_customer(cast, email="ann@calder.example")))
    path = f"/invoices/{invoice['id']}/send-reminder"
    session.follow_redirect(submit(session, session.get(path).text, path, subject="Please pay"))
    assert reread_invoice(cast, invoice)["reminders"] == 1
    assert list_sent(cast, invoice)[0]["subject"] == "Please pay"
    assert cast.perform(send_reminder, invoiceId=invoice["id"])["blockers"]
    form = session.get(path).text
    assert 'name="again"' in form
    again = submit(session, form, path, again="on")
    session.follow_redirect(submit(session, again.text, path))
    assert reread_invoice(cast, invoice)["reminders"] == 2
