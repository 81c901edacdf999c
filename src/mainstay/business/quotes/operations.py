"""The operations on quotes that the office is working on: list, get, draft, update and revise."""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS, check_site
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.edits import LineEdit, NewLine, apply_edits, make_lines
from mainstay.business.lines.model import MAX_LINES, PricingTerms, Share, read_lines, share_to_discount
from mainstay.business.lines.pricing import PriceBook, compute_sales_columns
from mainstay.business.lines.restoring import restore_document
from mainstay.business.organisation import numbering
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.quotes.events import QuoteCreated, QuoteUpdated
from mainstay.business.quotes.model import ListedQuote, ListedQuoteOut, Quote, QuoteStatus
from mainstay.business.quotes.store import LISTED_QUOTES, QUOTES, QuoteId, set_lookup_name
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import declare_inverse
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    STARTING_AFTER,
    Day,
    Paragraph,
    RecordReference,
    StoredDay,
    make_id_validator,
    omittable_field,
)
from mainstay.values.fields import TextLine as Text
from mainstay.values.message import FieldName, Message
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input, LastDay, ListInput, PageResult

_Job = Annotated[
    Annotated[str, RecordReference(prefix="job")] | None,
    Field(
        title="Job", description=describe("[[By ID or number.]] Leave empty to create a job when the customer accepts.")
    ),
]
_Site = Annotated[
    Annotated[str, make_id_validator("site")] | None, Field(title="Site", description="Where the work is done.")
]
_Title = Annotated[
    Text, Field(description=describe("What it is for, e.g. Replace boiler. [[Required without jobId.]]"))
]
_ValidUntil = Annotated[
    StoredDay | None, Field(description="Last date to accept it. Leave empty for your usual number of days.")
]
_Discount = Annotated[Share | None, Field(description="Applies to the whole quote.")]
_Deposit = Annotated[Share | None, Field(description="A part of the total, requested when the customer accepts.")]
_Terms = Annotated[Paragraph | None, Field(description="Printed below the lines.")]


class ListQuotes(ListInput):
    """The quotes to list."""

    starting_after: Annotated[str | None, make_id_validator("quote")] = STARTING_AFTER
    status: QuoteStatus | None = Field(
        None, description=describe("Only quotes with this status. [[`sent`: can be accepted now.]]")
    )
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description="Only quotes for this customer."
    )
    job_id: Annotated[str | None, RecordReference(prefix="job")] = Field(
        None, title="Job", description=describe("[[Only quotes for this job, by ID or number.]]")
    )
    from_: Day | None = Field(None, alias="from", title="From", description="Issued on or after this date.")
    until: LastDay | None = Field(None, description="Issued on or before this date.")
    decided_from: Day | None = Field(
        None, title="Answered from", description="Accepted or declined on or after this date."
    )
    text: SearchText | None = Field(
        None, title="Search", description="Number, amount, or words in the title or the customer's name."
    )
    order: Literal["newest", "issued", "expiring"] = Field(
        "newest",
        description=describe(
            "[[`newest` first, last `issued` first, or first `expiring` first, without those that have no date.]]"
        ),
    )

    def fixed_order(self) -> str | None:
        """Return the order that fits a filter by date of issue."""
        return "issued" if self.from_ or self.until else None


class DraftQuote(Input):
    """The customer, and what to quote."""

    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description=describe("Filled in from the job. [[Required without it.]]")
    )
    job_id: _Job = None
    site_id: _Site = None
    title: _Title = omittable_field()
    lines: list[NewLine] = Field(default_factory=list, max_length=MAX_LINES, description="The lines of the quote.")
    discount: _Discount = None
    deposit: _Deposit = None
    valid_until: _ValidUntil = None
    terms: Paragraph | None = omittable_field(
        description="Printed below the lines. Leave empty to use your standard terms."
    )


class UpdateQuote(Input):
    """The draft and the changes; null clears a field."""

    quote_id: QuoteId
    title: _Title = omittable_field()
    job_id: _Job = None
    site_id: _Site = None
    edits: list[LineEdit] = omittable_field(
        max_length=MAX_LINES, description=describe("[[Changes to its lines, by their IDs; other lines stay.]]")
    )
    discount: _Discount = None
    deposit: _Deposit = None
    valid_until: _ValidUntil = None
    terms: _Terms = None


@operation(permission=Permission.QUOTES_READ, effect=Effect.READ, api_path="GET /quotes")
def list_quotes(ctx: Context, given: ListQuotes) -> PageResult[ListedQuoteOut]:
    """List quotes.

    Estimates for customers: those not answered yet, accepted or declined, and what they are worth. [[For the lines
    of a quote, use get_quote.]]
    """
    if given.job_id is None:
        return LISTED_QUOTES.page(ctx, given)
    return LISTED_QUOTES.page(ctx, given, "quote.job_id = :job", job=JOBS.fetch(ctx, given.job_id).id)


get_quote = declare_get(
    QUOTES,
    "Get quote. With its lines and the customer's answer: what they wrote when they "
    "accepted, or why they declined. [[By its ID or number; the number stands for "
    "the newest revision, `Q-0318-1` for the first.]]",
    Permission.QUOTES_READ,
    api_path="GET /quotes/{quote_id}",
)


@operation(
    permission=Permission.QUOTES_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /quotes",
    undone_by=declare_inverse("withdraw_quote", "quoteId", reason="Created by mistake", confirmed=True),
    past_text="Quote created",
)
def draft_quote(ctx: Context, given: DraftQuote) -> Quote:
    """New quote.

    An estimate for a customer or a job. [[The draft is not sent until send_quote.]]
    """
    job: Job | None = JOBS.fetch(ctx, given.job_id) if given.job_id else None
    title = given.title or (job.title if job else None)
    customer_id = given.customer_id or (job.customer_id if job else None)
    missing = [
        Fault(name, Message("is required without {field}", field=FieldName("jobId")))
        for name, is_there in _required_fields_of(customer_id, title)
        if not is_there
    ]
    if missing:
        raise Invalid(missing)
    buyer: Customer = CUSTOMERS.fetch(ctx, customer_id)
    raise_if_blocked(buyer.not_usable())
    site = given.site_id if "site_id" in given.model_fields_set or job is None else job.site_id
    _check_job_and_site(ctx, buyer.id, job, site)
    settings = settings_of(ctx)
    terms = PricingTerms(
        settings.currency,
        settings.prices_include_tax,
        share_to_discount(_stored_discount_of(given, settings.currency), settings.currency),
    )
    quote = QUOTES.insert(
        ctx,
        {
            "number": (number := numbering.take_number(ctx, "quote")),
            "revision": 1,
            "called": number,
            "customer_id": buyer.id,
            "site_id": site,
            "job_id": job and job.id,
            "title": title,
            "currency": settings.currency,
            "prices_include_tax": settings.prices_include_tax,
            "status": "draft",
            "valid_until": given.valid_until,
            "terms": given.terms if "terms" in given.model_fields_set else settings.quote_terms,
            "discount": _stored_discount_of(given, settings.currency),
            "deposit": given.deposit and given.deposit.to_stored_json(settings.currency, "deposit"),
            **compute_sales_columns(
                ctx, make_lines(given.lines, PriceBook(ctx, inclusive=settings.prices_include_tax)), terms
            ),
        },
    )
    ctx.emit(QuoteCreated(quote))
    return quote


@operation(
    permission=Permission.QUOTES_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /quotes/{quote_id}",
    on=QUOTES,
    blocked_by=ListedQuote.not_editable,
    done_message="Quote updated.",
    undone_by=restore_document,
    past_text="Quote edited",
)
def update_quote(ctx: Context, given: UpdateQuote, quote: Quote) -> Quote:
    """Edit draft quote.

    [[Only fields you send change; lines change with `edits`. Change a quote that was sent with revise_quote.]]
    """
    changes = given.sent_fields("quote_id", "edits", "discount", "deposit", "job_id")
    job: Job | None = None
    if "job_id" in given.model_fields_set:
        job = JOBS.fetch(ctx, given.job_id) if given.job_id else None
        changes["job_id"] = job and job.id
    _check_job_and_site(ctx, quote.customer_id, job, given.site_id)
    if "deposit" in given.model_fields_set:
        changes["deposit"] = given.deposit and given.deposit.to_stored_json(quote.currency, "deposit")
    if "discount" in given.model_fields_set:
        changes["discount"] = _stored_discount_of(given, quote.currency)
    terms = quote.pricing_terms
    if given.edits or "discount" in changes:
        discount = share_to_discount(changes.get("discount", quote.discount), quote.currency)
        terms = PricingTerms(quote.currency, quote.prices_include_tax, discount)
    lines = apply_edits(read_lines(quote.lines), given.edits or [], PriceBook(ctx, inclusive=quote.prices_include_tax))
    after = QUOTES.save(ctx, quote, {**changes, **compute_sales_columns(ctx, lines, terms)})
    if after is not quote:
        ctx.emit(QuoteUpdated(after, quote))
    return after


@operation(
    permission=Permission.QUOTES_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /quotes/{quote_id}/revise",
    on=QUOTES,
    blocked_by=ListedQuote.not_revisable,
    only_adds=True,
    done_message="New revision created.",
    undone_by=declare_inverse("withdraw_quote", "quoteId", reason="Created by mistake", confirmed=True),
    past_text="Revision created",
)
def revise_quote(ctx: Context, _given: Input, quote: Quote) -> Quote:
    """Revise quote.

    Creates a draft copy with the same number to edit and send. Until then, the earlier revision stays valid.
    """
    copied = {name: getattr(quote, name) for name in _COPIED_FIELDS}
    lines = [replace(line, chosen=not line.optional) for line in read_lines(quote.lines)]
    set_lookup_name(ctx, quote.id, f"{quote.number}/{quote.revision}")
    revision = QUOTES.insert(
        ctx,
        {
            **copied,
            "number": quote.number,
            "revision": quote.revision + 1,
            "called": quote.number,
            "status": "draft",
            "valid_until": None,
            **compute_sales_columns(ctx, lines, quote.pricing_terms),
        },
    )
    ctx.emit(QuoteCreated(revision))
    return revision


OPERATIONS = (list_quotes, get_quote, draft_quote, update_quote, revise_quote)

_COPIED_FIELDS = (
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


def _required_fields_of(customer_id: str | None, title: str | None) -> tuple[tuple[str, str | None], ...]:
    return ("customerId", customer_id), ("title", title)


def _stored_discount_of(given: DraftQuote | UpdateQuote, currency: str) -> dict[str, str | None] | None:
    return given.discount.to_stored_json(currency, "discount") if given.discount else None


def _check_job_and_site(ctx: Context, customer_id: str, job: Job | None, site_id: str | None) -> None:
    """Refuse a job or site of another customer, and a job that is over."""
    if job and job.customer_id != customer_id:
        hint = Message("list_jobs lists the jobs of a customer")
        raise Invalid([Fault("jobId", Message("is for another customer", for_programs=hint))])
    if job:
        raise_if_blocked(job.not_workable())
    check_site(ctx, site_id, customer_id)
