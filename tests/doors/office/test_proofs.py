"""Before something is sent: the mail as it will go, and the PDF of the draft, stamped and kept nowhere."""

import re
from html import unescape
from io import BytesIO
from typing import Any

import pypdf
import pytest

from doors.office.test_quotes import fields_of
from mainstay.business.organisation.operations import change_subscription
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, emails_to, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer
from support.invoices import issue_invoice, make_invoice, reread_invoice
from support.killed_children import kill_children
from support.purchases import make_order, place_order
from support.quotes import issue_quote, make_quote
from support.servers import RunningServer


@pytest.fixture
def session(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_new_person(server, cast, Role.OFFICE)


def extract_text(pdf: bytes) -> str:
    return " ".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(pdf)).pages)


def is_stored(server: RunningServer, content: bytes) -> bool:
    """Whether a file is among those that are kept, whatever else is printed at the same time."""
    return any(path.read_bytes() == content for path in (server.settings.data / "files").rglob("*") if path.is_file())


def make_drafts(cast: Cast) -> list[tuple[str, dict[str, Any]]]:
    """One of each kind, with the address of its page."""
    quote, invoice, order = make_quote(cast), make_invoice(cast), make_order(cast)
    return [
        (f"/quotes/{quote['id']}", quote),
        (f"/invoices/{invoice['id']}", invoice),
        (f"/purchasing/orders/{order['id']}", order),
    ]


def test_a_draft_is_seen_as_it_would_be_printed_and_nothing_of_it_stays(
    server: RunningServer, session: BrowserSession, cast: Cast
) -> None:
    for path, draft in make_drafts(cast):
        assert f'href="{path}/draft.pdf"' in session.get(path).text
        printed = session.get(f"{path}/draft.pdf")
        assert (printed.status_code, printed.headers["content-type"]) == (200, "application/pdf")
        assert printed.headers["cache-control"] == "no-store"
        text = extract_text(printed.content)
        assert "DRAFT" in text
        assert draft["lines"][0]["description"] in text
        assert "INV-" not in text
        assert (draft["number"] or "") in text
        assert not is_stored(server, printed.content)
    assert issue_invoice(cast)["number"] == "INV-0001"


def test_a_draft_whose_process_is_killed_is_refused_and_the_next_one_is_printed(
    session: BrowserSession, cast: Cast
) -> None:
    for path, _ in make_drafts(cast):
        with kill_children():
            for address in (f"{path}/draft.pdf", f"{path}/draft.webp"):
                answer = session.get(address)
                assert answer.status_code == 409
                assert "The PDF could not be created. Try again." in visible_text(answer.text)
        assert session.get("/readyz").status_code == 200
        assert session.get(f"{path}/draft.pdf").content.startswith(b"%PDF-")


def test_what_was_sent_has_its_own_pdf_and_no_other(session: BrowserSession, cast: Cast) -> None:
    for path in (
        f"/quotes/{issue_quote(cast, make_quote(cast), deliver='none')['id']}",
        f"/invoices/{issue_invoice(cast)['id']}",
        f"/purchasing/orders/{place_order(cast)['id']}",
    ):
        assert "draft.pdf" not in session.get(path).text
        assert session.get(f"{path}/draft.pdf").status_code == 409


def test_whoever_may_not_read_a_draft_does_not_see_it_printed(server: RunningServer, cast: Cast) -> None:
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        for path, _ in make_drafts(cast):
            assert sign_in_new_person(server, cast, role).get(f"{path}/draft.pdf").status_code in {403, 404}


def test_a_draft_is_looked_at_while_nothing_can_change(session: BrowserSession, cast: Cast) -> None:
    [path, *_] = [path for path, _ in make_drafts(cast)]
    cast.perform(change_subscription, operator_actor(cast.organisation), status="inactive")
    assert session.get(f"{path}/draft.pdf").status_code == 200


def test_the_mail_is_shown_as_it_will_go_with_the_way_to_the_pdf(
    server: RunningServer, session: BrowserSession, cast: Cast
) -> None:
    # Others who share the server mail to others.
    invoice = make_invoice(cast, customerId=make_customer(cast, email="prue@calder.example"))
    path = f"/invoices/{invoice['id']}"
    shown = session.get(f"{path}/send").text
    fields = fields_of(shown)
    assert fields["to"] == "prue@calder.example"
    assert fields["subject"].startswith("Invoice INV-0001 from")
    for expected in ("Hello Calder Property,", "{link}"):
        assert expected in fields["message"]
    assert f'href="{path}/draft.pdf"' in shown
    assert f'src="{path}/draft.webp"' in shown
    picture = session.get(f"{path}/draft.webp")
    assert (picture.headers["content-type"], picture.content[8:12]) == ("image/webp", b"WEBP")
    assert reread_invoice(cast, invoice)["number"] is None
    assert emails_to(server, "prue@calder.example") == []


@pytest.mark.parametrize("operation", ["send-reminder", "credit", "send-statement"])
def test_what_is_sent_of_an_issued_invoice_is_shown_beside_its_email(
    session: BrowserSession, cast: Cast, operation: str
) -> None:
    customer = make_customer(cast, email="ann@calder.example")
    invoice = issue_invoice(cast, make_invoice(cast, customerId=customer))
    line = invoice["lines"][0]["id"]
    path = f"/invoices/{invoice['id']}/{operation}"
    if operation == "send-statement":
        path = f"/customers/{customer}/send-statement"
    typed = {
        "send-reminder": {},
        "credit": {"reason": "Scratched", f"quantity {line}": "0.5"},
        "send-statement": {"from": "01/01/2024", "until": "31/12/2031"},
    }[operation]
    page = session.submit_form(path, **typed).text if typed else session.get(path).text
    [pdf] = set(re.findall(r'<a class="as-pdf" href="([^"]+)"', page))
    [picture] = re.findall(r'<img src="([^"]+)"[^>]* alt="First page of the PDF"', page)
    text = extract_text(session.get(unescape(pdf)).content)
    expected = {
        "send-reminder": ["Invoice", "INV-0001"],
        "credit": ["DRAFT", "Scratched", "INV-0001", "0.5"],
        "send-statement": ["DRAFT", "INV-0001", "1 January 2024"],
    }[operation]
    assert [words for words in expected if words not in text] == []
    assert "CN-0001" not in text
    assert session.get(unescape(picture)).content[8:12] == b"WEBP"
