"""What one customer was charged and paid, entry by entry, with what they owe after each.

What they owe in the end is the balance that receivables tell: it is the same whichever invoice a payment is for, and
whether it is for any.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from heapq import merge
from itertools import accumulate
from typing import NamedTuple

from mainstay.business.reporting.asked import Asked
from mainstay.business.reporting.books import (
    CREDIT_NOTES,
    INVOICES,
    PAYMENTS,
    REVERSALS,
    VOIDS,
    Entries,
    first_of,
    sums,
)
from mainstay.business.reporting.model import MOST_ROWS, Cell, Table, column, table
from mainstay.kernel.context import Context
from mainstay.paper.snapshot import EntryKind

_COLUMNS = (
    column("on", "Date", "date"),
    column("recordId", "Record's id", "id"),
    column("entry", "Entry", "text"),
    column("reference", "Reference", "text"),
    column("charged", "Charged", "money"),
    column("paid", "Paid or credited", "money"),
    column("balance", "Balance", "money"),
)


class _Source(NamedTuple):
    """One kind of entry: what it is called, where it is read, and what it does to what is charged or paid."""

    kind: EntryKind
    words: str
    entries: Entries
    reference: str
    amount: str
    charges: int = 0
    pays: int = 0


# In the order in which they stand on a day.
_SOURCES = (
    _Source("invoice", "Invoice", INVOICES, "number", "total", charges=1),
    _Source("void", "Invoice made void", VOIDS, "number", "total", charges=-1),
    _Source("creditNote", "Credit note", CREDIT_NOTES, "number", "total", pays=1),
    _Source("payment", "Payment", PAYMENTS, "reference", "amount", pays=1),
    _Source("reversal", "Payment reversed", REVERSALS, "reference", "amount", pays=-1),
)


class AccountLine(NamedTuple):
    """An entry: what orders it first, and an amount where it charges or pays something."""

    on: str
    order: int
    id: str
    kind: EntryKind
    words: str
    reference: str | None
    charged: int | None
    paid: int | None

    @property
    def owed(self) -> int:
        """What it makes more or less of what is owed."""
        return (self.charged or 0) - (self.paid or 0)


class AccountOf(NamedTuple):
    """The account of a customer between two dates: what was owed before, what was charged and paid, entry by entry."""

    before: int
    charged: int
    paid: int
    # As many as fill a report, and one more; with each, what was owed after it.
    entries: list[tuple[AccountLine, int]]

    @property
    def balance(self) -> int:
        """What is owed in the end."""
        return self.before + self.charged - self.paid


def account_of(ctx: Context, asked: Asked) -> AccountOf:
    """Return the account of a customer between two dates; the sums are of all entries, however many there are."""
    charged, paid = _together(ctx, asked._replace(first=date.min, last=asked.first - timedelta(days=1)))
    before = charged - paid
    charged, paid = _together(ctx, asked)
    entries = list(merge(*(_entries(ctx, source, order, asked) for order, source in enumerate(_SOURCES))))
    balances = list(accumulate((one.owed for one in entries), initial=before))[1:]
    return AccountOf(before, charged, paid, list(zip(entries, balances, strict=True)))


def statement(ctx: Context, asked: Asked) -> Table:
    """What was brought forward, then each entry by its date; the totals are of all, however many there are."""
    account = account_of(ctx, asked)
    forward: list[Cell] = [asked.first.isoformat(), None, "Brought forward", None, None, None, account.before]
    rows = [forward, *(_row(one, balance) for one, balance in account.entries)]
    totals = {"charged": account.charged, "paid": account.paid, "balance": account.balance}
    return table(_COLUMNS, rows, _NOTES, totals)


_NOTES = (
    "With tax, by the date of each document, without drafts. A balance below zero is what was paid too much, or ahead.",
    "An invoice that was made void is taken back on the date on which it was; so is a payment that was reversed.",
)


def _together(ctx: Context, asked: Asked) -> tuple[int, int]:
    """What was charged and what was paid between two dates."""
    summed = [(source, _sum(ctx, source, asked)) for source in _SOURCES]
    return sum(one.charges * amount for one, amount in summed), sum(one.pays * amount for one, amount in summed)


def _sum(ctx: Context, source: _Source, asked: Asked) -> int:
    return sum(int(amount or 0) for _, amount in sums(ctx, source.entries, asked, "customer_id", source.amount))


def _entries(ctx: Context, source: _Source, order: int, asked: Asked) -> Iterator[AccountLine]:
    """The first of a kind: with what is brought forward, as many as fill a report and one more."""
    for on, identity, reference, amount in first_of(
        ctx, source.entries, asked, MOST_ROWS, source.reference, source.amount
    ):
        yield AccountLine(
            str(on),
            order,
            str(identity),
            source.kind,
            source.words,
            None if reference is None else str(reference),
            source.charges * int(amount or 0) if source.charges else None,
            source.pays * int(amount or 0) if source.pays else None,
        )


def _row(one: AccountLine, balance: int) -> list[Cell]:
    return [one.on, one.id, one.words, one.reference, one.charged, one.paid, balance]
