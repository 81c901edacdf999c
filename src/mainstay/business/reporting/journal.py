"""The journal for the accountant: what each document moves, day by day, page by page."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from heapq import merge
from itertools import chain, islice
from typing import Annotated, Any, NamedTuple

import orjson
from pydantic import AfterValidator, Field

from mainstay.backing.database import Row
from mainstay.business.reporting.asked import Stretch
from mainstay.business.reporting.books import CREDIT_NOTES, INVOICES, PAYMENTS, REVERSALS, VOIDS, Entries, each
from mainstay.business.reporting.posting import Document, Posting, PostingOut, Written, billed, paid
from mainstay.business.reporting.taxed import taxed
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.rights import Right
from mainstay.terms.shapes import LastDay, ListInput, Page
from mainstay.values.fields import NO_ID, Day

_PLACE = re.compile(r"(\d{4}-\d\d-\d\d)\.([1-5])\.(\w{1,60})\.(\d{1,4})", re.ASCII)


def _place(text: str) -> str:
    found = _PLACE.fullmatch(text)
    try:
        date.fromisoformat(found[1] if found else "")
    except ValueError:
        raise ValueError(f"{NO_ID} a posting") from None
    return text


class ListPostings(ListInput):
    """Which postings to list."""

    starting_after: Annotated[str, AfterValidator(_place)] | None = Field(
        None, description="Goes on behind this id, the last of the page before."
    )
    from_: Day | None = Field(None, alias="from", title="From", description="Only those of this date or later.")
    until: LastDay | None = Field(None, description="Only those of this date or earlier.")


@operation(
    right=Right.REPORTS_READ,
    effect=Effect.READ,
    rest="GET /reports/journal",
    takes_long=True,
)
def list_postings(ctx: Context, given: ListPostings) -> Page[PostingOut]:
    """List the postings of the journal, for an accountant.

    Of each invoice, credit note and payment what it moves between receivables, revenue, tax and bank, the earliest
    first; what was made void or reversed is taken back on the date of that. Debits equal credits in each document.
    """
    first, last = given.from_ or _FIRST, given.until or _LAST
    behind = _read_place(given.starting_after)
    # A document has two postings, or more: so many fill a page, and tell whether there is another.
    whole = Stretch(first, "", last, given.limit // 2 + 2)
    rows = chain.from_iterable(one.rows() for one in _written(ctx, whole, behind))
    untold = (row for row in rows if behind is None or _is_behind(row, behind))
    return Page.cut(PostingOut, list(islice(untold, given.limit + 1)), given.limit)


OPERATIONS = (list_postings,)

# Before and behind everything.
_FIRST, _LAST = "0001-01-01", "9999-12-31"


class _Place(NamedTuple):
    """Where a posting stands."""

    on: str
    order: int
    document: str
    number: int


def _read_place(text: str | None) -> _Place | None:
    found = _PLACE.fullmatch(text or "")
    return _Place(found[1], int(found[2]), found[3], int(found[4])) if found else None


def _is_behind(row: Row, behind: _Place) -> bool:
    found = _read_place(str(row[0]))
    return found is not None and (found[:3] != behind[:3] or found.number > behind.number)


class _Source(NamedTuple):
    """One kind of document: where it is read, and what it moves."""

    kind: Document
    entries: Entries
    # Beside its customer and currency: number, invoices, text, then what its postings are made of.
    columns: tuple[str, ...]
    moves: Callable[[Sequence[Any], int], list[Posting]]


def _billed(values: Sequence[Any], sign: int) -> list[Posting]:
    total, taxes = values
    return billed(int(total), list(taxed(taxes)), sign)


def _paid(values: Sequence[Any], sign: int) -> list[Posting]:
    amount, method = values
    return paid(int(amount), str(method), sign)


_CREDITED = (
    "(SELECT invoice.number FROM invoice WHERE invoice.organisation_id = :organisation"
    " AND invoice.id = credit_note.invoice_id)"
)
# In the order in which they stand on a day.
_SOURCES = (
    _Source("invoice", INVOICES, ("number", "NULL", "title", "total", "taxes"), _billed),
    _Source("void", VOIDS, ("number", "NULL", "void_reason", "total", "taxes"), _billed),
    _Source("creditNote", CREDIT_NOTES, ("number", _CREDITED, "reason", "total", "taxes"), _billed),
    _Source("payment", PAYMENTS, ("NULL", "allocations", "reference", "amount", "method"), _paid),
    _Source("reversal", REVERSALS, ("NULL", "NULL", "reverse_reason", "amount", "method"), _paid),
)
_CUSTOMER = (
    "customer_id",
    "(SELECT customer.name FROM customer WHERE customer.organisation_id = :organisation AND customer.id = customer_id)",
    "currency",
)


def _written(ctx: Context, whole: Stretch, behind: _Place | None) -> Iterator[Written]:
    """The documents of a stretch, from the one on that a place is in."""
    sources = [
        _documents(ctx, source, order, _rest(whole, order, behind) if behind else whole)
        for order, source in enumerate(_SOURCES, 1)
    ]
    return merge(*sources, key=lambda one: (one.on, one.order, one.id))


def _rest(whole: Stretch, order: int, behind: _Place) -> Stretch:
    """What is left of the documents of a kind: on the day of a place, those of kinds before it are told."""
    on, identity = behind.on, behind.document if order == behind.order else ""
    if order < behind.order:
        on = _LAST if on == _LAST else (date.fromisoformat(on) + timedelta(days=1)).isoformat()
    begin, first = max((whole.on, whole.id), (on, identity))
    return whole._replace(on=begin, id=first)


def _documents(ctx: Context, source: _Source, order: int, stretch: Stretch) -> Iterator[Written]:
    for row in each(ctx, source.entries, stretch, *_CUSTOMER, *source.columns):
        on, identity, customer, name, currency, number, invoices, text, *values = row
        yield Written(
            str(on),
            order,
            source.kind,
            str(identity),
            None if number is None else str(number),
            str(customer),
            str(name),
            str(currency),
            _invoices(invoices),
            None if text is None else str(text),
            source.moves(values, source.entries.sign),
        )


def _invoices(kept: object) -> str | None:
    """The numbers of invoices: of a payment, out of what is kept of what it is for."""
    if isinstance(kept, str) and kept.startswith("["):
        return ", ".join(one["invoiceNumber"] for one in orjson.loads(kept)) or None
    return None if kept is None else str(kept)
