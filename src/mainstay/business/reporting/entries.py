"""Reads the entries in the books: each document on the date on which it counts, and each reversal of one.

Entries stay on their date. If an invoice is made void or a payment is reversed, that is an entry on the later date.
"""

from collections.abc import Iterator
from typing import NamedTuple

from mainstay.business.reporting.inputs import EntryRange, ReportQuery
from mainstay.infrastructure.database import Row
from mainstay.kernel.context import Context


class BookEntries(NamedTuple):
    """One kind of entry in the books."""

    table: str
    # The column with the date of the entry.
    on: str
    # 1 if it adds the amounts of its table, -1 if it subtracts them.
    sign: int


INVOICES = BookEntries("invoice", "issued_on", 1)
VOIDS = BookEntries("invoice", "voided_on", -1)
CREDIT_NOTES = BookEntries("credit_note", "issued_on", -1)
PAYMENTS = BookEntries("payment", "on_date", 1)
REVERSALS = BookEntries("payment", "reversed_on", -1)


def sum_entries(ctx: Context, entries: BookEntries, query: ReportQuery, expression: str, *columns: str) -> list[Row]:
    """Sum up these columns between the dates of a report, grouped by an SQL expression."""
    sql = f"SELECT {expression}, {', '.join(f'CAST(sum({one}) AS bigint)' for one in columns)}"
    return list(ctx.db.all(f"{sql} {_to_range_sql(entries, query)} GROUP BY {expression}", **query.parameters))


def find_first_entries(ctx: Context, entries: BookEntries, query: ReportQuery, limit: int, *columns: str) -> list[Row]:
    """Return the date, the id and these columns of the earliest entries between the dates of a report."""
    sql = f"SELECT {entries.on}, id, {', '.join(columns)} {_to_range_sql(entries, query)}"
    return list(
        ctx.db.all(f"{sql} ORDER BY {_to_date_sql(entries, query)}, id LIMIT :most", most=limit, **query.parameters)
    )


def to_month_sql(entries: BookEntries) -> str:
    """Return the SQL expression for the month of an entry."""
    return f"substr({entries.on}, 1, 7)"


def iterate_entries(ctx: Context, entries: BookEntries, entry_range: EntryRange, *columns: str) -> Iterator[Row]:
    """Yield the date, the id and these columns of each entry, earliest first."""
    # There is no second lower bound: an engine that chose it would read all earlier entries again.
    sql = f"SELECT {entries.on}, id, {', '.join(columns)} {_FROM_SQL}{_START_SQL}".format(**entries._asdict())
    on, record_id = entry_range.on, entry_range.id
    while True:
        entry_rows = ctx.db.all(sql, on=on, id=record_id, last=entry_range.last, limit=entry_range.batch_size + 1)
        yield from entry_rows[: entry_range.batch_size]
        if len(entry_rows) <= entry_range.batch_size:
            return
        on, record_id = str(entry_rows[-1][0]), str(entry_rows[-1][1])


_FROM_SQL = "FROM {table} WHERE organisation_id = :organisation AND {on} <= :last"
_START_SQL = " AND ({on}, id) >= (:on, :id) ORDER BY {on}, id LIMIT :limit"


def _to_range_sql(entries: BookEntries, query: ReportQuery) -> str:
    """Return the FROM and WHERE clauses for the entries of a report."""
    customer_condition = " AND customer_id = :customer" if query.customer else ""
    return f"{_FROM_SQL} AND {{on}} >= :first{customer_condition}".format(
        table=entries.table, on=_to_date_sql(entries, query)
    )


def _to_date_sql(entries: BookEntries, query: ReportQuery) -> str:
    # A customer has few entries. The expression keeps the engine from searching everyone's by date instead.
    return f"({entries.on} || '')" if query.customer else entries.on
