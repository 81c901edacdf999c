"""The statement of account of a customer: what was charged and paid, entry by entry, with the balance after each.

The last balance equals the one in the report `receivables`. It does not depend on the allocation of payments.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from heapq import merge
from itertools import accumulate
from typing import NamedTuple

from mainstay.business.reporting.entries import (
    CREDIT_NOTES,
    INVOICES,
    PAYMENTS,
    REVERSALS,
    VOIDS,
    BookEntries,
    find_first_entries,
    sum_entries,
)
from mainstay.business.reporting.inputs import ReportQuery
from mainstay.business.reporting.model import MAX_REPORT_ROWS, ReportTable, RowValue, make_column, make_table
from mainstay.documents.snapshot import EntryKind
from mainstay.kernel.context import Context
from mainstay.values.message import Message

_COLUMNS = (
    make_column("on", "Date", "date"),
    make_column("recordId", "Record ID", "id"),
    make_column("entry", "Entry", "text"),
    make_column("reference", "Reference", "text"),
    make_column("charged", "Charged", "money"),
    make_column("paid", "Paid or credited", "money"),
    make_column("balance", "Balance", "money"),
)


class _StatementSource(NamedTuple):
    """One kind of entry: its label, where it is read, and its effect on the charged and paid amounts."""

    kind: EntryKind
    label: Message
    entries: BookEntries
    reference: str
    amount: str
    charge_sign: int = 0
    payment_sign: int = 0


# In their order within a day.
_SOURCES = (
    _StatementSource("invoice", Message("Invoice"), INVOICES, "number", "total", charge_sign=1),
    _StatementSource("void", Message("Invoice voided"), VOIDS, "number", "total", charge_sign=-1),
    _StatementSource("creditNote", Message("Credit note"), CREDIT_NOTES, "number", "total", payment_sign=1),
    _StatementSource("payment", Message("Payment"), PAYMENTS, "reference", "amount", payment_sign=1),
    _StatementSource("reversal", Message("Payment reversed"), REVERSALS, "reference", "amount", payment_sign=-1),
)


class AccountLine(NamedTuple):
    """One entry of an account. The first fields define the order."""

    on: str
    order: int
    id: str
    kind: EntryKind
    label: Message
    reference: str | None
    charged: int | None
    paid: int | None

    @property
    def balance_change(self) -> int:
        """The change of the balance."""
        return (self.charged or 0) - (self.paid or 0)


class CustomerAccount(NamedTuple):
    """The account of a customer between two dates: the balance before, the charges and payments, and the entries."""

    brought_forward: int
    charged: int
    paid: int
    # Each with the balance after it; at most as many as fill a report, and one more.
    entries: list[tuple[AccountLine, int]]

    @property
    def balance(self) -> int:
        """The balance at the end."""
        return self.brought_forward + self.charged - self.paid


def read_account(ctx: Context, query: ReportQuery) -> CustomerAccount:
    """Return the account of a customer between two dates. The sums include entries beyond the limit."""
    charged, paid = _sum_charges_and_payments(ctx, query._replace(first=date.min, last=query.first - timedelta(days=1)))
    brought_forward = charged - paid
    charged, paid = _sum_charges_and_payments(ctx, query)
    entries = list(merge(*(_read_lines(ctx, source, order, query) for order, source in enumerate(_SOURCES))))
    balances = list(accumulate((line.balance_change for line in entries), initial=brought_forward))[1:]
    return CustomerAccount(brought_forward, charged, paid, list(zip(entries, balances, strict=True)))


def report_statement(ctx: Context, query: ReportQuery) -> ReportTable:
    """Build the report: the amount brought forward, then the entries by date. The totals include all entries."""
    account = read_account(ctx, query)
    first_row: list[RowValue] = [
        query.first.isoformat(),
        None,
        Message("Brought forward"),
        None,
        None,
        None,
        account.brought_forward,
    ]
    rows = [first_row, *(_to_row(line, balance) for line, balance in account.entries)]
    totals = {"charged": account.charged, "paid": account.paid, "balance": account.balance}
    return make_table(_COLUMNS, rows, _NOTES, totals)


_NOTES = (
    Message("Including tax, by document date, excluding drafts. A negative balance is money on account."),
    Message("Voided invoices and reversed payments are deducted on the date on which they were voided or reversed."),
)


def _sum_charges_and_payments(ctx: Context, query: ReportQuery) -> tuple[int, int]:
    """Return the sums of what was charged and of what was paid between two dates."""
    amounts = [(source, _sum_source(ctx, source, query)) for source in _SOURCES]
    return sum(one.charge_sign * amount for one, amount in amounts), sum(
        one.payment_sign * amount for one, amount in amounts
    )


def _sum_source(ctx: Context, source: _StatementSource, query: ReportQuery) -> int:
    return sum(int(amount or 0) for _, amount in sum_entries(ctx, source.entries, query, "customer_id", source.amount))


def _read_lines(ctx: Context, source: _StatementSource, order: int, query: ReportQuery) -> Iterator[AccountLine]:
    """Yield the first entries of one kind: as many as fill a report with the amount brought forward, and one more."""
    for on, record_id, reference, amount in find_first_entries(
        ctx, source.entries, query, MAX_REPORT_ROWS, source.reference, source.amount
    ):
        yield AccountLine(
            str(on),
            order,
            str(record_id),
            source.kind,
            source.label,
            None if reference is None else str(reference),
            source.charge_sign * int(amount or 0) if source.charge_sign else None,
            source.payment_sign * int(amount or 0) if source.payment_sign else None,
        )


def _to_row(line: AccountLine, balance: int) -> list[RowValue]:
    return [line.on, line.id, line.label, line.reference, line.charged, line.paid, balance]
