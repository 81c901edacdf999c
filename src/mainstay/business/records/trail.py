"""Reads the audit trail: the newest acts of those that are wanted."""

from collections.abc import Sequence

import orjson

from mainstay.backing.database import Row, Value
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.shapes import ListInput

# What is told of an act, with all that it has changed.
COLUMNS = "CAST(a.sequence AS text), a.at, a.actor, a.operation, a.given, a.records, a.changed"


def newest_acts(ctx: Context, given: ListInput, *conditions: str, seen: str = "", **bound: Value) -> Sequence[Row]:
    """The newest acts for which all this holds, and one more than a page takes; behind one that is seen, if it says so.

    By the moment, which is not always the order in which they were written down: some were brought from elsewhere.
    """
    last = f"SELECT at, sequence FROM audit WHERE organisation_id = :organisation AND sequence = :after{seen}"
    narrowed = [*conditions, *([f"(a.at, a.sequence) < ({last})"] if given.starting_after else [])]
    bound |= {"after": int(given.starting_after or 0)}
    rows = ctx.rows.all(
        f"SELECT {COLUMNS} FROM audit a WHERE a.organisation_id = :organisation"
        f"{''.join(f' AND {one}' for one in narrowed)} ORDER BY a.at DESC, a.sequence DESC LIMIT :limit",
        limit=given.limit + 1,
        **bound,
    )
    if given.starting_after and not rows:
        check_place(ctx, last, **bound)
    return rows


def check_place(ctx: Context, last: str, **bound: Value) -> None:
    """Refuse to go on behind an act that is not among those that are told, as the statement of that act finds."""
    if ctx.rows.one(last, **bound) is None:
        raise Invalid([Fault("startingAfter", "is of no act here; begin again without it")])


def some_records(row: Row) -> Row:
    """An act with the first of the records that it touched.

    Few acts touch more, such as the merger of large customers: nobody reads thousands of ids.
    """
    *told, records, changed = row
    return (*told, orjson.dumps(orjson.loads(str(records))[:_NAMED]).decode() if records else None, changed)


_NAMED = 100
