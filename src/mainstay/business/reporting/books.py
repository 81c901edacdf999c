"""What stands in the books: each document on the date on which it counts, and again where it is taken back.

What was once in the books of a day stays there: an invoice that is made void, and a payment that is reversed, are taken
back on the date on which that was done.
"""

from collections.abc import Iterator
from typing import NamedTuple

from mainstay.backing.database import Row
from mainstay.business.reporting.asked import Asked, Stretch
from mainstay.kernel.context import Context


class Entries(NamedTuple):
    """One kind of entry in the books."""

    table: str
    # The column with the date on which it counts.
    on: str
    # Whether it makes more or less of what its table holds.
    sign: int


INVOICES = Entries("invoice", "issued_on", 1)
VOIDS = Entries("invoice", "voided_on", -1)
CREDIT_NOTES = Entries("credit_note", "issued_on", -1)
PAYMENTS = Entries("payment", "on_date", 1)
REVERSALS = Entries("payment", "reversed_on", -1)


def sums(ctx: Context, entries: Entries, asked: Asked, by: str, *summed: str) -> list[Row]:
    """What these columns come to between the dates that are asked for, by an expression."""
    sql = f"SELECT {by}, {', '.join(f'CAST(sum({one}) AS bigint)' for one in summed)}"
    return list(ctx.rows.all(f"{sql} {_between(entries, asked)} GROUP BY {by}", **asked.bound))


def first_of(ctx: Context, entries: Entries, asked: Asked, most: int, *columns: str) -> list[Row]:
    """The date, the id and these columns of the earliest entries between the dates that are asked for."""
    sql = f"SELECT {entries.on}, id, {', '.join(columns)} {_between(entries, asked)}"
    return list(ctx.rows.all(f"{sql} ORDER BY {_on(entries, asked)}, id LIMIT :most", most=most, **asked.bound))


def month_of(entries: Entries) -> str:
    """The month of an entry, as an expression."""
    return f"substr({entries.on}, 1, 7)"


def each(ctx: Context, entries: Entries, stretch: Stretch, *columns: str) -> Iterator[Row]:
    """The date, the id and these columns of each entry, the earliest first."""
    # No other bound below: an engine that took that one would walk over all that was read before.
    sql = f"SELECT {entries.on}, id, {', '.join(columns)} {_FROM}{_BEGINNING}".format(**entries._asdict())
    on, identity = stretch.on, stretch.id
    while True:
        found = ctx.rows.all(sql, on=on, id=identity, last=stretch.last, limit=stretch.at_once + 1)
        yield from found[: stretch.at_once]
        if len(found) <= stretch.at_once:
            return
        on, identity = str(found[-1][0]), str(found[-1][1])


_FROM = "FROM {table} WHERE organisation_id = :organisation AND {on} <= :last"
_BEGINNING = " AND ({on}, id) >= (:on, :id) ORDER BY {on}, id LIMIT :limit"


def _between(entries: Entries, asked: Asked) -> str:
    """Where the entries are that are asked for."""
    of = " AND customer_id = :customer" if asked.customer else ""
    return f"{_FROM} AND {{on}} >= :first{of}".format(table=entries.table, on=_on(entries, asked))


def _on(entries: Entries, asked: Asked) -> str:
    # One customer's are few: they are not looked for by date among those of everyone.
    return f"({entries.on} || '')" if asked.customer else entries.on
