"""The operations on invoices that the office is working on: list, get, draft, update and delete."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS, check_site
from mainstay.business.invoices.drafting import sources, supply_date
from mainstay.business.invoices.drafting.billable_lines import (
    BillableLines,
    LineWording,
    build_advance_lines,
    build_quote_lines,
    build_work_lines,
    refuse_other_lines,
    wording_for,
)
from mainstay.business.invoices.drafting.fixed_price import build_price_line
from mainstay.business.invoices.events import InvoiceCreated, InvoiceDeleted, InvoiceUpdated
from mainstay.business.invoices.inputs import ListInvoices
from mainstay.business.invoices.model import Invoice, InvoiceKind, InvoiceTotals, ListedInvoice, ListedInvoiceOut
from mainstay.business.invoices.store import INVOICES, LISTED_INVOICES, InvoiceId, sum_invoices
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.edits import LineEdit, NewLine, apply_edits, check_limits, make_lines
from mainstay.business.lines.model import MAX_LINES, Line, PricingTerms, Share, read_lines, share_to_discount
from mainstay.business.lines.pricing import PriceBook, compute_sales_columns
from mainstay.business.lines.restoring import restore_document
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.business.quotes.model import Quote
from mainstay.business.quotes.store import QUOTES
from mainstay.changes.undo import Inverse
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import Act, declare_inverse
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.descriptions import describe
from mainstay.values.fields import Day, Paragraph, RecordReference, StoredDay, make_id_validator, omittable_field
from mainstay.values.fields import TextLine as Text
from mainstay.values.message import FieldName, Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid, Reason, raise_if_blocked
from mainstay.vocabulary.schemas import Input, IrreversibleInput, PageResult

_Site = Annotated[
    Annotated[str, make_id_validator("site")] | None, Field(title="Site", description="Where the work was done.")
]
_Title = Annotated[Text | None, Field(description="What it is for, e.g. Boiler service.")]
_DueOn = Annotated[
    StoredDay | None, Field(title="Due date", description="Leave empty to use the customer's payment terms.")
]
_Discount = Annotated[Share | None, Field(description="Applies to the whole invoice.")]
_SOURCES_DESCRIPTION = "IDs of hours and materials of the job to invoice."
_SUPPLY_FIELDS = ("suppliedFrom", "suppliedUntil")
_TOO_MANY_LINES = Message(
    "invoice a part of the work, such as up to a date", for_programs=Message("send `sources` or `until`")
)


class DraftInvoice(Input):
    """The customer, and what to bill."""

    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description=describe("Filled in from the job or the quote. [[Required without them.]]")
    )
    job_id: Annotated[str | None, RecordReference(prefix="job")] = Field(
        None,
        title="Job",
        description=describe("[[By ID or number.]] Choose only a job to invoice its fixed price."),
    )
    quote_id: Annotated[str | None, RecordReference(prefix="quote")] = Field(
        None,
        title="Quote",
        description=describe("Invoices the rest of the accepted quote, minus deposits. [[By ID or number.]]"),
    )
    part: Share | None = Field(
        None,
        title="Part invoice",
        description="Invoices only this part of the quote's total now; the final invoice deducts it.",
    )
    kind: Literal["deposit", "progress"] = Field(
        "deposit",
        title="Type of part invoice",
        description=describe("[[With `part`.]] Deposit: before the work starts. Progress: while the work is going on."),
    )
    quote_lines: list[str] | None = Field(
        None, max_length=MAX_LINES, description="IDs of lines of the quote, to invoice only these."
    )
    unbilled: bool = Field(
        default=False,
        title="Invoice the work",
        description="Adds all approved hours and materials of the job that are not invoiced yet.",
    )
    until: Day | None = Field(
        None,
        title="Work up to",
        description=describe(
            "[[With `unbilled`: only work on or before this date.]] Leave empty to include all work so far."
        ),
    )
    sources: list[str] | None = Field(None, max_length=MAX_LINES, description=_SOURCES_DESCRIPTION)
    site_id: _Site = None
    title: _Title = None
    lines: list[NewLine] = Field(default_factory=list, max_length=MAX_LINES, description="Other lines.")
    discount: _Discount = None
    due_on: _DueOn = None
    supplied_from: supply_date.SuppliedFrom = None
    supplied_until: supply_date.SuppliedUntil = None
    notes: Paragraph | None = omittable_field(
        title="Text on invoice", description="Printed below the lines. Leave empty to use your standard text."
    )

    @property
    def has_no_other_lines(self) -> bool:
        """Whether only the quote or the job is to be billed."""
        return not (self.lines or self.unbilled or self.sources)


class UpdateInvoice(Input):
    """The draft and the changes; null clears a field."""

    invoice_id: InvoiceId
    title: _Title = None
    site_id: _Site = None
    edits: list[LineEdit] = omittable_field(
        max_length=MAX_LINES, description=describe("[[Changes to its lines, by their IDs; other lines stay.]]")
    )
    sources: list[str] = omittable_field(max_length=MAX_LINES, description=_SOURCES_DESCRIPTION)
    discount: _Discount = None
    due_on: _DueOn = None
    supplied_from: supply_date.SuppliedFrom = None
    supplied_until: supply_date.SuppliedUntil = None
    notes: Paragraph | None = Field(None, title="Text on invoice", description="Printed below the lines.")


@operation(
    permission=Permission.INVOICES_READ, effect=Effect.READ, api_path="GET /invoices", totals_model=InvoiceTotals
)
def list_invoices(ctx: Context, given: ListInvoices) -> PageResult[ListedInvoiceOut]:
    """List invoices.

    Which invoices are unpaid, overdue or due between two dates, and who owes what: filter by status or due date.
    [[`totals` adds the sums of the whole list; get_invoice has the lines.]]
    """
    if given.totals and given.text is not None:
        message = Message("is not available for a search: filter by dates, status or customer instead")
        raise Invalid([Fault("totals", message)])
    conditions: list[str] = []
    bound: dict[str, Any] = {}
    if given.job_id is not None:
        conditions.append("invoice.job_id = :job")
        bound["job"] = JOBS.fetch(ctx, given.job_id).id
    if given.quote_id is not None:
        conditions.append("invoice.quote_id = :quote")
        bound["quote"] = QUOTES.fetch(ctx, given.quote_id).id
    where = " AND ".join(conditions)
    page = LISTED_INVOICES.page(ctx, given, where, **bound)
    return replace(page, totals=sum_invoices(ctx, given, where, **bound)) if given.totals else page


get_invoice = declare_get(
    INVOICES,
    "Get invoice. [[With its lines, by its ID or number.]]",
    Permission.INVOICES_READ,
    api_path="GET /invoices/{invoice_id}",
)


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /invoices",
    # It also marks what it bills as billed.
    only_adds=False,
    done_message="Draft invoice created.",
    undone_by=declare_inverse("delete_draft_invoice", "invoiceId", confirmed=True),
    past_text="Invoice created",
)
def draft_invoice(ctx: Context, given: DraftInvoice) -> Invoice:
    """New invoice.

    Invoice a quote or a part of it (deposit, progress), unbilled hours and materials, a job's fixed price, or
    other lines. [[The draft has no number and nothing is sent until send_invoice.]]
    """
    return create_draft(ctx, given)


def _restore_invoice(act: Act) -> Sequence[Inverse] | Message:
    """Restore the previous values and lines. Days of supply that nobody had typed follow from the lines again."""
    inverses = restore_document(act)
    if isinstance(inverses, Message) or not inverses or act.before.supply_typed:
        return inverses
    values = {name: value for name, value in inverses[0].input.items() if name not in _SUPPLY_FIELDS}
    return [inverses[0]._replace(input=values | dict.fromkeys(_SUPPLY_FIELDS))]


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /invoices/{invoice_id}",
    on=INVOICES,
    blocked_by=ListedInvoice.not_editable,
    done_message="Invoice updated.",
    undone_by=_restore_invoice,
    past_text="Invoice edited",
)
def update_invoice(ctx: Context, given: UpdateInvoice, invoice: Invoice) -> Invoice:
    """Edit draft invoice.

    To correct an issued invoice, void or credit it. [[Only the fields sent change; lines change with `edits`.]]
    """
    refuse_other_lines(invoice, given.edits or [], given.sources or [])
    changes = given.sent_fields("invoice_id", "edits", "discount", "sources")
    check_site(ctx, given.site_id, invoice.customer_id)
    if "discount" in given.model_fields_set:
        changes["discount"] = given.discount and given.discount.to_stored_json(invoice.currency, "discount")
    terms = invoice.pricing_terms
    if given.edits or given.sources or "discount" in changes:
        discount = share_to_discount(changes.get("discount", invoice.discount), invoice.currency)
        terms = PricingTerms(invoice.currency, invoice.prices_include_tax, discount)
    prices = PriceBook(ctx, inclusive=invoice.prices_include_tax)
    before = read_lines(invoice.lines)
    lines = _refuse_optional(apply_edits(before, given.edits or [], prices))
    if given.sources:
        wording = wording_for(CUSTOMERS.fetch(ctx, invoice.customer_id), settings_of(ctx))
        lines += build_work_lines(prices, _require_job(invoice.job_id), given.sources, None, wording)
    changes |= supply_date.compute_supply_changes(ctx, given.sent_fields(), invoice, None if lines == before else lines)
    columns = compute_sales_columns(ctx, check_limits(lines, "lines", _TOO_MANY_LINES, before), terms)
    cost = sources.sum_other_costs(lines, invoice.currency)
    after = INVOICES.save(ctx, invoice, {**changes, **columns, "other_cost": cost, "due": columns["total"]})
    if after is not invoice:
        sources.reserve_sources(ctx, after)
        ctx.emit(InvoiceUpdated(after, invoice))
    return after


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /invoices/{invoice_id}/delete",
    on=INVOICES,
    blocked_by=ListedInvoice.not_deletable,
    done_message="Draft invoice deleted.",
    not_undone=Message("Create the invoice again."),
    past_text="Draft deleted",
    deletes=True,
)
def delete_draft_invoice(ctx: Context, _given: IrreversibleInput, invoice: Invoice) -> Invoice:
    """Delete draft invoice.

    The work on it can be invoiced again. To correct an issued invoice, void or credit it.
    """
    ctx.summary = Message("{invoice} will be deleted.", invoice=invoice.name_in_messages)
    if sources.release_all_sources(ctx, invoice):
        ctx.effects.append(Message("The work on it can be invoiced again."))
    INVOICES.remove(ctx, invoice)
    ctx.emit(InvoiceDeleted(invoice))
    return invoice


OPERATIONS = (list_invoices, get_invoice, draft_invoice, update_invoice, delete_draft_invoice)


def create_draft(ctx: Context, given: DraftInvoice, *, allow_archived: bool = False) -> Invoice:
    """Create a draft invoice, and reserve what it bills so that no other invoice can bill it.

    With `allow_archived`, the customer may be archived; sending the invoice is then refused.
    """
    _check_input(given)
    settings = settings_of(ctx)
    quote = _find_billable_quote(ctx, given.quote_id, settings)
    job = _fetch_job(ctx, quote.job_id if quote and given.job_id is None else given.job_id)
    customer = _fetch_customer(ctx, given, quote, job)
    raise_if_blocked([] if allow_archived else customer.not_usable())
    wording = wording_for(customer, settings)
    billable = _bill_quote(ctx, given, quote, wording) if quote else _bill_without_quote(ctx, given, job, settings)
    lines = _collect_lines(ctx, given, job, wording, billable)
    discount = given.discount.to_stored_json(settings.currency, "discount") if given.discount else billable.discount
    site = given.site_id if "site_id" in given.model_fields_set else _site_of(quote, job)
    check_site(ctx, site, customer.id)
    shares = {} if given.discount else billable.shares_of(lines)
    terms = PricingTerms(settings.currency, billable.inclusive, share_to_discount(discount, settings.currency), shares)
    columns = compute_sales_columns(ctx, check_limits(lines, "lines", _TOO_MANY_LINES, billable.lines), terms)
    kind = _kind_of(given, billable)
    typed = supply_date.read_supply(given.supplied_from, given.supplied_until)
    invoice = INVOICES.insert(
        ctx,
        {
            "kind": kind,
            "customer_id": customer.id,
            "site_id": site,
            "job_id": job and job.id,
            "quote_id": quote and quote.id,
            "title": given.title or (quote.title if quote else job.title if job else None),
            "currency": settings.currency,
            "prices_include_tax": billable.inclusive,
            "status": "draft",
            "standing": "draft",
            "due_on": given.due_on,
            **supply_date.supply_columns(typed, supply_date.find_supply(ctx, kind, job.id if job else None, lines)),
            "notes": given.notes if "notes" in given.model_fields_set else settings.invoice_notes,
            "discount": discount,
            "due": columns["total"],
            "other_cost": sources.sum_other_costs(lines, settings.currency),
            **columns,
        },
    )
    sources.reserve_sources(ctx, invoice)
    ctx.emit(InvoiceCreated(invoice))
    return invoice


def _collect_lines(
    ctx: Context, given: DraftInvoice, job: Job | None, wording: LineWording, billable: BillableLines
) -> list[Line]:
    """Return the lines to bill: of the quote, then hours and materials, then the lines of the input."""
    prices = PriceBook(ctx, inclusive=billable.inclusive)
    return [
        *billable.lines,
        *_bill_work(prices, given, job, wording),
        *_refuse_optional(make_lines(given.lines, prices)),
    ]


def _find_billable_quote(ctx: Context, record_id: str | None, settings: OrganisationSettings) -> Quote | None:
    """Fetch the quote to bill, if one is named; refuse one that cannot be billed."""
    if record_id is None:
        return None
    quote: Quote = QUOTES.fetch(ctx, record_id)
    advice = Message("Draft an invoice with lines in {currency} instead.", currency=settings.currency)
    raise_if_blocked([*quote.not_billable(), *settings.reasons_if_foreign(quote.currency, advice, "draft_invoice")])
    return quote


def _check_input(given: DraftInvoice) -> None:
    """Refuse fields that contradict each other, or a part without a quote."""
    faults = [
        Fault(name, Message("needs {field}", field=FieldName("quoteId")))
        for name, value in (("part", given.part), ("quoteLines", given.quote_lines))
        if value is not None and not given.quote_id
    ]
    if given.part is not None and given.quote_lines is not None:
        faults.append(Fault("quoteLines", Message("can't be combined with {field}", field=FieldName("part"))))
    if given.part is not None and not given.has_no_other_lines:
        faults.append(Fault("part", Message("can't be combined with other lines: draft another invoice for those")))
    if given.unbilled and given.sources is not None:
        faults.append(Fault("sources", Message("can't be combined with {field}", field=FieldName("unbilled"))))
    if faults:
        raise Invalid(faults)


def _fetch_job(ctx: Context, job_ref: str | None) -> Job | None:
    return JOBS.fetch(ctx, job_ref) if job_ref is not None else None


def _fetch_customer(ctx: Context, given: DraftInvoice, quote: Quote | None, job: Job | None) -> Customer:
    customer_id = given.customer_id or (quote.customer_id if quote else job.customer_id if job else None)
    if customer_id is None:
        message = Message("is required without {job} or {quote}", job=FieldName("jobId"), quote=FieldName("quoteId"))
        raise Invalid([Fault("customerId", message)])
    customer: Customer = CUSTOMERS.fetch(ctx, customer_id)
    # First, because the job and the quote of a merged customer belong to another customer now.
    raise_if_blocked(customer.reasons_if_merged())
    faults = []
    if quote and quote.customer_id != customer_id:
        hint = Message("list_quotes lists the quotes of a customer")
        faults.append(Fault("quoteId", Message("is for another customer", for_programs=hint)))
    if job and job.customer_id != customer_id:
        hint = Message("list_jobs lists the jobs of a customer")
        faults.append(Fault("jobId", Message("is for another customer", for_programs=hint)))
    if faults:
        raise Invalid(faults)
    return customer


def _bill_quote(ctx: Context, given: DraftInvoice, quote: Quote, wording: LineWording) -> BillableLines:
    if given.part:
        return build_advance_lines(ctx, quote, given.part, given.kind, wording)
    return build_quote_lines(ctx, quote, given.quote_lines, wording, is_alone=given.has_no_other_lines)


def _bill_without_quote(
    ctx: Context, given: DraftInvoice, job: Job | None, settings: OrganisationSettings
) -> BillableLines:
    if job and given.has_no_other_lines:
        return build_price_line(ctx, job, settings)
    return BillableLines([], None, settings.prices_include_tax)


def _kind_of(given: DraftInvoice, billable: BillableLines) -> InvoiceKind:
    if given.part:
        return given.kind
    return "final" if any(line.is_deduction for line in billable.lines) else "standard"


def _bill_work(prices: PriceBook, given: DraftInvoice, job: Job | None, wording: LineWording) -> list[Line]:
    if not given.unbilled and not given.sources:
        return []
    lines = build_work_lines(prices, _require_job(job.id if job else None), given.sources, given.until, wording)
    if not lines:
        message = Message("This job has no approved hours or materials left to invoice.")
        raise_if_blocked([Reason(message, "review_hours")])
    return lines


def _require_job(job_id: str | None) -> str:
    if job_id is None:
        raise Invalid([Fault("jobId", Message("is required to invoice work"))])
    return job_id


def _refuse_optional(lines: list[Line]) -> list[Line]:
    """Return the lines; refuse optional ones, because on an invoice every line counts."""
    faults = [
        Fault(f"lines.{index}.optional", Message("is for quotes only: every line of an invoice counts"))
        for index, line in enumerate(lines)
        if line.optional
    ]
    if faults:
        raise Invalid(faults)
    return lines


def _site_of(quote: Quote | None, job: Job | None) -> str | None:
    return (quote.site_id if quote else None) or (job.site_id if job else None)
