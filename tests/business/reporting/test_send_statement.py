from io import BytesIO
from pathlib import Path
from typing import Any

import pypdf
import pytest

from mainstay.business.customers.operations import update_customer
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.reporting.statement_sending import get_statement, send_statement
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice
from support.quotes import open_document_files
from support.reports import name_totals, perform_report
from support.stored_state import operations_on, waiting_emails

YEAR = {"from": "2026-01-01", "until": "2026-12-31"}


def send_to_customer(cast: Cast, customer: str, **given: object) -> dict[str, Any]:
    return cast.perform(send_statement, Role.OFFICE, customerId=customer, **given)


def make_trading_customer(cast: Cast, **given: object) -> str:
    """Create a customer with an overdue invoice of 1000, 250 of it paid, and 60 on account."""
    cast.perform(update_organisation, name="Rohr", email="office@rohr.example", bank={"account": "12345678"})
    customer = make_customer(cast, "Calder Property", email="ann@calder.example", **given)
    day = cast_at(cast, "2026-11-01T12:00:00Z")
    invoice = issue_invoice(day, make_invoice(day, customerId=customer, dueOn="2026-11-10"))
    pay_invoice(cast_at(cast), invoice, "250", reference="Thanks")
    cast_at(cast).perform(record_payment, Role.OFFICE, customerId=customer, amount="60", allocations=[])
    return customer


def read_pdf_text(cast: Cast, folder: Path, statement: dict[str, Any]) -> str:
    """Return the text of the statement's PDF."""
    pages = pypdf.PdfReader(
        BytesIO(open_document_files(cast, folder).fetch_file(cast.organisation, statement["id"]))
    ).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def test_it_is_emailed_as_a_pdf_with_each_entry_and_what_is_owed(cast: Cast, tmp_path: Path) -> None:
    customer = make_trading_customer(cast)
    today = cast_at(cast)
    bystander = issue_invoice(today)
    statement = send_to_customer(today, customer, confirmed=True)
    result = ("broughtForward", "charged", "paid", "balance", "overdue")
    assert [statement[name] for name in result] == ["0.00", "1000.00", "310.00", "690.00", "750.00"]
    assert (statement["from"], statement["until"], statement["language"]) == ("2026-01-01", "2026-11-16", "en")
    [mail] = waiting_emails(cast)
    assert (mail["to"], mail["subject"]) == ("ann@calder.example", "Statement of account from Rohr")
    assert (mail["paper"], mail["paper_name"]) == (statement["id"], "Statement of account 2026-11-16.pdf")
    assert "The balance is £690.00, of which £750.00 is overdue." in mail["text"]
    printed = read_pdf_text(cast, tmp_path, statement)
    for words in ("Statement of account", "INV-0001", "Thanks", "Balance (GBP) 690.00", "Of which overdue 750.00"):
        assert words in printed
    assert bystander["number"] not in printed
    assert "12345678" in printed
    assert "send_statement" in operations_on(cast, customer)
    # What the report says, it says.
    assert name_totals(perform_report(today, "statement", customerId=customer, **YEAR), "balance") == {
        "balance": "690.00"
    }


def test_it_is_in_the_customer_s_language(cast: Cast, tmp_path: Path) -> None:
    statement = send_to_customer(cast_at(cast), make_trading_customer(cast, language="de"), confirmed=True)
    assert waiting_emails(cast)[0]["subject"] == "Kontoauszug von Rohr"
    printed = read_pdf_text(cast, tmp_path, statement)
    assert "Saldovortrag" in printed
    assert "Davon überfällig 750,00" in printed or "Davon überfällig 750.00" in printed


def test_the_preview_says_what_would_be_sent_and_sends_nothing(cast: Cast) -> None:
    customer = make_trading_customer(cast)
    preview = send_to_customer(cast_at(cast), customer)
    effect = "will get a statement of account from 2026-01-01 to 2026-11-16. Balance: 690.00 GBP."
    assert preview["summary"] == f"Calder Property {effect}"
    assert preview["effects"][0] == "Email to ann@calder.example: Statement of account from Rohr"
    assert (preview["blockers"], waiting_emails(cast)) == ([], [])


def test_what_was_before_is_brought_forward_and_it_stays_as_it_was(cast: Cast, tmp_path: Path) -> None:
    customer = make_trading_customer(cast)
    statement = send_to_customer(cast_at(cast), customer, **{"from": "2026-11-10"}, deliver="none", confirmed=True)
    result = ("broughtForward", "charged", "paid", "balance")
    assert [statement[name] for name in result] == ["1000.00", "0.00", "310.00", "690.00"]
    assert waiting_emails(cast) == []
    cast.perform(update_customer, customerId=customer, name="Renamed")
    assert "Calder Property" in read_pdf_text(cast, tmp_path, statement)
    assert cast.perform(get_statement, Role.OFFICE, statementId=statement["id"])["balance"] == "690.00"


def test_nothing_to_state_nobody_to_send_it_to_and_wrong_dates_are_refused(cast: Cast) -> None:
    silent = make_customer(cast, "Zoe")
    [nothing, nobody] = send_to_customer(cast_at(cast), silent)["blockers"]
    assert nothing.startswith("Zoe has no invoices or payments between these dates")
    assert nobody.startswith("Zoe has no email address.")
    with pytest.raises(Blocked):
        send_to_customer(cast_at(cast), silent, confirmed=True)
    with pytest.raises(Invalid, match=r"^until: is before the first date$"):
        send_to_customer(cast_at(cast), silent, **{"from": "2026-02-01", "until": "2026-01-01"})


def test_a_balance_that_is_paid_asks_for_nothing(cast: Cast, tmp_path: Path) -> None:
    customer = make_customer(cast, email="ann@calder.example")
    day = cast_at(cast)
    credit_issued(day, issue_invoice(day, make_invoice(day, customerId=customer)))
    statement = send_to_customer(day, customer, confirmed=True)
    assert (statement["balance"], statement["overdue"]) == ("0.00", "0.00")
    assert "Balance to pay" not in read_pdf_text(cast, tmp_path, statement)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_send_none(cast: Cast, role: Role) -> None:
    customer = make_trading_customer(cast)
    with pytest.raises(Forbidden):
        cast.perform(send_statement, role, customerId=customer, confirmed=True)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    customer = make_trading_customer(cast)
    with pytest.raises(NotFound):
        send_to_customer(other_cast, customer, confirmed=True)
    cast.lapse()
    with pytest.raises(Lapsed):
        send_to_customer(cast, customer, confirmed=True)
