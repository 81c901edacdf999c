"""Where quotes are kept."""

from collections.abc import Mapping
from typing import Any, get_args

from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import tell_of_change
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.quotes.model import ListedQuote, Quote, Status
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.listed import NEWEST, FoundBy, ListOrder
from mainstay.terms.refusal import NotFound
from mainstay.values.ids import is_id
from mainstay.values.money import amount_text
from mainstay.values.search import kept_words, words_of_digits, words_of_number, words_of_text

_CUSTOMER_S_NAME = (
    "(SELECT customer.name FROM customer WHERE customer.organisation_id = :organisation"
    " AND customer.id = quote.customer_id)"
)
_SITE_S_NAME = "(SELECT site.name FROM site WHERE site.organisation_id = :organisation AND site.id = quote.site_id)"
_JOB_S_NUMBER = "(SELECT job.number FROM job WHERE job.organisation_id = :organisation AND job.id = quote.job_id)"

# The first that counts; whether another deposit is asked for is warned of where it is drafted.
_DEPOSIT_INVOICE = (
    "(SELECT min(invoice.id) FROM invoice WHERE invoice.organisation_id = :organisation AND invoice.quote_id = quote.id"
    " AND invoice.kind = 'deposit' AND invoice.status <> 'void')"
)

_EXPIRED = "quote.status = 'sent' AND quote.expires_at <= :now"
# Not as they stand, or an engine would look them up by when they expire, and then sort them.
_STATES = {name: f"quote.status = '{name}'" for name in get_args(Status)} | {
    "sent": "quote.status = 'sent' AND coalesce(quote.expires_at, '') > :now",
    "expired": "quote.status = 'sent' AND coalesce(quote.expires_at, '') <= :now",
}
# The state that people are told.
STATUS = f"CASE WHEN {_EXPIRED} THEN 'expired' ELSE quote.status END"
_COLUMNS = {
    "status": STATUS,
    "customer_name": _CUSTOMER_S_NAME,
    "job_number": _JOB_S_NUMBER,
}
_FACTS = {"newest": "CASE WHEN quote.called = quote.number THEN 1 ELSE 0 END"}


def _words(number: str, revision: int, currency: str, total: int, *texts: str) -> frozenset[str]:
    amount = amount_text(total, currency)
    # Every revision is found by the number; named by it is the first, so that it is the name of one.
    numbered = {word for word in words_of_number(number) if revision == 1 or not word.startswith("#")}
    # Whoever looks for digits alone may mean an amount as well as a phone.
    return kept_words(numbered, words_of_text(" ".join((*texts, amount))), words_of_digits(amount))


_FOUND_BY = (FoundBy(("number", "revision", "currency", "total", "title", "customer_name"), _words),)


class Quotes(Listing[Quote]):
    """Quotes, of which a number names the newest revision, however it is written."""

    def fetch(self, ctx: Context, identity: str | None) -> Quote:
        """The quote of this id, the newest of this number, or the revision that is named with it."""
        found = super().fetch(ctx, identity)
        if found.newest or is_id(identity or "", self.prefix):
            return found
        named = _as_in_paths(identity or "") == _as_in_paths(f"{found.number}/{found.revision}")
        return found if named else super().fetch(ctx, found.number)

    def meant(self, ctx: Context, number: str) -> str | None:
        """An earlier revision as a path names it, or whatever is meant by such a number."""
        of, _, revision = number.rpartition("-")
        row = ctx.rows.one(
            "SELECT id, called FROM quote WHERE organisation_id = :organisation AND called ="
            " (SELECT number || '/' || CAST(:revision AS text) FROM quote"
            " WHERE organisation_id = :organisation AND id = :first)",
            revision=revision,
            first=super().meant(ctx, of),
        )
        return str(row[0]) if row and _as_in_paths(str(row[1])) == number else super().meant(ctx, number)


def _as_in_paths(called: str) -> str:
    """What a quote is called where a slash would part it: `Q-0318-1` for `Q-0318/1`."""
    return called.strip().upper().replace("/", "-")


# Of the list, and of one: by that, its page knows what an order leaves out.
_ORDERS = {
    NEWEST: ListOrder("id", descending=True),
    "issued": ListOrder("issued_on", descending=True, without="a date of issue"),
    "expiring": ListOrder("expires_at", without="a date until which they are valid"),
}
# What only the rules of a whole quote need to know.
_OF_ONE = ("snapshot", "pdf_sha256", "discount_shares", "sent_by")
# One quote, with all that is in it.
QUOTES = Quotes(
    Quote,
    source="quote",
    what="quote",
    prefix="quote",
    id_field="quote_id",
    number="called",
    columns=_COLUMNS
    | {
        "site_name": _SITE_S_NAME,
        "margin": "quote.costed_net - quote.cost",
        "deposit_invoice_id": _DEPOSIT_INVOICE,
    },
    facts=_FACTS | {name: f"quote.{name}" for name in _OF_ONE},
    found_by=_FOUND_BY,
    orders=_ORDERS,
)
# Many, each without its lines.
LISTED = Listing(
    ListedQuote,
    source="quote",
    what="quote",
    prefix="quote",
    id_field="quote_id",
    number="called",
    columns=_COLUMNS,
    facts=_FACTS,
    filters={
        "status": _STATES,
        "customer_id": "quote.customer_id = :customer_id",
        "from_": "quote.issued_on >= :from_",
        "until": "quote.issued_on <= :until",
        "decided_from": "quote.decided_at >= :decided_from",
    },
    orders=_ORDERS,
    found_by=_FOUND_BY,
)


def call(ctx: Context, identity: str, called: str) -> None:
    """Let a quote be called otherwise from now on: nothing that anyone is shown of it changes."""
    ctx.rows.run(
        "UPDATE quote SET called = :called WHERE organisation_id = :organisation AND id = :id",
        id=identity,
        called=called,
    )
    ctx.pen.touch(identity)
    ctx.pen.mark_written(QUOTES.table, identity)


def accepted_for(ctx: Context, job: str) -> list[Quote]:
    """What was agreed for a job, the oldest first."""
    sql = f"{QUOTES.everything} AND quote.job_id = :job AND quote.status = 'accepted' ORDER BY quote.id"
    return [QUOTES.keep(row) for row in ctx.rows.all(sql, job=job)]


def job_of(ctx: Context, job: str) -> Job:
    """A job that is known to be there, whoever acts on it."""
    found = JOBS.find(ctx, "job.id = :id", id=job)
    if found is None:
        raise NotFound(JOBS.what)
    return found


def hand_down(ctx: Context, job: str | None, changes: Mapping[str, Any] | None = None) -> None:
    """Let a job know whether an answer to a quote of it is waited for, with what else changes of it."""
    if job is None:
        return
    waits = ctx.rows.one(
        "SELECT 1 FROM quote WHERE organisation_id = :organisation AND job_id = :job AND status = 'sent'"
        " AND told_expired = 0 LIMIT 1",
        job=job,
    )
    known = job_of(ctx, job)
    tell_of_change(ctx, jobs.save(ctx, known, {"quoting": waits is not None, **(changes or {})}), known)
