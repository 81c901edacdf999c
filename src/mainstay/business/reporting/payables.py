"""The report on what is owed to suppliers, by age."""

from dataclasses import replace
from datetime import timedelta

from mainstay.business.purchasing.bills import list_bills
from mainstay.business.reporting.inputs import ReportQuery
from mainstay.business.reporting.model import RecordsBehind, ReportTable, RowValue, make_column, make_table
from mainstay.kernel.context import Context
from mainstay.kernel.record_store import select_related
from mainstay.values.message import Message

_COLUMNS = (
    make_column("supplierId", "Supplier ID", "id"),
    make_column("supplier", "Supplier", "text"),
    make_column("notDue", "Not yet due", "money"),
    make_column("late1To30", "1\N{EN DASH}30 days overdue", "money"),
    make_column("late31To60", "31\N{EN DASH}60 days overdue", "money"),
    make_column("lateOver60", "Over 60 days overdue", "money"),
    make_column("open", "Unpaid", "money"),
)


def report_payables(ctx: Context, query: ReportQuery) -> ReportTable:
    """Build the report on approved bills that are not paid, by supplier, largest debts first."""
    limits = {name: (query.today - timedelta(days=days)).isoformat() for name, days in _AGE_LIMITS.items()}
    rows: list[list[RowValue]] = [[*row] for row in ctx.db.all(_SELECT_OPEN, **limits)]
    table = make_table(_COLUMNS, rows, _NOTES)
    behind = RecordsBehind(
        operation=list_bills.name, given={"status": "approved"}, columns={"supplierId": "supplierId"}
    )
    return replace(table, behind=behind, columns_behind=_find_bills_by_age(limits))


def _find_bills_by_age(limits: dict[str, str]) -> dict[str, RecordsBehind]:
    """Return the bills of each age, by column."""
    today, month, two_months = limits.values()
    ages = {
        "notDue": {"dueFrom": today},
        "late1To30": {"dueFrom": month, "dueBefore": today},
        "late31To60": {"dueFrom": two_months, "dueBefore": month},
        "lateOver60": {"dueBefore": two_months},
    }
    return {
        column: RecordsBehind(operation=list_bills.name, given={"status": "approved", **due}, columns={})
        for column, due in ages.items()
    }


_NOTES = (Message("As of today: approved bills that are not paid. Bills without a due date count as not yet due."),)
_AGE_LIMITS = {"due_from": 0, "month": 30, "two_months": 60}
_DUE = "coalesce(due_on, '9')"
_LATE_COLUMN = f"CAST(sum(CASE WHEN {_DUE} < :{{}} AND {_DUE} >= :{{}} THEN total ELSE 0 END) AS bigint)"
_SELECT_OPEN = (
    f"SELECT supplier_id, {select_related('supplier.name', 'bill.supplier_id')},"
    f" CAST(sum(CASE WHEN {_DUE} >= :due_from THEN total ELSE 0 END) AS bigint),"
    f" {_LATE_COLUMN.format('due_from', 'month')}, {_LATE_COLUMN.format('month', 'two_months')},"
    f" CAST(sum(CASE WHEN {_DUE} < :two_months THEN total ELSE 0 END) AS bigint),"
    " CAST(sum(total) AS bigint) AS open FROM bill WHERE organisation_id = :organisation AND status = 'approved'"
    " GROUP BY supplier_id ORDER BY open DESC, supplier_id"
)
