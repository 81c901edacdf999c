"""What customers owe, by how late it is."""

from datetime import date, timedelta
from typing import NamedTuple

from mainstay.business.reporting.asked import Asked
from mainstay.business.reporting.model import Cell, Table, column, table
from mainstay.kernel.context import Context

_COLUMNS = (
    column("customerId", "Customer's id", "id"),
    column("customer", "Customer", "text"),
    column("notDue", "Not due", "money"),
    column("late1To30", "1\N{EN DASH}30 days late", "money"),
    column("late31To60", "31\N{EN DASH}60 days late", "money"),
    column("late61To90", "61\N{EN DASH}90 days late", "money"),
    column("lateOver90", "Over 90 days late", "money"),
    column("open", "Open", "money"),
    column("onAccount", "On account", "money"),
    column("balance", "Balance", "money"),
)
# The last day of each column but the last, in days before today.
_LATEST = {"due_from": 0, "month": 30, "two_months": 60, "three_months": 90}


class Owed(NamedTuple):
    """What a customer owes: what is not due yet, then by how late it is; and what they have on account."""

    name: str
    late: list[int]
    on_account: int

    @property
    def open(self) -> int:
        """All that is to be paid of invoices."""
        return sum(self.late)

    @property
    def overdue(self) -> int:
        """What of that is late."""
        return sum(self.late[1:])

    @property
    def balance(self) -> int:
        """What is open less what is on account."""
        return self.open - self.on_account


def receivables(ctx: Context, asked: Asked) -> Table:
    """What is owed by each customer today, with what they have on account; whoever owes most first."""
    found = sorted(owed(ctx, asked.today, asked.customer).items(), key=lambda one: (-one[1].open, one[1].name))
    return table(_COLUMNS, [_row(customer, one) for customer, one in found], _NOTES)


def owed(ctx: Context, today: date, customer: str | None = None) -> dict[str, Owed]:
    """What each customer owes, or this one; those who owe nothing and have nothing on account are not among them."""
    of, given = (" AND customer_id = :customer", {"customer": customer}) if customer else ("", {})
    # One customer's are not looked for among the payments of everyone.
    status = "(status || '')" if customer else "status"
    limits = {name: (today - timedelta(days=days)).isoformat() for name, days in _LATEST.items()}
    found = {
        str(identity): Owed(str(name), [int(sum_ or 0) for sum_ in late], 0)
        for identity, name, *late in ctx.rows.all(_OWED.format(of=of), **limits, **given)
    }
    for identity, name, left in ctx.rows.all(_ON_ACCOUNT.format(status=status, of=of), **given):
        known = found.get(str(identity), Owed(str(name), [0] * (len(_LATEST) + 1), 0))
        found[str(identity)] = known._replace(on_account=int(left or 0))
    return found


_NOTES = (
    "As it is today. What is on account was paid and is for no invoice yet; the balance is what is open less that.",
)
_NAME = (
    "(SELECT customer.name FROM customer WHERE customer.organisation_id = :organisation AND customer.id = customer_id)"
)
_LATE = "CAST(sum(CASE WHEN due_on < :{} AND due_on >= :{} THEN due ELSE 0 END) AS bigint)"
_OWED = (
    f"SELECT customer_id, {_NAME},"
    " CAST(sum(CASE WHEN due_on >= :due_from THEN due ELSE 0 END) AS bigint),"
    f" {_LATE.format('due_from', 'month')}, {_LATE.format('month', 'two_months')},"
    f" {_LATE.format('two_months', 'three_months')},"
    " CAST(sum(CASE WHEN due_on < :three_months THEN due ELSE 0 END) AS bigint)"
    " FROM invoice WHERE organisation_id = :organisation AND owing = 1{of} GROUP BY customer_id"
)
_ON_ACCOUNT = (
    f"SELECT customer_id, {_NAME}, CAST(sum(unallocated) AS bigint) FROM payment"
    " WHERE organisation_id = :organisation AND unallocated > 0 AND {status} = 'recorded'{of} GROUP BY customer_id"
)


def _row(customer: str, one: Owed) -> list[Cell]:
    return [customer, one.name, *one.late, one.open, one.on_account, one.balance]
