"""What can be done with invoices while the office works on them."""

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS, check_site
from mainstay.business.invoices import sources, supply
from mainstay.business.invoices.agreed import price_of
from mainstay.business.invoices.billing import Billed, Reader, check_part, lines_of, part_of, reader_of, work_of
from mainstay.business.invoices.events import InvoiceCreated, InvoiceDeleted, InvoiceUpdated
from mainstay.business.invoices.inputs import ListInvoices
from mainstay.business.invoices.model import Invoice, InvoiceTotals, Kind, ListedInvoice, ListedInvoiceOut
from mainstay.business.invoices.store import INVOICES, LISTED, totals_of
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.edits import LineEdit, NewLine, edited, made, within_bounds
from mainstay.business.lines.model import MOST_LINES, Line, Share, Terms, read_lines, read_share
from mainstay.business.lines.pricing import PriceBook, drawn
from mainstay.business.organisation.house import House, house_of
from mainstay.business.quotes.model import Quote
from mainstay.business.quotes.store import QUOTES
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Fault, Invalid, Reason, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable, Page
from mainstay.values.fields import Day, KeptDay, Paragraph, Reference, id_of, omittable
from mainstay.values.fields import Line as Text

InvoiceId = Annotated[str, Field(title="Invoice", description="The invoice's id or number.")]
_Site = Annotated[
    Annotated[str, id_of("site")] | None, Field(title="Site", description="Where: a site of the customer.")
]
_Title = Annotated[Text | None, Field(description="What it is for, in a few words.")]
_DueOn = Annotated[
    KeptDay | None, Field(title="Due", description="Without it, after the customer's usual time to pay.")
]
_Discount = Annotated[Share | None, Field(description="What is taken off the whole.")]
_SOURCES = "Hours and materials of the job to bill, by their ids."
_TOO_MANY = "bill a part of it, with sources or up to a date"


class GetInvoice(Input):
    """Which invoice."""

    invoice_id: InvoiceId


class DraftInvoice(Input):
    """For whom, and what."""

    customer_id: Annotated[str | None, id_of("customer")] = Field(
        None, title="Customer", description="Known by the job or the quote where one is named."
    )
    job_id: Annotated[str | None, Reference(to="job")] = Field(
        None,
        title="Job",
        description="The job it is for, by id or number. With nothing else, its fixed price is billed.",
    )
    quote_id: Annotated[str | None, Reference(to="quote")] = Field(
        None,
        title="Quote",
        description="An accepted one: what is left of it is billed, less what was asked for before. By id or number.",
    )
    part: Share | None = Field(
        None,
        title="Only a part of the quote",
        description="Of the quote's total, to ask for before: the last invoice takes it off.",
    )
    kind: Literal["deposit", "progress"] = Field(
        "deposit", title="Which part", description="A deposit before the work begins, or progress while it goes on."
    )
    quote_lines: list[str] | None = Field(
        None, max_length=MOST_LINES, description="Only these lines of the quote, by their ids."
    )
    unbilled: bool = Field(
        default=False,
        title="Bill the work",
        description="All approved hours and materials of the job not billed yet.",
    )
    until: Day | None = Field(None, title="Work up to", description="Of what is unbilled, only up to this date.")
    sources: list[str] | None = Field(None, max_length=MOST_LINES, description=_SOURCES)
    site_id: _Site = None
    title: _Title = None
    lines: list[NewLine] = Field(default_factory=list, max_length=MOST_LINES, description="Other lines.")
    discount: _Discount = None
    due_on: _DueOn = None
    supplied_from: supply.SuppliedFrom = None
    supplied_until: supply.SuppliedUntil = None
    notes: Paragraph | None = omittable(description="Printed below; the organisation's own where nothing is said.")

    @property
    def names_nothing_else(self) -> bool:
        """Whether nothing is to be billed but the quote or the job."""
        return not (self.lines or self.unbilled or self.sources)


class UpdateInvoice(Input):
    """Which draft, and what to change; null clears."""

    invoice_id: InvoiceId
    title: _Title = None
    site_id: _Site = None
    edits: list[LineEdit] = omittable(
        max_length=MOST_LINES, description="Changes of its lines, by their ids; the others stay."
    )
    sources: list[str] = omittable(max_length=MOST_LINES, description=_SOURCES)
    discount: _Discount = None
    due_on: _DueOn = None
    supplied_from: supply.SuppliedFrom = None
    supplied_until: supply.SuppliedUntil = None
    notes: Paragraph | None = Field(None, description="Printed below.")


class DeleteDraftInvoice(Irrevocable):
    """Which draft."""

    invoice_id: InvoiceId


@operation(right=Right.INVOICES_READ, effect=Effect.READ, rest="GET /invoices", totals=InvoiceTotals)
def list_invoices(ctx: Context, given: ListInvoices) -> Page[ListedInvoiceOut]:
    """List invoices, also those due between two dates.

    Without their lines, which get_invoice tells; `totals` adds what all of them come to. For who owes what, ask for
    status `unpaid` or `overdue`.
    """
    if given.totals and given.text is not None:
        raise Invalid([Fault("totals", "is not for a search: narrow the list by dates, status or customer instead")])
    narrowed: list[str] = []
    bound: dict[str, Any] = {}
    if given.job_id is not None:
        narrowed.append("invoice.job_id = :job")
        bound["job"] = JOBS.fetch(ctx, given.job_id).id
    if given.quote_id is not None:
        narrowed.append("invoice.quote_id = :quote")
        bound["quote"] = QUOTES.fetch(ctx, given.quote_id).id
    where = " AND ".join(narrowed)
    page = LISTED.page(ctx, given, where, **bound)
    return replace(page, totals=totals_of(ctx, given, where, **bound)) if given.totals else page


@operation(right=Right.INVOICES_READ, effect=Effect.READ, rest="GET /invoices/{invoice_id}", glances=True, on=INVOICES)
def get_invoice(_ctx: Context, _given: GetInvoice, invoice: Invoice) -> Invoice:
    """Get an invoice with its lines.

    By its id or number.
    """
    return invoice


@operation(
    right=Right.INVOICES_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /invoices",
    # What it bills is marked as billed.
    only_adds=False,
    done="The draft is made.",
)
def draft_invoice(ctx: Context, given: DraftInvoice) -> Invoice:
    """Draft an invoice.

    Of a quote or a part of it, of work not billed yet, of a job's fixed price, or of other lines. It has no number, and
    nothing is sent, until send_invoice.
    """
    return draft(ctx, given)


@operation(
    right=Right.INVOICES_CHANGE,
    effect=Effect.CHANGE,
    rest="PATCH /invoices/{invoice_id}",
    on=INVOICES,
    unless=ListedInvoice.not_editable,
    done="Your changes are saved.",
)
def update_invoice(ctx: Context, given: UpdateInvoice, invoice: Invoice) -> Invoice:
    """Change a draft of an invoice.

    Only what is sent changes; lines by edits, each of which names its line. What was issued is voided or credited.
    """
    check_part(invoice, given.edits or [], given.sources or [])
    changes = given.sent("invoice_id", "edits", "discount", "sources")
    check_site(ctx, given.site_id, invoice.customer_id)
    if "discount" in given.model_fields_set:
        changes["discount"] = given.discount and given.discount.kept(invoice.currency, "discount")
    terms = invoice.reckoned
    if given.edits or given.sources or "discount" in changes:
        discount = read_share(changes.get("discount", invoice.discount), invoice.currency)
        terms = Terms(invoice.currency, invoice.prices_include_tax, discount)
    prices = PriceBook(ctx, inclusive=invoice.prices_include_tax)
    before = read_lines(invoice.lines)
    lines = _typed(edited(before, given.edits or [], prices))
    if given.sources:
        reader = reader_of(CUSTOMERS.fetch(ctx, invoice.customer_id), house_of(ctx))
        lines += work_of(prices, _needed_job(invoice.job_id), given.sources, None, reader)
    changes |= supply.supply_changes(ctx, given.sent(), invoice, None if lines == before else lines)
    columns = drawn(ctx, within_bounds(lines, "lines", _TOO_MANY, before), terms)
    cost = sources.other_cost(lines, invoice.currency)
    after = INVOICES.save(ctx, invoice, {**changes, **columns, "other_cost": cost, "due": columns["total"]})
    if after is not invoice:
        sources.reserve(ctx, after)
        ctx.record(InvoiceUpdated(after, invoice))
    return after


@operation(
    right=Right.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /invoices/{invoice_id}/delete",
    on=INVOICES,
    unless=ListedInvoice.not_deletable,
    done="The draft is deleted.",
    ends=True,
)
def delete_draft_invoice(ctx: Context, _given: DeleteDraftInvoice, invoice: Invoice) -> Invoice:
    """Delete a draft of an invoice.

    What is on it can be billed again. What was issued stays: void or credit it.
    """
    ctx.summary = f"{invoice.called}: deleted."
    if sources.free(ctx, invoice):
        ctx.effects.append("What it bills is free to be billed again.")
    INVOICES.remove(ctx, invoice)
    ctx.record(InvoiceDeleted(invoice))
    return invoice


OPERATIONS = (list_invoices, get_invoice, draft_invoice, update_invoice, delete_draft_invoice)


def draft(ctx: Context, given: DraftInvoice, *, of_archived: bool = False) -> Invoice:
    """A draft of what is asked for, on which everything is billed by no other from now on.

    `of_archived` where it is also drafted for a customer who is archived: whoever sends it is told.
    """
    _check_asked(given)
    house = house_of(ctx)
    quote = _find_billable_quote(ctx, given.quote_id, house)
    job = _job_of(ctx, quote.job_id if quote and given.job_id is None else given.job_id)
    customer = _customer_of(ctx, given, quote, job)
    refuse([] if of_archived else customer.not_usable())
    reader = reader_of(customer, house)
    billed = _of_quote(ctx, given, quote, reader) if quote else _without_quote(ctx, given, job, house)
    prices = PriceBook(ctx, inclusive=billed.inclusive)
    lines = [*billed.lines, *_work(prices, given, job, reader), *_typed(made(given.lines, prices))]
    discount = given.discount.kept(house.currency, "discount") if given.discount else billed.discount
    site = given.site_id if "site_id" in given.model_fields_set else _site_of(quote, job)
    check_site(ctx, site, customer.id)
    shares = {} if given.discount else billed.shares_of(lines)
    terms = Terms(house.currency, billed.inclusive, read_share(discount, house.currency), shares)
    columns = drawn(ctx, within_bounds(lines, "lines", _TOO_MANY, billed.lines), terms)
    kind = _kind_of(given, billed)
    typed = supply.read_supply(given.supplied_from, given.supplied_until)
    invoice = INVOICES.insert(
        ctx,
        {
            "kind": kind,
            "customer_id": customer.id,
            "site_id": site,
            "job_id": job and job.id,
            "quote_id": quote and quote.id,
            "title": given.title or (quote.title if quote else job.title if job else None),
            "currency": house.currency,
            "prices_include_tax": billed.inclusive,
            "status": "draft",
            "standing": "draft",
            "due_on": given.due_on,
            **supply.supply_columns(typed, supply.find_supply(ctx, kind, job.id if job else None, lines)),
            "notes": given.notes if "notes" in given.model_fields_set else house.invoice_notes,
            "discount": discount,
            "due": columns["total"],
            "other_cost": sources.other_cost(lines, house.currency),
            **columns,
        },
    )
    sources.reserve(ctx, invoice)
    ctx.record(InvoiceCreated(invoice))
    return invoice


def _find_billable_quote(ctx: Context, identity: str | None, house: House) -> Quote | None:
    """Return the quote that is to be billed, if one is named; refuse one that cannot be."""
    if identity is None:
        return None
    quote: Quote = QUOTES.fetch(ctx, identity)
    instead = f"Draft an invoice with lines in {house.currency} instead."
    refuse([*quote.not_billable(), *house.if_foreign(quote.currency, instead, "draft_invoice")])
    return quote


def _check_asked(given: DraftInvoice) -> None:
    """Refuse what contradicts itself, or asks for a part of nothing."""
    faults = [
        Fault(name, "needs quoteId: a part of which quote")
        for name, value in (("part", given.part), ("quoteLines", given.quote_lines))
        if value is not None and not given.quote_id
    ]
    if given.part is not None and given.quote_lines is not None:
        faults.append(Fault("quoteLines", "is not sent with part: either a share of the total, or lines"))
    if given.part is not None and not given.names_nothing_else:
        faults.append(Fault("part", "stands alone on an invoice; draft another one for other lines"))
    if given.unbilled and given.sources is not None:
        faults.append(Fault("sources", "is not sent with unbilled: either all, or these"))
    if faults:
        raise Invalid(faults)


def _job_of(ctx: Context, named: str | None) -> Job | None:
    return JOBS.fetch(ctx, named) if named is not None else None


def _customer_of(ctx: Context, given: DraftInvoice, quote: Quote | None, job: Job | None) -> Customer:
    named = given.customer_id or (quote.customer_id if quote else job.customer_id if job else None)
    if named is None:
        raise Invalid([Fault("customerId", "is required without jobId or quoteId")])
    customer: Customer = CUSTOMERS.fetch(ctx, named)
    # Before what was theirs is told to be another customer's.
    refuse(customer.if_merged())
    faults = []
    if quote and quote.customer_id != named:
        faults.append(Fault("quoteId", "is a quote for another customer; list_quotes tells this one's"))
    if job and job.customer_id != named:
        faults.append(Fault("jobId", "is a job for another customer; list_jobs tells this one's"))
    if faults:
        raise Invalid(faults)
    return customer


def _of_quote(ctx: Context, given: DraftInvoice, quote: Quote, reader: Reader) -> Billed:
    if given.part:
        return part_of(ctx, quote, given.part, given.kind, reader)
    return lines_of(ctx, quote, given.quote_lines, reader, alone=given.names_nothing_else)


def _without_quote(ctx: Context, given: DraftInvoice, job: Job | None, house: House) -> Billed:
    if job and given.names_nothing_else:
        return price_of(ctx, job, house)
    return Billed([], None, house.prices_include_tax)


def _kind_of(given: DraftInvoice, billed: Billed) -> Kind:
    if given.part:
        return given.kind
    return "final" if any(line.deducts for line in billed.lines) else "standard"


def _work(prices: PriceBook, given: DraftInvoice, job: Job | None, reader: Reader) -> list[Line]:
    if not given.unbilled and not given.sources:
        return []
    lines = work_of(prices, _needed_job(job.id if job else None), given.sources, given.until, reader)
    if not lines:
        refuse([Reason("There is nothing of this job that is approved and on no invoice or draft.", "review_hours")])
    return lines


def _needed_job(job: str | None) -> str:
    if job is None:
        raise Invalid([Fault("jobId", "is required to bill work: of which job")])
    return job


def _typed(lines: list[Line]) -> list[Line]:
    """Refuse options: on an invoice everything counts."""
    faults = [
        Fault(f"lines.{place}.optional", "is for quotes only: on an invoice everything counts")
        for place, line in enumerate(lines)
        if line.optional
    ]
    if faults:
        raise Invalid(faults)
    return lines


def _site_of(quote: Quote | None, job: Job | None) -> str | None:
    return (quote.site_id if quote else None) or (job.site_id if job else None)
