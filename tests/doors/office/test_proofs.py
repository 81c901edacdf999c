"""Before something is sent: the mail as it will go, and the PDF of the draft, stamped and kept nowhere."""

from io import BytesIO
from typing import Any

import pypdf
import pytest

from billing import an_invoice, issued, now
from cast import Cast
from doors.office.test_quotes import fields_of
from mainstay.business.organisation.operations import change_subscription
from mainstay.terms.actor import operator
from mainstay.terms.rights import Role
from ordering import an_order, ordered
from quoting import a_draft, sent
from running import RunningServer
from trade import a_customer
from visiting import Visit, mails_to, visit, words


@pytest.fixture
def visiting(server: RunningServer, cast: Cast) -> Visit:
    return visit(server, cast, Role.OFFICE)


def read(pdf: bytes) -> str:
    return " ".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(pdf)).pages)


def is_kept(server: RunningServer, content: bytes) -> bool:
    """Whether a file is among those that are kept, whatever else is printed at the same time."""
    return any(path.read_bytes() == content for path in (server.settings.data / "files").rglob("*") if path.is_file())


def drafts(cast: Cast) -> list[tuple[str, dict[str, Any]]]:
    """One of each kind, with the address of its page."""
    quote, invoice, order = a_draft(cast), an_invoice(cast), an_order(cast)
    return [
        (f"/quotes/{quote['id']}", quote),
        (f"/invoices/{invoice['id']}", invoice),
        (f"/purchasing/orders/{order['id']}", order),
    ]


def test_a_draft_is_seen_as_it_would_be_printed_and_nothing_of_it_stays(
    server: RunningServer, visiting: Visit, cast: Cast
) -> None:
    for path, draft in drafts(cast):
        assert f'href="{path}/draft.pdf"' in visiting.get(path).text
        printed = visiting.get(f"{path}/draft.pdf")
        assert (printed.status_code, printed.headers["content-type"]) == (200, "application/pdf")
        assert printed.headers["cache-control"] == "no-store"
        told = read(printed.content)
        assert "DRAFT" in told
        assert draft["lines"][0]["description"] in told
        assert "INV-" not in told
        assert (draft["number"] or "") in told
        assert not is_kept(server, printed.content)
    assert issued(cast)["number"] == "INV-0001"


def test_what_was_sent_has_its_own_pdf_and_no_other(visiting: Visit, cast: Cast) -> None:
    for path in (
        f"/quotes/{sent(cast, a_draft(cast), deliver='none')['id']}",
        f"/invoices/{issued(cast)['id']}",
        f"/purchasing/orders/{ordered(cast)['id']}",
    ):
        assert "draft.pdf" not in visiting.get(path).text
        assert visiting.get(f"{path}/draft.pdf").status_code == 409


def test_whoever_may_not_read_a_draft_does_not_see_it_printed(server: RunningServer, cast: Cast) -> None:
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        for path, _ in drafts(cast):
            assert visit(server, cast, role).get(f"{path}/draft.pdf").status_code in {403, 404}


def test_a_draft_is_looked_at_while_nothing_can_change(visiting: Visit, cast: Cast) -> None:
    [path, *_] = [path for path, _ in drafts(cast)]
    cast.perform(change_subscription, operator(cast.organisation), status="inactive")
    assert visiting.get(f"{path}/draft.pdf").status_code == 200


def test_the_mail_is_shown_as_it_will_go_with_the_way_to_the_pdf(
    server: RunningServer, visiting: Visit, cast: Cast
) -> None:
    # Others who share the server mail to others.
    invoice = an_invoice(cast, customerId=a_customer(cast, email="prue@calder.example"))
    path = f"/invoices/{invoice['id']}"
    form = visiting.get(f"{path}/send").text
    assert f'href="{path}/draft.pdf"' in form
    shown = visiting.post(f"{path}/send", fields_of(form)).text
    for told in ("It is mailed to prue@calder.example: Invoice INV-0001 from", "Hello Calder Property,", "[link]"):
        assert told in words(shown)
    assert f'href="{path}/draft.pdf"' in shown
    assert now(cast, invoice)["number"] is None
    assert mails_to(server, "prue@calder.example") == []
