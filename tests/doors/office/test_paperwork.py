"""Settings, Money: what stands on quotes and invoices, and the books, is told, asked for and kept in one place."""

import re
from typing import Any

import pytest

from doors.office.test_customers import extract_main
from doors.office.test_quotes import fields_of
from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.organisation.settings import get_settings, update_settings
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.images import draw_image
from support.issued_invoices import insert_invoice
from support.prices import make_tax_rate
from support.servers import RunningServer
from support.uploads import upload_logo

PAGE = "/settings/documents"
EDIT = f"{PAGE}/edit"
BANK = {"bank.name": "Calder Bank", "bank.iban": "gb82 west 1234 5698 7654 32", "bank.bic": "WESTGB2L"}
BANK_MISSING = "Your invoices don't say how to pay you."


def read_page(session: BrowserSession, path: str = PAGE) -> str:
    return visible_text(extract_main(session.get(path).text))


def save_settings(session: BrowserSession, **fields: str) -> Any:
    """Send the form as it stands, with these answers."""
    page = session.get(EDIT).text
    return session.post(EDIT, fields_of(page.partition('<form method="post">')[2]) | fields)


def test_all_of_it_is_asked_for_in_one_form_where_one_is_paid_first(server: RunningServer, cast: Cast) -> None:
    form = extract_main(sign_in_new_person(server, cast).get(EDIT).text)
    field_names = list(dict.fromkeys(name.partition(".")[0] for name in re.findall(r' name="([A-Za-z.]+)"', form)))
    assert field_names == [
        *("csrf", "once", "version", "shown", "bank", "eInvoiceAddress", "paymentTermsDays", "invoiceNotes"),
        *("quoteValidDays", "quoteTerms", "language", "pricesIncludeTax", "invoiceNumbers", "creditNoteNumbers"),
        *("quoteNumbers", "booksClosedUntil", "materialsMarkupPercent"),
    ]


def test_the_books_are_closed_where_one_looks_for_money(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.ADMIN)
    assert "Books closed up to Not closed Markup on materials 0%" in read_page(session)
    assert re.search(rf'<a href="{PAGE}"[^>]*>Money</a>', session.get("/settings").text)
    session.follow_redirect(save_settings(session, booksClosedUntil="2026-01-31", materialsMarkupPercent="15"))
    assert "Books closed up to 31 Jan 2026 Markup on materials 15%" in read_page(session)
    settings = cast.perform(get_settings)
    assert (settings["booksClosedUntil"], settings["materialsMarkupPercent"]) == ("2026-01-31", 15)
    # What is not on this form stays.
    assert settings["workingHours"] is not None
    session.follow_redirect(save_settings(session, booksClosedUntil=""))
    assert cast.perform(get_settings)["booksClosedUntil"] is None


def test_what_is_saved_is_kept_and_told(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.ADMIN)
    assert BANK_MISSING in read_page(session)
    fields = BANK | {"paymentTermsDays": "30", "invoiceNotes": "Thank you.", "invoiceNumbers.prefix": "R-"}
    answer = save_settings(
        session, **fields, **{"eInvoiceAddress.scheme": "0088", "eInvoiceAddress.id": "5060012349998"}
    )
    assert answer.headers["Location"] == f"{PAGE}?done=update_organisation"
    text = read_page(session, answer.headers["Location"])
    assert "Settings saved." in text
    assert "Bank details Calder Bank IBAN GB82 WEST 1234 5698 7654 32 BIC WESTGB2L" in text
    assert "E-invoice address 0088:5060012349998" in text
    assert "Payment terms (days) 30 Text on invoices Thank you." in text
    assert "Invoice numbers Next: R-0001 Credit note numbers Next: CN-0001" in text
    assert BANK_MISSING not in text
    organisation, settings = cast.perform(get_organisation), cast.perform(get_settings)
    assert organisation["bank"]["iban"] == "GB82WEST12345698765432"
    assert organisation["eInvoiceAddress"] == {"scheme": "0088", "id": "5060012349998"}
    assert (settings["paymentTermsDays"], settings["quoteValidDays"]) == (30, 30)


def test_saving_what_was_not_changed_changes_nothing(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_organisation, bank={"account": "12345678"}, quoteTerms="Ours.", pricesIncludeTax=True)
    before = cast.perform(get_organisation), cast.perform(get_settings)
    assert save_settings(sign_in_new_person(server, cast)).status_code == 303
    assert (cast.perform(get_organisation), cast.perform(get_settings)) == before


def test_a_bank_without_a_word_in_it_is_none(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_organisation, bank={"account": "12345678"})
    save_settings(sign_in_new_person(server, cast), **{"bank.account": " "})
    assert cast.perform(get_organisation)["bank"] is None


def test_what_is_wrong_is_told_beside_its_field(server: RunningServer, cast: Cast) -> None:
    insert_invoice(cast)
    session = sign_in_new_person(server, cast)
    wrong = save_settings(session, **{"bank.iban": "GB82WEST12345698765433", "paymentTermsDays": "366"})
    assert wrong.status_code == 422
    text = visible_text(extract_main(wrong.text))
    assert text.count("IBAN is not valid; check its letters and digits.") == 2
    assert text.count("Payment terms (days) must be 365 or less.") == 2
    assert 'value="GB82WEST12345698765433"' in wrong.text
    gap = save_settings(session, **{"invoiceNumbers.next": "9"})
    assert visible_text(extract_main(gap.text)).count("Next must stay 1, because these numbers have no gaps") == 2


def test_what_someone_else_changed_meanwhile_is_not_overwritten(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    page = session.get(EDIT).text
    cast.perform(update_settings, invoiceNotes="Theirs.")
    fields = fields_of(page.partition('<form method="post">')[2])
    assert session.post(EDIT, fields | {"invoiceNotes": "Mine."}).status_code == 409
    assert cast.perform(get_settings)["invoiceNotes"] == "Theirs."


def test_the_ways_to_all_that_stands_on_a_document_are_there(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    ways = re.findall(r'<a class="panel" href="([^"]+)"', session.get(PAGE).text)
    assert ways == ["/settings", "/settings", "/settings/taxes", "/settings/mail-texts"]
    assert {session.get(path).status_code for path in ways} == {200}
    text = read_page(session)
    for missing in ("No address yet.", "Logo No logo yet.", "Taxes No tax rates yet"):
        assert missing in text
    assert "Email templates Standard texts, in each customer's language." in text
    for name in ("Exempt", "Reverse charge", "VAT 5 %"):
        make_tax_rate(cast, name, isDefault=False)
    make_tax_rate(cast, "VAT 20 %", isDefault=True)
    cast.perform(update_organisation, legalName="Beam Ltd", address={"line1": "Yard 4"})
    cast.perform(update_settings, mailTexts={"reminder": {"subject": "x", "text": "y"}})
    upload_logo(session, draw_image("PNG", (20, 20)))
    text = read_page(session)
    for there in (
        "Beam Ltd, Yard 4",
        "Logo Appears on every document.",
        "Taxes VAT 20 %, VAT 5 %, Reverse charge, Exempt",
        "Your own text for: Reminder",
    ):
        assert there in text


def test_a_logo_is_set_from_here_too(server: RunningServer, cast: Cast) -> None:
    page = sign_in_new_person(server, cast).get(PAGE).text
    assert f'href="{PAGE}/set-logo"' in page
    assert 'name="logo"' in sign_in_new_person(server, cast).get(f"{PAGE}/set-logo").text


def test_other_pages_of_the_settings_ask_for_nothing_of_it(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    for path in ("/settings/edit", "/settings/work-rules/edit"):
        names = set(re.findall(r' name="([A-Za-z]+)', extract_main(session.get(path).text)))
        assert names & {"bank", "eInvoiceAddress", "invoiceNumbers", "quoteTerms", "language", "mailTexts"} == set()
        assert names & {"booksClosedUntil", "materialsMarkupPercent"} == set()


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_finds_no_way_here(server: RunningServer, cast: Cast, role: Role) -> None:
    session = sign_in_new_person(server, cast, role)
    assert session.get(PAGE).status_code == 403
    assert PAGE not in session.get("/settings").text


def test_the_office_reads_and_does_not_change(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_organisation, bank={"account": "12345678"})
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = session.get(PAGE).text
    assert "Account 12345678" in visible_text(page)
    assert EDIT not in page
    assert session.get(EDIT).status_code == 403


def test_what_people_wrote_is_text_and_no_page(server: RunningServer, cast: Cast) -> None:
    nasty = "<script>alert(1)</script>"
    cast.perform(update_organisation, bank={"name": nasty, "account": nasty}, invoiceNotes=nasty, legalName=nasty)
    for path in (PAGE, EDIT):
        assert nasty not in sign_in_new_person(server, cast).get(path).text
