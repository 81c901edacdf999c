"""The report on what customers owe, by age."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import NamedTuple

from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.reporting.inputs import ReportQuery
from mainstay.business.reporting.model import CellValue, RecordsBehind, ReportTable, make_column, make_table
from mainstay.kernel.context import Context
from mainstay.values.message import Message

_COLUMNS = (
    make_column("customerId", "Customer ID", "id"),
    make_column("customer", "Customer", "text"),
    make_column("notDue", "Not yet due", "money"),
    make_column("late1To30", "1\N{EN DASH}30 days overdue", "money"),
    make_column("late31To60", "31\N{EN DASH}60 days overdue", "money"),
    make_column("late61To90", "61\N{EN DASH}90 days overdue", "money"),
    make_column("lateOver90", "Over 90 days overdue", "money"),
    make_column("open", "Unpaid", "money"),
    make_column("onAccount", "On account", "money"),
    make_column("balance", "Balance", "money"),
)
# The oldest due date in each column, in days before today. The last column has none.
_AGE_LIMITS = {"due_from": 0, "month": 30, "two_months": 60, "three_months": 90}
_NOTHING_OPEN = (0,) * (len(_AGE_LIMITS) + 1)


class CustomerBalance(NamedTuple):
    """The balance of a customer: the open amounts by age, beginning with what is not due, and the amount on account."""

    name: str
    by_age: Sequence[int] = _NOTHING_OPEN
    on_account: int = 0

    @property
    def open(self) -> int:
        """The open amount of all invoices."""
        return sum(self.by_age)

    @property
    def overdue(self) -> int:
        """The overdue part of it."""
        return sum(self.by_age[1:])

    @property
    def balance(self) -> int:
        """The open amount without the amount on account."""
        return self.open - self.on_account


def report_receivables(ctx: Context, query: ReportQuery) -> ReportTable:
    """Build the report on what each customer owes today, largest debts first."""
    balances = sorted(
        find_balances(ctx, query.today, query.customer).items(), key=lambda balance: (-balance[1].open, balance[1].name)
    )
    table = make_table(_COLUMNS, [_to_row(customer, balance) for customer, balance in balances], _NOTES)
    behind = RecordsBehind(
        operation=list_invoices.name, given={"status": "unpaid"}, columns={"customerId": "customerId"}
    )
    return replace(table, behind=behind, columns_behind=_find_invoices_by_age(query))


def _find_invoices_by_age(query: ReportQuery) -> dict[str, RecordsBehind]:
    """Return the invoices of each age, by column."""
    customer = {"customerId": query.customer} if query.customer else {}

    def to_day(days: int) -> str:
        return (query.today - timedelta(days=days)).isoformat()

    ages = {
        "notDue": {"dueFrom": to_day(0)},
        "late1To30": {"dueFrom": to_day(30), "dueUntil": to_day(1)},
        "late31To60": {"dueFrom": to_day(60), "dueUntil": to_day(31)},
        "late61To90": {"dueFrom": to_day(90), "dueUntil": to_day(61)},
        "lateOver90": {"dueUntil": to_day(91)},
    }
    return {
        column: RecordsBehind(operation=list_invoices.name, given={"status": "unpaid", **customer, **due}, columns={})
        for column, due in ages.items()
    }


def find_balances(ctx: Context, today: date, customer: str | None = None) -> dict[str, CustomerBalance]:
    """Return the balances of all customers, or of this one, by id.

    Customers who owe nothing and have nothing on account are left out.
    """
    customer_condition, parameters = (" AND customer_id = :customer", {"customer": customer}) if customer else ("", {})
    # For one customer, the expression keeps the engine from searching everyone's payments by status.
    status = "(status || '')" if customer else "status"
    limits = {name: (today - timedelta(days=days)).isoformat() for name, days in _AGE_LIMITS.items()}
    balances = {
        str(customer_id): CustomerBalance(str(name), [int(amount or 0) for amount in by_age])
        for customer_id, name, *by_age in ctx.db.all(_SELECT_OPEN.format(of=customer_condition), **limits, **parameters)
    }
    for customer_id, name, unallocated in ctx.db.all(
        _SELECT_ON_ACCOUNT.format(status=status, of=customer_condition), **parameters
    ):
        balance = balances.get(str(customer_id), CustomerBalance(str(name)))
        balances[str(customer_id)] = balance._replace(on_account=int(unallocated or 0))
    return balances


_NOTES = (
    Message("As of today. On account: payments not yet allocated to an invoice. Balance: unpaid minus on account."),
)
_NAME = (
    "(SELECT customer.name FROM customer WHERE customer.organisation_id = :organisation AND customer.id = customer_id)"
)
_LATE_COLUMN = "CAST(sum(CASE WHEN due_on < :{} AND due_on >= :{} THEN due ELSE 0 END) AS bigint)"
_SELECT_OPEN = (
    f"SELECT customer_id, {_NAME},"
    " CAST(sum(CASE WHEN due_on >= :due_from THEN due ELSE 0 END) AS bigint),"
    f" {_LATE_COLUMN.format('due_from', 'month')}, {_LATE_COLUMN.format('month', 'two_months')},"
    f" {_LATE_COLUMN.format('two_months', 'three_months')},"
    " CAST(sum(CASE WHEN due_on < :three_months THEN due ELSE 0 END) AS bigint)"
    " FROM invoice WHERE organisation_id = :organisation AND owing = 1{of} GROUP BY customer_id"
)
_SELECT_ON_ACCOUNT = (
    f"SELECT customer_id, {_NAME}, CAST(sum(unallocated) AS bigint) FROM payment"
    " WHERE organisation_id = :organisation AND unallocated > 0 AND {status} = 'recorded'{of} GROUP BY customer_id"
)


def _to_row(customer: str, balance: CustomerBalance) -> list[CellValue]:
    return [customer, balance.name, *balance.by_age, balance.open, balance.on_account, balance.balance]
