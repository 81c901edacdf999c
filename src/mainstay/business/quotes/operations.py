"""What can be done with quotes while the office works on them."""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS, check_site
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.edits import LineEdit, NewLine, edited, made
from mainstay.business.lines.model import MOST_LINES, Share, Terms, read_lines, read_share
from mainstay.business.lines.pricing import PriceBook, drawn
from mainstay.business.organisation import numbering
from mainstay.business.organisation.house import house_of
from mainstay.business.quotes.events import QuoteCreated, QuoteUpdated
from mainstay.business.quotes.model import ListedQuote, ListedQuoteOut, Quote, Status
from mainstay.business.quotes.store import LISTED, QUOTES, call
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Fault, Invalid, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, LastDay, ListInput, Page
from mainstay.values.fields import LAST_SEEN, Day, KeptDay, Paragraph, Reference, id_of, omittable
from mainstay.values.fields import Line as Text
from mainstay.values.search import SearchText

QuoteId = Annotated[str, Field(title="Quote", description="The quote's id or number.")]
_Job = Annotated[
    Annotated[str, Reference(to="job")] | None,
    Field(title="Job", description="The job it is for, by id or number; without one, acceptance makes it."),
]
_Site = Annotated[
    Annotated[str, id_of("site")] | None, Field(title="Site", description="Where: a site of the customer.")
]
_Title = Annotated[Text, Field(description="What it is for, in a few words. Needed without jobId.")]
_ValidUntil = Annotated[KeptDay | None, Field(description="The last date to accept it; null for the usual time.")]
_Discount = Annotated[Share | None, Field(description="What is taken off the whole.")]
_Deposit = Annotated[Share | None, Field(description="What is asked for before the work begins; of the total.")]
_Terms = Annotated[Paragraph | None, Field(description="Printed below.")]


class ListQuotes(ListInput):
    """Which quotes to list."""

    starting_after: Annotated[str | None, id_of("quote")] = LAST_SEEN
    status: Status | None = Field(None, description="Only these; `sent` are those that can be accepted now.")
    customer_id: Annotated[str | None, id_of("customer")] = Field(
        None, title="Customer", description="Only quotes for this customer."
    )
    job_id: Annotated[str | None, Reference(to="job")] = Field(
        None, title="Job", description="Only quotes for this job, by id or number."
    )
    from_: Day | None = Field(None, alias="from", title="From", description="Only those issued on this date or later.")
    until: LastDay | None = Field(None, description="Only those issued on this date or earlier.")
    decided_from: Day | None = Field(
        None, title="Answered from", description="Only those accepted or declined on this date or later."
    )
    text: SearchText | None = Field(None, title="Search", description="Number, amount, or words of title or customer.")
    order: Literal["newest", "issued", "expiring"] = Field(
        "newest",
        description="`newest` first, last `issued` first, or first `expiring` first, without those that have no date.",
    )

    def fixed_order(self) -> str | None:
        """Return the order of the date by which the quotes are narrowed."""
        return "issued" if self.from_ or self.until else None


class GetQuote(Input):
    """Which quote."""

    quote_id: QuoteId


class DraftQuote(Input):
    """For whom, and what."""

    customer_id: Annotated[str | None, id_of("customer")] = Field(
        None, title="Customer", description="Known by the job where one is named."
    )
    job_id: _Job = None
    site_id: _Site = None
    title: _Title = omittable()
    lines: list[NewLine] = Field(default_factory=list, max_length=MOST_LINES, description="What it is made of.")
    discount: _Discount = None
    deposit: _Deposit = None
    valid_until: _ValidUntil = None
    terms: Paragraph | None = omittable(description="Printed below; the organisation's own where nothing is said.")


class UpdateQuote(Input):
    """Which draft, and what to change; null clears."""

    quote_id: QuoteId
    title: _Title = omittable()
    job_id: _Job = None
    site_id: _Site = None
    edits: list[LineEdit] = omittable(
        max_length=MOST_LINES, description="Changes of its lines, by their ids; the others stay."
    )
    discount: _Discount = None
    deposit: _Deposit = None
    valid_until: _ValidUntil = None
    terms: _Terms = None


class ReviseQuote(Input):
    """Which quote."""

    quote_id: QuoteId


@operation(right=Right.QUOTES_READ, effect=Effect.READ, rest="GET /quotes")
def list_quotes(ctx: Context, given: ListQuotes) -> Page[ListedQuoteOut]:
    """List quotes.

    Without their lines, which get_quote tells.
    """
    if given.job_id is None:
        return LISTED.page(ctx, given)
    return LISTED.page(ctx, given, "quote.job_id = :job", job=JOBS.fetch(ctx, given.job_id).id)


@operation(right=Right.QUOTES_READ, effect=Effect.READ, rest="GET /quotes/{quote_id}", glances=True, on=QUOTES)
def get_quote(_ctx: Context, _given: GetQuote, quote: Quote) -> Quote:
    """Get a quote with its lines.

    By its id or number; that names the newest revision, `Q-0318-1` the first.
    """
    return quote


@operation(right=Right.QUOTES_CHANGE, effect=Effect.CHANGE, rest="POST /quotes", done="The draft is there.")
def draft_quote(ctx: Context, given: DraftQuote) -> Quote:
    """Draft a quote.

    For a customer, or for a job. Nothing is sent until send_quote.
    """
    job: Job | None = JOBS.fetch(ctx, given.job_id) if given.job_id else None
    title = given.title or (job.title if job else None)
    customer = given.customer_id or (job.customer_id if job else None)
    missing = [Fault(name, "is required without jobId") for name, is_there in _needed(customer, title) if not is_there]
    if missing:
        raise Invalid(missing)
    asked: Customer = CUSTOMERS.fetch(ctx, customer)
    refuse(asked.not_usable())
    site = given.site_id if "site_id" in given.model_fields_set or job is None else job.site_id
    _check_belongs(ctx, asked.id, job, site)
    house = house_of(ctx)
    terms = Terms(house.currency, house.prices_include_tax, read_share(_kept(given, house.currency), house.currency))
    quote = QUOTES.insert(
        ctx,
        {
            "number": (number := numbering.take(ctx, "quote")),
            "revision": 1,
            "called": number,
            "customer_id": asked.id,
            "site_id": site,
            "job_id": job and job.id,
            "title": title,
            "currency": house.currency,
            "prices_include_tax": house.prices_include_tax,
            "status": "draft",
            "valid_until": given.valid_until,
            "terms": given.terms if "terms" in given.model_fields_set else house.quote_terms,
            "discount": _kept(given, house.currency),
            "deposit": given.deposit and given.deposit.kept(house.currency, "deposit"),
            **drawn(ctx, made(given.lines, PriceBook(ctx, inclusive=house.prices_include_tax)), terms),
        },
    )
    ctx.record(QuoteCreated(quote))
    return quote


@operation(
    right=Right.QUOTES_CHANGE,
    effect=Effect.CHANGE,
    rest="PATCH /quotes/{quote_id}",
    on=QUOTES,
    unless=ListedQuote.not_editable,
    done="Your changes are saved.",
)
def update_quote(ctx: Context, given: UpdateQuote, quote: Quote) -> Quote:
    """Change a draft of a quote.

    Only what is sent changes; lines by edits, each of which names its line. What was sent is changed with revise_quote.
    """
    changes = given.sent("quote_id", "edits", "discount", "deposit", "job_id")
    job: Job | None = None
    if "job_id" in given.model_fields_set:
        job = JOBS.fetch(ctx, given.job_id) if given.job_id else None
        changes["job_id"] = job and job.id
    _check_belongs(ctx, quote.customer_id, job, given.site_id)
    if "deposit" in given.model_fields_set:
        changes["deposit"] = given.deposit and given.deposit.kept(quote.currency, "deposit")
    if "discount" in given.model_fields_set:
        changes["discount"] = _kept(given, quote.currency)
    terms = quote.reckoned
    if given.edits or "discount" in changes:
        discount = read_share(changes.get("discount", quote.discount), quote.currency)
        terms = Terms(quote.currency, quote.prices_include_tax, discount)
    lines = edited(read_lines(quote.lines), given.edits or [], PriceBook(ctx, inclusive=quote.prices_include_tax))
    after = QUOTES.save(ctx, quote, {**changes, **drawn(ctx, lines, terms)})
    if after is not quote:
        ctx.record(QuoteUpdated(after, quote))
    return after


@operation(
    right=Right.QUOTES_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /quotes/{quote_id}/revise",
    on=QUOTES,
    unless=ListedQuote.not_revisable,
    done="The next revision is there, as a draft.",
)
def revise_quote(ctx: Context, _given: ReviseQuote, quote: Quote) -> Quote:
    """Draft the next revision of a quote.

    A copy with the same number to be changed and sent; the one before counts until then.
    """
    copied = {name: getattr(quote, name) for name in _COPIED}
    lines = [replace(line, chosen=not line.optional) for line in read_lines(quote.lines)]
    call(ctx, quote.id, f"{quote.number}/{quote.revision}")
    revision = QUOTES.insert(
        ctx,
        {
            **copied,
            "number": quote.number,
            "revision": quote.revision + 1,
            "called": quote.number,
            "status": "draft",
            "valid_until": None,
            **drawn(ctx, lines, quote.reckoned),
        },
    )
    ctx.record(QuoteCreated(revision))
    return revision


OPERATIONS = (list_quotes, get_quote, draft_quote, update_quote, revise_quote)

_COPIED = (
    "customer_id",
    "site_id",
    "job_id",
    "title",
    "currency",
    "prices_include_tax",
    "discount",
    "deposit",
    "terms",
)


def _needed(customer: str | None, title: str | None) -> tuple[tuple[str, str | None], ...]:
    return ("customerId", customer), ("title", title)


def _kept(given: DraftQuote | UpdateQuote, currency: str) -> dict[str, str | None] | None:
    return given.discount.kept(currency, "discount") if given.discount else None


def _check_belongs(ctx: Context, customer: str, job: Job | None, site: str | None) -> None:
    """Refuse what is another customer's, and work that is over."""
    if job and job.customer_id != customer:
        raise Invalid([Fault("jobId", "is a job for another customer; list_jobs tells this one's")])
    if job:
        refuse(job.not_workable())
    check_site(ctx, site, customer)
