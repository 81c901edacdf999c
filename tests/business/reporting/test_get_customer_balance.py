from collections.abc import Callable
from dataclasses import replace

import pytest

from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.reporting.balance import get_customer_balance
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import cast_at
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, void_issued
from support.query_plans import explain, find_full_scans
from support.random_documents import reverse_bounced, trade_for_months
from support.recorded_statements import RecordingDatabase
from support.reports import ReportRow, name_rows, perform_report

SUMS = ("open", "overdue", "onAccount", "balance")
NOTHING = dict.fromkeys(SUMS, "0.00")


def get_balance(cast: Cast, customer: str) -> ReportRow:
    return cast.perform(get_customer_balance, Role.OFFICE, customerId=customer)


def issue_due_on(cast: Cast, customer: str, price: str, due: str) -> None:
    """Issue an invoice on the first of the month that is due on a given day."""
    day = cast_at(cast, "2026-11-01T12:00:00Z")
    lines = [{"description": "Work", "unitPrice": price}]
    issue_invoice(day, make_invoice(day, customerId=customer, lines=lines, dueOn=due))


def test_it_is_what_is_open_less_what_is_on_account_and_what_is_late(cast: Cast) -> None:
    customer = make_customer(cast)
    issue_due_on(cast, customer, "100", "2026-11-15")
    issue_due_on(cast, customer, "20", "2026-11-16")
    issue_due_on(cast, make_customer(cast, "Another"), "7", "2026-11-02")
    today = cast_at(cast)
    today.perform(record_payment, Role.OFFICE, customerId=customer, amount="30.50", allocations=[])
    assert get_balance(today, customer) == {
        "object": "customerBalance",
        "id": customer,
        "customerName": "Calder Property",
        "currency": "GBP",
        "open": "120.00",
        "overdue": "100.00",
        "onAccount": "30.50",
        "balance": "89.50",
        "hasEntries": True,
    }
    assert get_balance(cast_at(cast, "2026-11-17T00:00:00Z"), customer)["overdue"] == "120.00"


def test_it_is_what_receivables_tell(cast: Cast) -> None:
    customers = trade_for_months(cast)
    today = cast_at(cast)
    listed = {row["customerId"]: row for row in name_rows(perform_report(today, "receivables"))}
    assert set(listed) == {*customers}
    for customer in customers:
        row, found = listed[customer], get_balance(today, customer)
        assert [found[name] for name in ("open", "onAccount", "balance")] == [
            row["open"],
            row["onAccount"],
            row["balance"],
        ]


def test_until_something_is_invoiced_or_paid_there_is_no_entry(cast: Cast) -> None:
    customer = make_customer(cast)
    draft = make_invoice(cast, customerId=customer)
    found = get_balance(cast, customer)
    assert found == found | NOTHING | {"hasEntries": False}
    issue_invoice(cast, draft)
    assert get_balance(cast, customer)["hasEntries"]


@pytest.mark.parametrize("ended", [pay_invoice, void_issued, credit_issued])
def test_who_owes_nothing_any_more_has_had_entries(cast: Cast, ended: Callable[[Cast, ReportRow], ReportRow]) -> None:
    invoice = issue_invoice(cast)
    ended(cast, invoice)
    found = get_balance(cast, invoice["customerId"])
    assert found == found | NOTHING | {"hasEntries": True}


def test_a_payment_alone_is_an_entry_also_when_it_is_reversed(cast: Cast) -> None:
    customer = make_customer(cast)
    payment = cast.perform(record_payment, Role.OFFICE, customerId=customer, amount="5")
    assert get_balance(cast, customer)["balance"] == "-5.00"
    reverse_bounced(cast, payment)
    found = get_balance(cast, customer)
    assert found == found | NOTHING | {"hasEntries": True}


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_nobody_in_the_field_is_told_also_of_those_they_work_for(cast: Cast, role: Role) -> None:
    customer = make_customer(cast)
    make_job(cast, customer, role)
    with pytest.raises(Forbidden):
        cast.perform(get_customer_balance, role, customerId=customer)


def test_nobody_is_told_of_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        get_balance(cast, make_customer(other_cast))


def test_it_is_a_tool() -> None:
    assert Door.AGENT in get_customer_balance.doors


def test_it_looks_only_at_what_the_customer_has(cast: Cast) -> None:
    customer = make_customer(cast)
    database = RecordingDatabase(cast.performer.database)
    get_balance(replace(cast, performer=replace(cast.performer, database=database)), customer)
    looked = [one for one in database.statements if " FROM invoice " in one.sql or " FROM payment " in one.sql]
    assert len(looked) == 4
    for statement in looked:
        steps = explain(cast.performer.database, statement)
        assert not find_full_scans(steps), "\n".join([statement.sql, *steps])
        if database.engine == "sqlite":
            assert "(organisation_id=? AND customer_id=?)" in steps[0]
