from io import BytesIO
from pathlib import Path
from typing import Any

import pypdf
import pytest

from billing import an_invoice, credited, issued, paid
from cast import Cast
from evidence import history, mails
from labour import at
from mainstay.business.customers.operations import update_customer
from mainstay.business.invoices.paying import record_payment
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.reporting.statement_sending import get_statement, send_statement
from mainstay.terms.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from mainstay.terms.rights import Role
from quoting import press
from reporting import report, totals
from trade import a_customer

YEAR = {"from": "2026-01-01", "until": "2026-12-31"}


def sent(cast: Cast, customer: str, **given: object) -> dict[str, Any]:
    return cast.perform(send_statement, Role.OFFICE, customerId=customer, **given)


def trading(cast: Cast, **given: object) -> str:
    """A customer with an invoice of 1000 that is overdue, 250 paid of it, and 60 on account."""
    cast.perform(update_organisation, name="Rohr", email="office@rohr.example", bank={"account": "12345678"})
    customer = a_customer(cast, "Calder Property", email="ann@calder.example", **given)
    day = at(cast, "2026-11-01T12:00:00Z")
    invoice = issued(day, an_invoice(day, customerId=customer, dueOn="2026-11-10"))
    paid(at(cast), invoice, "250", reference="Thanks")
    at(cast).perform(record_payment, Role.OFFICE, customerId=customer, amount="60", allocations=[])
    return customer


def text_of(cast: Cast, folder: Path, statement: dict[str, Any]) -> str:
    """What is printed on its PDF, as one reads it."""
    pages = pypdf.PdfReader(BytesIO(press(cast, folder).print(cast.organisation, statement["id"]))).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def test_it_is_emailed_as_a_pdf_with_each_entry_and_what_is_owed(cast: Cast, tmp_path: Path) -> None:
    customer = trading(cast)
    today = at(cast)
    bystander = issued(today)
    statement = sent(today, customer, confirmed=True)
    told = ("broughtForward", "charged", "paid", "balance", "overdue")
    assert [statement[name] for name in told] == ["0.00", "1000.00", "310.00", "690.00", "750.00"]
    assert (statement["from"], statement["until"], statement["language"]) == ("2026-01-01", "2026-11-16", "en")
    [mail] = mails(cast)
    assert (mail["to"], mail["subject"]) == ("ann@calder.example", "Statement of account from Rohr")
    assert (mail["paper"], mail["paper_name"]) == (statement["id"], "Statement of account 2026-11-16.pdf")
    assert "The balance is £690.00; £750.00 of it is overdue." in mail["text"]
    printed = text_of(cast, tmp_path, statement)
    for words in ("Statement of account", "INV-0001", "Thanks", "Balance (GBP) 690.00", "Of which overdue 750.00"):
        assert words in printed
    assert bystander["number"] not in printed
    assert "12345678" in printed
    assert "send_statement" in history(cast, customer)
    # What the report says, it says.
    assert totals(report(today, "statement", customerId=customer, **YEAR), "balance") == {"balance": "690.00"}


def test_it_is_in_the_customer_s_language(cast: Cast, tmp_path: Path) -> None:
    statement = sent(at(cast), trading(cast, language="de"), confirmed=True)
    assert mails(cast)[0]["subject"] == "Kontoauszug von Rohr"
    printed = text_of(cast, tmp_path, statement)
    assert "Saldovortrag" in printed
    assert "Davon überfällig 750,00" in printed or "Davon überfällig 750.00" in printed


def test_the_preview_says_what_would_be_sent_and_sends_nothing(cast: Cast) -> None:
    customer = trading(cast)
    preview = sent(at(cast), customer)
    said = "is sent a statement of account from 2026-01-01 until 2026-11-16: the balance is 690.00 GBP."
    assert preview["summary"] == f"Calder Property {said}"
    assert preview["effects"][0] == "It is mailed to ann@calder.example: Statement of account from Rohr"
    assert (preview["blockers"], mails(cast)) == ([], [])


def test_what_was_before_is_brought_forward_and_it_stays_as_it_was(cast: Cast, tmp_path: Path) -> None:
    customer = trading(cast)
    statement = sent(at(cast), customer, **{"from": "2026-11-10"}, deliver="none", confirmed=True)
    told = ("broughtForward", "charged", "paid", "balance")
    assert [statement[name] for name in told] == ["1000.00", "0.00", "310.00", "690.00"]
    assert mails(cast) == []
    cast.perform(update_customer, customerId=customer, name="Renamed")
    assert "Calder Property" in text_of(cast, tmp_path, statement)
    assert cast.perform(get_statement, Role.OFFICE, statementId=statement["id"])["balance"] == "690.00"


def test_nothing_to_state_nobody_to_send_it_to_and_wrong_dates_are_refused(cast: Cast) -> None:
    silent = a_customer(cast, "Zoe")
    [nothing, nobody] = sent(at(cast), silent)["blockers"]
    assert nothing.startswith("Nothing was charged to Zoe or paid by them between the dates")
    assert nobody.startswith("There is no address to mail it to.")
    with pytest.raises(Blocked):
        sent(at(cast), silent, confirmed=True)
    with pytest.raises(Invalid, match=r"^until: is before the first date$"):
        sent(at(cast), silent, **{"from": "2026-02-01", "until": "2026-01-01"})


def test_a_balance_that_is_paid_asks_for_nothing(cast: Cast, tmp_path: Path) -> None:
    customer = a_customer(cast, email="ann@calder.example")
    day = at(cast)
    credited(day, issued(day, an_invoice(day, customerId=customer)))
    statement = sent(day, customer, confirmed=True)
    assert (statement["balance"], statement["overdue"]) == ("0.00", "0.00")
    assert "Balance to pay" not in text_of(cast, tmp_path, statement)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_send_none(cast: Cast, role: Role) -> None:
    customer = trading(cast)
    with pytest.raises(Forbidden):
        cast.perform(send_statement, role, customerId=customer, confirmed=True)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, stranger: Cast) -> None:
    customer = trading(cast)
    with pytest.raises(NotFound):
        sent(stranger, customer, confirmed=True)
    cast.lapse()
    with pytest.raises(Lapsed):
        sent(cast, customer, confirmed=True)
