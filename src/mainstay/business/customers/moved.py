"""Records that went over to another customer are told of, some at a time: there may be thousands of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from mainstay.business.customers.model import Customer
from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.kernel.listing import Listing
from mainstay.kernel.reaction import Chore
from mainstay.ledger.outbox import Letter
from mainstay.terms.shapes import Kept
from mainstay.terms.wire import column_names

K = TypeVar("K", bound=Kept)

# Of so many it is told at once.
_TOLD = 200
# The tables whose records are told of, each by a chore of the area that they are of.
_TOLD_OF = {"job", "quote", "invoice"}


def have_told(ctx: Context, table: str, moved: Sequence[str], customer: Customer) -> None:
    """Have it told of each of these, later: who listens must know, and the one who merges need not wait for it."""
    if table not in _TOLD_OF:
        return
    for first in range(0, len(moved), _TOLD):
        some = " ".join(moved[first : first + _TOLD])
        ctx.post(Letter(_chore(table), {f"{table}s": some, "customer": customer.id, "name": customer.name}))


def telling_of(listing: Listing[K], event: type[Event]) -> Chore:
    """What tells of each record of a kind that its customer is another one now, with the one before."""

    def tell(ctx: Context, told: Mapping[str, str]) -> None:
        for identity in told[f"{listing.table}s"].split():
            record = listing.find(ctx, f"{listing.table}.id = :id", id=identity)
            if record:
                ctx.pen.touch(record.id)
                ctx.record(event(record, _as_it_was(record, told["customer"], told["name"])))

    return Chore(_chore(listing.table), tell)


def _chore(table: str) -> str:
    return f"tell_of_moved_{table}s"


def _as_it_was(record: K, customer: str, name: str) -> K:
    was = {"customer_id": customer, "customer_name": name}
    row = tuple(was.get(column, value) for column, value in zip(column_names(record.shown), record.row, strict=True))
    return replace(record, row=row)
