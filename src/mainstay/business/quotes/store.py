"""The store of quotes: how they are read, searched and numbered."""

from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import Field

from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import emit_job_updated
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.quotes.model import ListedQuote, Quote, QuoteStatus
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.kernel.record_store import select_related
from mainstay.values.descriptions import describe
from mainstay.values.ids import is_id
from mainstay.values.money import amount_text
from mainstay.values.search_words import combine_words, words_of_digits, words_of_number, words_of_text
from mainstay.vocabulary.list_queries import NEWEST, ListOrder, SearchFields
from mainstay.vocabulary.refusal import NotFound

# The first deposit invoice that is not void. Drafting a second one gives a warning.
_DEPOSIT_INVOICE = (
    "(SELECT min(invoice.id) FROM invoice WHERE invoice.organisation_id = :organisation AND invoice.quote_id = quote.id"
    " AND invoice.kind = 'deposit' AND invoice.status <> 'void')"
)

_EXPIRED = "quote.status = 'sent' AND quote.expires_at <= :now"
# `coalesce` keeps the engine from using the index on `expires_at`, and then sorting all quotes it finds.
STATUS_FILTERS = {name: f"quote.status = '{name}'" for name in get_args(QuoteStatus)} | {
    "sent": "quote.status = 'sent' AND coalesce(quote.expires_at, '') > :now",
    "expired": "quote.status = 'sent' AND coalesce(quote.expires_at, '') <= :now",
}
# The status that people see.
STATUS = f"CASE WHEN {_EXPIRED} THEN 'expired' ELSE quote.status END"


def _search_words_of(number: str, revision: int, currency: str, total: int, *texts: str) -> frozenset[str]:
    amount = amount_text(total, currency)
    # The number finds every revision. The exact number belongs to the first one, so that it names only one quote.
    number_words = {word for word in words_of_number(number) if revision == 1 or not word.startswith("#")}
    # Digits alone may mean an amount as well as a phone number.
    return combine_words(number_words, words_of_text(" ".join((*texts, amount))), words_of_digits(amount))


class QuoteStore(Kind[Quote]):
    """The store of quotes, in which a number means the newest revision."""

    def fetch(self, ctx: Context, record_id: str | None) -> Quote:
        """Fetch the quote with this id, the newest one with this number, or the revision named with the number."""
        found = super().fetch(ctx, record_id)
        if found.newest or is_id(record_id or "", self.prefix):
            return found
        is_exact = _to_path_name(record_id or "") == _to_path_name(f"{found.number}/{found.revision}")
        return found if is_exact else super().fetch(ctx, found.number)

    def find_by_number(self, ctx: Context, number: str) -> str | None:
        """Find the id of an earlier revision by its name in a path, or else by a number that is not quite exact."""
        base_number, _, revision = number.rpartition("-")
        row = ctx.db.one(
            "SELECT id, called FROM quote WHERE organisation_id = :organisation AND called ="
            " (SELECT number || '/' || CAST(:revision AS text) FROM quote"
            " WHERE organisation_id = :organisation AND id = :first)",
            revision=revision,
            first=super().find_by_number(ctx, base_number),
        )
        return str(row[0]) if row and _to_path_name(str(row[1])) == number else super().find_by_number(ctx, number)


def _to_path_name(name: str) -> str:
    """Return a quote's name for use in paths, without a slash: `Q-0318-1` for `Q-0318/1`."""
    return name.strip().upper().replace("/", "-")


QuoteId = Annotated[str, Field(title="Quote", description=describe("[[The quote's ID or number.]]"))]
# Single quotes, with their lines.
QUOTES = QuoteStore(
    Quote,
    source="quote",
    id_type=QuoteId,
    area="Quotes",
    number_column="called",
    columns={
        "status": STATUS,
        "customer_name": select_related("customer.name", "quote.customer_id"),
        "job_number": select_related("job.number", "quote.job_id"),
        "site_name": select_related("site.name", "quote.site_id"),
        "margin": "quote.costed_net - quote.cost",
        "deposit_invoice_id": _DEPOSIT_INVOICE,
        "newest": "CASE WHEN quote.called = quote.number THEN 1 ELSE 0 END",
    },
    equal_filters=("customer_id",),
    dates_column="issued_on",
    filters={
        "status": STATUS_FILTERS,
        # `coalesce` keeps the engine from the index on `decided_at`, and then sorting all quotes it finds.
        "decided_from": "coalesce(quote.decided_at, '') >= :decided_from",
    },
    orders={
        NEWEST: ListOrder("id", descending=True),
        "issued": ListOrder("issued_on", descending=True, missing_label="an issue date"),
        "expiring": ListOrder("expires_at", missing_label="an expiry date"),
    },
    search_fields=(
        SearchFields(("number", "revision", "currency", "total", "title", "customer_name"), _search_words_of),
    ),
)
# Lists of quotes, each without its lines.
LISTED_QUOTES = QUOTES.show_as(ListedQuote)


def set_lookup_name(ctx: Context, record_id: str, name: str) -> None:
    """Change the name by which a quote is looked up; nothing that anybody sees of it changes."""
    ctx.db.run(
        "UPDATE quote SET called = :called WHERE organisation_id = :organisation AND id = :id",
        id=record_id,
        called=name,
    )
    ctx.writer.touch(record_id)
    ctx.writer.mark_written(QUOTES.table, record_id)


def find_accepted_quotes(ctx: Context, job_id: str) -> list[Quote]:
    """Find the accepted quotes for a job, oldest first."""
    sql = f"{QUOTES.select_all} AND quote.job_id = :job AND quote.status = 'accepted' ORDER BY quote.id"
    return [QUOTES.from_row(row) for row in ctx.db.all(sql, job=job_id)]


def fetch_known_job(ctx: Context, job_id: str) -> Job:
    """Fetch a job that is known to exist, whether or not the actor may see it."""
    found = JOBS.find(ctx, "job.id = :id", id=job_id)
    if found is None:
        raise NotFound(JOBS.label)
    return found


def update_quoted_job(ctx: Context, job_id: str | None, changes: Mapping[str, Any] | None = None) -> None:
    """Update a job: whether one of its quotes waits for an answer, and other changes."""
    if job_id is None:
        return
    waiting_quote = ctx.db.one(
        "SELECT 1 FROM quote WHERE organisation_id = :organisation AND job_id = :job AND status = 'sent'"
        " AND told_expired = 0 LIMIT 1",
        job=job_id,
    )
    known = fetch_known_job(ctx, job_id)
    emit_job_updated(ctx, jobs.save(ctx, known, {"quoting": waiting_quote is not None, **(changes or {})}), known)
