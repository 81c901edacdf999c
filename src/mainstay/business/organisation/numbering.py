"""Number series: the numbers by which people know jobs, quotes, invoices and other documents."""

import re
from typing import NamedTuple

from mainstay.infrastructure.database import Row
from mainstay.kernel.context import Context


class NumberSeries(NamedTuple):
    """The format of one kind of number, and the next number."""

    prefix: str
    padding: int
    next: int

    def format_next(self) -> str:
        """Return the next number as text."""
        return f"{self.prefix}{self.next:0{self.padding}d}"


# Used until an organisation changes its settings.
DEFAULT_SERIES = {
    "job": NumberSeries("J-", 4, 1),
    "quote": NumberSeries("Q-", 4, 1),
    "invoice": NumberSeries("INV-", 4, 1),
    "creditNote": NumberSeries("CN-", 4, 1),
    "purchaseOrder": NumberSeries("PO-", 4, 1),
}


# The kinds that must have no gap, with the table whose records carry the number.
_GAPLESS_TABLES = {"invoice": "invoice", "creditNote": "credit_note"}


def take_number(ctx: Context, kind: str) -> str:
    """Take and return the next number of a kind. Nobody else gets the same one."""
    row = ctx.db.one(
        "UPDATE number_series SET next = next + 1 WHERE organisation_id = :organisation AND kind = :kind"
        " RETURNING prefix, padding, next - 1",
        kind=kind,
    )
    if row is None:
        series = DEFAULT_SERIES[kind]
        save_series(ctx, kind, series._replace(next=series.next + 1))
    else:
        series = _read_series(row)
    return series.format_next()


def find_series(ctx: Context, kind: str) -> NumberSeries:
    """Return the current series of a kind."""
    row = ctx.db.one(
        "SELECT prefix, padding, next FROM number_series WHERE organisation_id = :organisation AND kind = :kind",
        kind=kind,
    )
    return _read_series(row) if row else DEFAULT_SERIES[kind]


def is_next_fixed(ctx: Context, kind: str) -> bool:
    """Return whether the next number of a kind is fixed: the series must have no gap and has already begun."""
    return kind in _GAPLESS_TABLES and _has_begun_series(ctx, kind)


def find_shared_number(ctx: Context, series: NumberSeries, other_kind: str, other_series: NumberSeries) -> str | None:
    """Return a number that two series would both give, or None.

    `series` is about to be changed, and `other_series` is the series of another kind. Numbers of that kind that were
    given already count too. A prefix never ends with a digit, so equal numbers have equal prefixes.
    """
    if series.prefix == other_series.prefix:
        return series.format_next()
    row = ctx.db.one(
        f"SELECT number FROM {_GAPLESS_TABLES[other_kind]} WHERE organisation_id = :organisation"
        " AND rtrim(number, '0123456789') = :prefix ORDER BY length(number) DESC, number DESC LIMIT 1",
        prefix=series.prefix,
    )
    last = str(row[0]) if row else ""
    return last if (position_of(last) or 0) >= series.next else None


def _has_begun_series(ctx: Context, kind: str) -> bool:
    sql = f"SELECT 1 FROM {_GAPLESS_TABLES[kind]} WHERE organisation_id = :organisation AND number IS NOT NULL LIMIT 1"
    return ctx.db.one(sql) is not None


def save_series(ctx: Context, kind: str, series: NumberSeries) -> None:
    """Store a series."""
    ctx.db.run(
        "INSERT INTO number_series (organisation_id, kind, prefix, padding, next)"
        " VALUES (:organisation, :kind, :prefix, :padding, :next) ON CONFLICT (organisation_id, kind)"
        " DO UPDATE SET prefix = excluded.prefix, padding = excluded.padding, next = excluded.next",
        kind=kind,
        prefix=series.prefix,
        padding=series.padding,
        next=series.next,
    )
    ctx.writer.mark_written("number_series", kind)


def position_of(number: str) -> int | None:
    """Return the position of a number in its series, whatever its prefix; None if it does not end with digits."""
    match = _NUMBER_PATTERN.fullmatch(number)
    return int(match[1]) if match else None


# A prefix never ends with a digit.
_NUMBER_PATTERN = re.compile(r"(?:.*\D)?(\d+)", re.DOTALL)


def _read_series(row: Row) -> NumberSeries:
    prefix, padding, next_number = row
    return NumberSeries(str(prefix), int(padding or 0), int(next_number or 0))
