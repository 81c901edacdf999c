"""The journal for the accountant: the postings of each document by date, in pages."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from heapq import merge
from itertools import chain, islice
from typing import Annotated, Any, NamedTuple

import orjson
from pydantic import AfterValidator, Field

from mainstay.business.reporting.document_taxes import read_taxed_amounts
from mainstay.business.reporting.entries import (
    CREDIT_NOTES,
    INVOICES,
    PAYMENTS,
    REVERSALS,
    VOIDS,
    BookEntries,
    iterate_entries,
)
from mainstay.business.reporting.inputs import EntryRange
from mainstay.business.reporting.postings import (
    JournalDocument,
    Posting,
    PostingKind,
    PostingOut,
    build_invoice_postings,
    build_payment_postings,
)
from mainstay.infrastructure.database import Row
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import NOT_AN_ID, Day
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import LastDay, ListInput, PageResult

_POSTING_ID = re.compile(r"(\d{4}-\d\d-\d\d)\.([1-5])\.(\w{1,60})\.(\d{1,4})", re.ASCII)


def _check_posting_id(text: str) -> str:
    match = _POSTING_ID.fullmatch(text)
    try:
        date.fromisoformat(match[1] if match else "")
    except ValueError:
        raise ValueError(Message(NOT_AN_ID, record=Message("a posting"))) from None
    return text


class ListPostings(ListInput):
    """Which postings to list."""

    starting_after: Annotated[str, AfterValidator(_check_posting_id)] | None = Field(
        None, description="Continue after this ID, the last one of the previous page."
    )
    from_: Day | None = Field(None, alias="from", title="From", description="Dated on or after this date.")
    until: LastDay | None = Field(None, description="Dated on or before this date.")


@operation(
    permission=Permission.REPORTS_READ,
    effect=Effect.READ,
    api_path="GET /reports/journal",
    is_slow=True,
)
def list_postings(ctx: Context, given: ListPostings) -> PageResult[PostingOut]:
    """List journal postings.

    The journal for the accountant, earliest first: what each invoice, credit note and payment posts to receivables,
    revenue, tax and bank; voids and reversals are posted on their own date. Debits equal credits in each document.
    """
    first, last = given.from_ or _FIRST_DATE, given.until or _LAST_DATE
    last_posting = _parse_posting_id(given.starting_after)
    # A document has at least two postings, so this many documents fill a page and show whether there is another.
    full_range = EntryRange(first, "", last, given.limit // 2 + 2)
    rows = chain.from_iterable(document.to_rows() for document in _read_documents(ctx, full_range, last_posting))
    next_rows = (row for row in rows if last_posting is None or _is_after(row, last_posting))
    return PageResult.from_rows(PostingOut, list(islice(next_rows, given.limit + 1)), given.limit)


OPERATIONS = (list_postings,)

# Before and after all dates.
_FIRST_DATE, _LAST_DATE = "0001-01-01", "9999-12-31"


class _PostingPlace(NamedTuple):
    """The place of a posting in the journal, as in its id."""

    on: str
    order: int
    document: str
    number: int


def _parse_posting_id(text: str | None) -> _PostingPlace | None:
    match = _POSTING_ID.fullmatch(text or "")
    return _PostingPlace(match[1], int(match[2]), match[3], int(match[4])) if match else None


def _is_after(row: Row, last_posting: _PostingPlace) -> bool:
    place = _parse_posting_id(str(row[0]))
    return place is not None and (place[:3] != last_posting[:3] or place.number > last_posting.number)


class _JournalSource(NamedTuple):
    """One kind of document: where it is read, and how its postings are built."""

    kind: PostingKind
    entries: BookEntries
    # Besides its customer and currency: number, invoices, text, then the values from which its postings are built.
    columns: tuple[str, ...]
    build_postings: Callable[[Sequence[Any], int], list[Posting]]


def _post_invoice(values: Sequence[Any], sign: int) -> list[Posting]:
    total, taxes = values
    return build_invoice_postings(int(total), list(read_taxed_amounts(taxes)), sign)


def _post_payment(values: Sequence[Any], sign: int) -> list[Posting]:
    amount, method = values
    return build_payment_postings(int(amount), str(method), sign)


_CREDITED_INVOICE_NUMBER = (
    "(SELECT invoice.number FROM invoice WHERE invoice.organisation_id = :organisation"
    " AND invoice.id = credit_note.invoice_id)"
)
# In their order within a day.
_SOURCES = (
    _JournalSource("invoice", INVOICES, ("number", "NULL", "title", "total", "taxes"), _post_invoice),
    _JournalSource("void", VOIDS, ("number", "NULL", "void_reason", "total", "taxes"), _post_invoice),
    _JournalSource(
        "creditNote", CREDIT_NOTES, ("number", _CREDITED_INVOICE_NUMBER, "reason", "total", "taxes"), _post_invoice
    ),
    _JournalSource("payment", PAYMENTS, ("NULL", "allocations", "reference", "amount", "method"), _post_payment),
    _JournalSource("reversal", REVERSALS, ("NULL", "NULL", "reverse_reason", "amount", "method"), _post_payment),
)
_CUSTOMER_COLUMNS = (
    "customer_id",
    "(SELECT customer.name FROM customer WHERE customer.organisation_id = :organisation AND customer.id = customer_id)",
    "currency",
)


def _read_documents(
    ctx: Context, full_range: EntryRange, last_posting: _PostingPlace | None
) -> Iterator[JournalDocument]:
    """Yield the documents of a range, beginning with the document of the last posting, if there is one."""
    sources = [
        _read_source(
            ctx, source, order, _remaining_range(full_range, order, last_posting) if last_posting else full_range
        )
        for order, source in enumerate(_SOURCES, 1)
    ]
    return merge(*sources, key=lambda document: (document.on, document.order, document.id))


def _remaining_range(full_range: EntryRange, order: int, last_posting: _PostingPlace) -> EntryRange:
    """Return what is left of a range for one kind of document.

    On the date of the last posting, the documents of earlier kinds are listed already.
    """
    on, document_id = last_posting.on, last_posting.document if order == last_posting.order else ""
    if order < last_posting.order:
        on = _LAST_DATE if on == _LAST_DATE else (date.fromisoformat(on) + timedelta(days=1)).isoformat()
    begin, first = max((full_range.on, full_range.id), (on, document_id))
    return full_range._replace(on=begin, id=first)


def _read_source(
    ctx: Context, source: _JournalSource, order: int, entry_range: EntryRange
) -> Iterator[JournalDocument]:
    for row in iterate_entries(ctx, source.entries, entry_range, *_CUSTOMER_COLUMNS, *source.columns):
        on, document_id, customer, name, currency, number, invoices, text, *values = row
        yield JournalDocument(
            str(on),
            order,
            source.kind,
            str(document_id),
            None if number is None else str(number),
            str(customer),
            str(name),
            str(currency),
            _to_invoice_numbers(invoices),
            None if text is None else str(text),
            source.build_postings(values, source.entries.sign),
        )


def _to_invoice_numbers(stored: object) -> str | None:
    """Return the numbers of invoices as text. For a payment, they are read from its stored allocations."""
    if isinstance(stored, str) and stored.startswith("["):
        return ", ".join(one["invoiceNumber"] for one in orjson.loads(stored)) or None
    return None if stored is None else str(stored)
