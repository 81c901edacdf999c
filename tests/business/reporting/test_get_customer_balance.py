from collections.abc import Callable
from dataclasses import replace

import pytest

from billing import an_invoice, credited, issued, paid, voided
from cast import Cast
from labour import at
from mainstay.business.invoices.paying import record_payment
from mainstay.business.reporting.balance import get_customer_balance
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Forbidden, NotFound
from mainstay.terms.rights import Role
from months import reverse, trade_for_months
from planning import plan, read_whole
from recording import RecordingDatabase
from reporting import Row, report, rows
from trade import a_customer, a_job

SUMS = ("open", "overdue", "onAccount", "balance")
NOTHING = dict.fromkeys(SUMS, "0.00")


def told(cast: Cast, customer: str) -> Row:
    return cast.perform(get_customer_balance, Role.OFFICE, customerId=customer)


def owed(cast: Cast, customer: str, price: str, due: str) -> None:
    """An invoice that is due on a day, issued on the first of the month."""
    day = at(cast, "2026-11-01T12:00:00Z")
    lines = [{"description": "Work", "unitPrice": price}]
    issued(day, an_invoice(day, customerId=customer, lines=lines, dueOn=due))


def test_it_is_what_is_open_less_what_is_on_account_and_what_is_late(cast: Cast) -> None:
    customer = a_customer(cast)
    owed(cast, customer, "100", "2026-11-15")
    owed(cast, customer, "20", "2026-11-16")
    owed(cast, a_customer(cast, "Another"), "7", "2026-11-02")
    today = at(cast)
    today.perform(record_payment, Role.OFFICE, customerId=customer, amount="30.50", allocations=[])
    assert told(today, customer) == {
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
    assert told(at(cast, "2026-11-17T00:00:00Z"), customer)["overdue"] == "120.00"


def test_it_is_what_receivables_tell(cast: Cast) -> None:
    customers = trade_for_months(cast)
    today = at(cast)
    listed = {row["customerId"]: row for row in rows(report(today, "receivables"))}
    assert set(listed) == {*customers}
    for customer in customers:
        row, found = listed[customer], told(today, customer)
        assert [found[name] for name in ("open", "onAccount", "balance")] == [
            row["open"],
            row["onAccount"],
            row["balance"],
        ]


def test_until_something_is_invoiced_or_paid_there_is_no_entry(cast: Cast) -> None:
    customer = a_customer(cast)
    draft = an_invoice(cast, customerId=customer)
    found = told(cast, customer)
    assert found == found | NOTHING | {"hasEntries": False}
    issued(cast, draft)
    assert told(cast, customer)["hasEntries"]


@pytest.mark.parametrize("ended", [paid, voided, credited])
def test_who_owes_nothing_any_more_has_had_entries(cast: Cast, ended: Callable[[Cast, Row], Row]) -> None:
    invoice = issued(cast)
    ended(cast, invoice)
    found = told(cast, invoice["customerId"])
    assert found == found | NOTHING | {"hasEntries": True}


def test_a_payment_alone_is_an_entry_also_when_it_is_reversed(cast: Cast) -> None:
    customer = a_customer(cast)
    payment = cast.perform(record_payment, Role.OFFICE, customerId=customer, amount="5")
    assert told(cast, customer)["balance"] == "-5.00"
    reverse(cast, payment)
    found = told(cast, customer)
    assert found == found | NOTHING | {"hasEntries": True}


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_nobody_in_the_field_is_told_also_of_those_they_work_for(cast: Cast, role: Role) -> None:
    customer = a_customer(cast)
    a_job(cast, customer, role)
    with pytest.raises(Forbidden):
        cast.perform(get_customer_balance, role, customerId=customer)


def test_nobody_is_told_of_another_organisation_s(cast: Cast, stranger: Cast) -> None:
    with pytest.raises(NotFound):
        told(cast, a_customer(stranger))


def test_it_is_a_tool() -> None:
    assert Door.AGENT in get_customer_balance.offered


def test_it_looks_only_at_what_the_customer_has(cast: Cast) -> None:
    customer = a_customer(cast)
    database = RecordingDatabase(cast.stage.database)
    told(replace(cast, stage=replace(cast.stage, database=database)), customer)
    looked = [one for one in database.statements if " FROM invoice " in one.sql or " FROM payment " in one.sql]
    assert len(looked) == 4
    for statement in looked:
        steps = plan(cast.stage.database, statement)
        assert not read_whole(steps), "\n".join([statement.sql, *steps])
        if database.engine == "sqlite":
            assert "(organisation_id=? AND customer_id=?)" in steps[0]
