"""The numbers by which people know records: each kind has a series of its own."""

import re
from typing import NamedTuple

from mainstay.backing.database import Row
from mainstay.kernel.context import Context


class Series(NamedTuple):
    """How the numbers of one kind look, and which comes next."""

    prefix: str
    padding: int
    next: int

    def number(self) -> str:
        """The next number, written out."""
        return f"{self.prefix}{self.next:0{self.padding}d}"


# As long as an organisation has not said otherwise.
USUAL = {
    "job": Series("J-", 4, 1),
    "quote": Series("Q-", 4, 1),
    "invoice": Series("INV-", 4, 1),
    "creditNote": Series("CN-", 4, 1),
    "purchaseOrder": Series("PO-", 4, 1),
}


# Those that must have no gap, and where what has such a number is kept.
_GAPLESS = {"invoice": "invoice", "creditNote": "credit_note"}


def take(ctx: Context, kind: str) -> str:
    """The next number of a kind, which nobody else gets."""
    row = ctx.rows.one(
        "UPDATE number_series SET next = next + 1 WHERE organisation_id = :organisation AND kind = :kind"
        " RETURNING prefix, padding, next - 1",
        kind=kind,
    )
    if row is None:
        series = USUAL[kind]
        save(ctx, kind, series._replace(next=series.next + 1))
    else:
        series = _read(row)
    return series.number()


def find(ctx: Context, kind: str) -> Series:
    """The series of a kind as it stands."""
    row = ctx.rows.one(
        "SELECT prefix, padding, next FROM number_series WHERE organisation_id = :organisation AND kind = :kind",
        kind=kind,
    )
    return _read(row) if row else USUAL[kind]


def is_settled(ctx: Context, kind: str) -> bool:
    """Whether the next number of a kind cannot be another: the series must have no gap, and has begun."""
    return kind in _GAPLESS and _has_begun(ctx, kind)


def find_clash(ctx: Context, mine: Series, other: str, theirs: Series) -> str | None:
    """Return a number that a series could give although another kind has or gets it too; None if there is none.

    A prefix has no digit at its end, so equal numbers have equal prefixes.
    """
    if mine.prefix == theirs.prefix:
        return mine.number()
    row = ctx.rows.one(
        f"SELECT number FROM {_GAPLESS[other]} WHERE organisation_id = :organisation"
        " AND rtrim(number, '0123456789') = :prefix ORDER BY length(number) DESC, number DESC LIMIT 1",
        prefix=mine.prefix,
    )
    last = str(row[0]) if row else ""
    return last if (place_of(last) or 0) >= mine.next else None


def _has_begun(ctx: Context, kind: str) -> bool:
    sql = f"SELECT 1 FROM {_GAPLESS[kind]} WHERE organisation_id = :organisation AND number IS NOT NULL LIMIT 1"
    return ctx.rows.one(sql) is not None


def save(ctx: Context, kind: str, series: Series) -> None:
    """Keep a series."""
    ctx.rows.run(
        "INSERT INTO number_series (organisation_id, kind, prefix, padding, next)"
        " VALUES (:organisation, :kind, :prefix, :padding, :next) ON CONFLICT (organisation_id, kind)"
        " DO UPDATE SET prefix = excluded.prefix, padding = excluded.padding, next = excluded.next",
        kind=kind,
        prefix=series.prefix,
        padding=series.padding,
        next=series.next,
    )
    ctx.pen.mark_written("number_series", kind)


def place_of(number: str) -> int | None:
    """The place of a number in its series, whatever its prefix is or was; None where it has none."""
    found = _NUMBER.fullmatch(number)
    return int(found[1]) if found else None


# A prefix has no digit at its end.
_NUMBER = re.compile(r"(?:.*\D)?(\d+)", re.DOTALL)


def _read(row: Row) -> Series:
    prefix, padding, following = row
    return Series(str(prefix), int(padding or 0), int(following or 0))
