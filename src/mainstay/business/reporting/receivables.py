"""What customers owe, by how late it is."""

from collections import defaultdict
from datetime import timedelta

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


def receivables(ctx: Context, asked: Asked) -> Table:
    """What is owed by each customer today, with what they have on account; whoever owes most first."""
    names: dict[str, str] = {}
    open_: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_LATEST) + 1))
    on_account: dict[str, int] = {}
    of, given = (" AND customer_id = :customer", {"customer": asked.customer}) if asked.customer else ("", {})
    limits = {name: (asked.today - timedelta(days=days)).isoformat() for name, days in _LATEST.items()}
    for customer, name, *late in ctx.rows.all(_OWED.format(of=of), **limits, **given):
        names[str(customer)] = str(name)
        open_[str(customer)] = [int(sum_ or 0) for sum_ in late]
    for customer, name, left in ctx.rows.all(_ON_ACCOUNT.format(of=of), **given):
        names[str(customer)] = str(name)
        on_account[str(customer)] = int(left or 0)
    rows = [_row(one, name, open_[one], on_account.get(one, 0)) for one, name in names.items()]
    rows.sort(key=lambda row: (-int(row[-3] or 0), str(row[1])))
    return table(_COLUMNS, rows, _NOTES)


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
    " WHERE organisation_id = :organisation AND unallocated > 0 AND status = 'recorded'{of} GROUP BY customer_id"
)


def _row(customer: str, name: str, late: list[int], on_account: int) -> list[Cell]:
    owed = sum(late)
    return [customer, name, *late, owed, on_account, owed - on_account]
