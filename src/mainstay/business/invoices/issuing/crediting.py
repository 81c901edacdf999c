"""Crediting an invoice or a part of it by a credit note, which never exceeds what is left of the invoice."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

import orjson
from pydantic import BaseModel, Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.invoices.drafting import sources
from mainstay.business.invoices.drafting.billable_lines import uncredited_amounts_of
from mainstay.business.invoices.drafting.supply_date import read_supply
from mainstay.business.invoices.events import InvoiceCredited
from mainstay.business.invoices.issuing.credit_note import (
    CREDIT_NOTES,
    LISTED_CREDIT_NOTES,
    CreditNote,
    CreditNoteOut,
    ListedCreditNoteOut,
)
from mainstay.business.invoices.issuing.sending import (
    InvoiceRecipients,
    e_invoice_check_to_json,
    invoice_email_values_of,
)
from mainstay.business.invoices.model import Invoice, ListedInvoice
from mainstay.business.invoices.payments import settlement
from mainstay.business.invoices.payments.allocation import release_surplus
from mainstay.business.invoices.store import INVOICES, InvoiceId
from mainstay.business.issuing.document_emails import (
    Deliver,
    DocumentEmailInput,
    EmailedDocument,
    email_document,
    find_customer_recipients,
)
from mainstay.business.issuing.document_files import create_print_task, snapshot_of
from mainstay.business.issuing.snapshotting import DocumentParties, SnapshotWithAmounts, take_snapshot
from mainstay.business.lines.model import MAX_LINES, Line, PricingTerms, price_document, read_lines, settled_to_json
from mainstay.business.lines.pricing import rates_of
from mainstay.business.organisation import numbering
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.documents.einvoice import check_einvoice
from mainstay.documents.locales import Locale
from mainstay.documents.messages import translate
from mainstay.identity.links import LinkKind
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    STARTING_AFTER,
    Day,
    Paragraph,
    Price,
    RecordReference,
    SignedQuantity,
    make_id_validator,
)
from mainstay.values.ids import new_id
from mainstay.values.message import Amount, DecimalNumber, FieldName, Message, message_of
from mainstay.values.model_config import INPUT_CONFIG
from mainstay.values.money import amount_text, minor_to_price, price_text, price_to_minor, spread_total
from mainstay.values.search_words import SearchText
from mainstay.values.totals import Discount, Totals, round_fraction
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import LastDay, ListInput, PageResult


class CreditedLine(BaseModel):
    """A line to credit."""

    model_config = INPUT_CONFIG

    line_id: str = Field(title="Line", description="A line of the invoice.")
    quantity: SignedQuantity | None = Field(None, description="The quantity to credit. Leave empty to credit the rest.")


class CreditInvoice(DocumentEmailInput):
    """The invoice, what to credit, and the reason."""

    invoice_id: InvoiceId
    reason: Paragraph = Field(title="Reason", description="Printed on the credit note for the customer.")
    lines: list[CreditedLine] | None = Field(
        None,
        max_length=MAX_LINES,
        description="Credits only these lines. Leave empty to credit the rest of the invoice.",
    )
    amount: Price | None = Field(None, description='Credits only this amount including tax, e.g. "100.00".')
    deliver: Deliver = "email"
    to: InvoiceRecipients = None


class ListCreditNotes(ListInput):
    """The credit notes to list."""

    starting_after: Annotated[str | None, make_id_validator("credit")] = STARTING_AFTER
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description="Only credit notes for this customer."
    )
    invoice_id: Annotated[str | None, RecordReference(prefix="invoice")] = Field(
        None, title="Invoice", description=describe("[[Only credit notes for this invoice, by ID or number.]]")
    )
    from_: Day | None = Field(None, alias="from", title="From", description="Issued on or after this date.")
    until: LastDay | None = Field(None, description="Issued on or before this date.")
    text: SearchText | None = Field(
        None, title="Search", description="Number, amount, or words in the customer's name."
    )
    order: Literal["newest", "issued"] = Field(
        "newest", description=describe("[[`newest` first, or last `issued` first.]]")
    )

    def fixed_order(self) -> str | None:
        """Return the order that fits a filter by date of issue."""
        return "issued" if self.from_ or self.until else None


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /invoices/{invoice_id}/credit",
    on=INVOICES,
    blocked_by=ListedInvoice.not_creditable,
    emails_outside=True,
    extra_records={"creditNote": CreditNoteOut},
    not_undone=Message("Create a new invoice."),
    commits_amount=True,
    past_text="Credit note issued",
)
def credit_invoice(ctx: Context, given: CreditInvoice, invoice: Invoice) -> Invoice:
    """Credit invoice.

    Issues a credit note (refund, correction) for all or part of an invoice; if the customer has paid too much, the
    difference stays on their account. [[Returns the invoice with its new credit note; after a full credit, the
    work can be invoiced again.]]
    """
    settings = settings_of(ctx)
    today = settings.today(ctx).isoformat()
    customer: Customer = CUSTOMERS.fetch(ctx, invoice.customer_id)
    recipients = find_customer_recipients(ctx, customer, "invoices", given.to, given.deliver)
    raise_if_blocked([*settings.reasons_if_closed(today), *recipients.reasons])
    credited = build_credit(ctx, given.lines, given.amount, invoice)
    note = _issue_credit_note(ctx, invoice, customer, credited, given.reason)
    ctx.commit_amount(note.total, note.currency)
    after = settlement.settle_invoice(ctx, invoice, credited=note.total)
    if after.due < 0:
        surplus = -after.due
        release_surplus(ctx, after, surplus)
        after = settlement.settle_invoice(ctx, after, paid=-surplus)
        ctx.effects.append(
            Message(
                "{amount} that was paid will stay on account for {customer}.",
                amount=Amount(amount_text(surplus, invoice.currency), invoice.currency),
                customer=invoice.customer_name,
            )
        )
    _release_credited(ctx, after)
    settlement.update_job_billing(ctx, after.job_id)
    ctx.add_task(create_print_task(note.id, note.number))
    ctx.summary = Message(
        "{credit_note} will credit {total} of {invoice} to {customer}.",
        total=Amount(amount_text(note.total, note.currency), note.currency),
        invoice=invoice.name_in_messages,
        customer=invoice.customer_name,
        credit_note=note.number,
    )
    emailed = EmailedDocument("credit", note, LinkKind.INVOICE, invoice.id, given)
    email_document(ctx, emailed, recipients.to, partial(_email_values_of, note, after))
    ctx.emit(InvoiceCredited(after, invoice))
    ctx.extra_records["creditNote"] = note
    return after


@operation(permission=Permission.INVOICES_READ, effect=Effect.READ, api_path="GET /credit-notes")
def list_credit_notes(ctx: Context, given: ListCreditNotes) -> PageResult[ListedCreditNoteOut]:
    """List credit notes.

    Each with the invoice that it credits and the reason.
    """
    if given.invoice_id is None:
        return LISTED_CREDIT_NOTES.page(ctx, given)
    invoice = INVOICES.fetch(ctx, given.invoice_id)
    return LISTED_CREDIT_NOTES.page(ctx, given, "credit_note.invoice_id = :invoice", invoice=invoice.id)


get_credit_note = declare_get(
    CREDIT_NOTES,
    "Get credit note. [[With its lines, by its ID or number.]]",
    Permission.INVOICES_READ,
    api_path="GET /credit-notes/{credit_note_id}",
)


OPERATIONS = (credit_invoice, list_credit_notes, get_credit_note)


def _release_credited(ctx: Context, invoice: Invoice) -> None:
    """Release what was credited, so that it can be billed again.

    If the invoice is credited in full, release all its sources; otherwise only the deposits that it no longer deducts.
    """
    if invoice.status == "credited":
        if sources.release_all_sources(ctx, invoice):
            ctx.effects.append(Message("The work on it can be invoiced again."))
        return
    deductions = [(line.source["id"], line) for line in read_lines(invoice.lines) if line.source and line.is_deduction]
    if not deductions:
        return
    credited = _find_credited_quantities(ctx, invoice)
    # A deposit is deducted by one line for each of its tax rates.
    still_deducted = {deposit for deposit, line in deductions if credited.get(line.id) != line.quantity}
    for deposit in sources.release_sources(ctx, invoice, {deposit for deposit, _ in deductions} - still_deducted):
        ctx.effects.append(
            Message(
                "{invoice} will no longer be deducted, and can then be credited.",
                invoice=INVOICES.fetch(ctx, deposit).short_name,
            )
        )


class CreditContent(NamedTuple):
    """What a credit note contains: lines, what their totals depend on, and the discount."""

    lines: list[Line]
    terms: PricingTerms
    discount: dict[str, str | None] | None = None


def build_credit(
    ctx: Context, lines: Sequence[CreditedLine] | None, amount: int | None, invoice: Invoice
) -> CreditContent:
    """Return what a credit note for these lines, or for this amount, contains; without either, the rest."""
    if lines is not None and amount is not None:
        raise Invalid([Fault("amount", Message("can't be combined with {field}", field=FieldName("lines")))])
    if amount is not None:
        return _credit_amount(ctx, amount, invoice)
    if lines is not None:
        return _credit_lines(ctx, lines, invoice)
    return _credit_rest(ctx, invoice)


def take_credit_snapshot(
    ctx: Context, invoice: Invoice, customer: Customer, credited: CreditContent, printed: Mapping[str, str]
) -> SnapshotWithAmounts:
    """Return what is printed on a credit note with this number and reason, as if it were issued today."""
    supply = read_supply(invoice.supplied_from, invoice.supplied_until)
    fields: dict[str, Any] = {
        "kind": "creditNote",
        **printed,
        "language": snapshot_of(invoice).language,
        "issuedOn": settings_of(ctx).today(ctx).isoformat(),
        "servicePeriod": supply and {"from": supply.first, "until": supply.last},
        "discount": credited.discount,
        "preceding": [{"number": invoice.number, "issuedOn": invoice.issued_on}],
    }
    parties = DocumentParties(customer, invoice.site_id, invoice.job_id)
    return take_snapshot(ctx, parties, credited.lines, credited.terms, fields)


def _credit_rest(ctx: Context, invoice: Invoice) -> CreditContent:
    """Return all lines of an invoice or, after earlier credits, what is left of it to the cent."""
    if not invoice.credited:
        return CreditContent(read_lines(invoice.lines), invoice.pricing_terms, invoice.discount)
    terms = PricingTerms(invoice.currency, invoice.prices_include_tax, Discount())
    lines = []
    for rate, settled in uncredited_amounts_of(ctx, invoice).items():
        amount = settled.net + (sum(settled.taxes) if terms.inclusive else 0)
        source = {"kind": "invoice", "id": invoice.id, "settled": settled_to_json(settled, invoice.currency)}
        price = minor_to_price(amount, invoice.currency)
        lines.append(
            Line(new_id("line"), _describe_invoice(invoice), unit_price=price, tax_rate_id=rate, source=source)
        )
    return CreditContent(lines, terms)


def _credit_amount(ctx: Context, price: int, invoice: Invoice) -> CreditContent:
    """Divide an amount with tax over what is left at each tax rate."""
    uncredited = invoice.total - invoice.credited
    try:
        amount = price_to_minor(price, invoice.currency)
    except ValueError as error:
        raise Invalid([Fault("amount", message_of(error))]) from None
    if amount <= 0:
        raise Invalid([Fault("amount", Message("must be more than zero"))])
    if amount > uncredited:
        message = Message(
            "is more than the {uncredited} left to credit on {invoice}",
            uncredited=Amount(amount_text(uncredited, invoice.currency), invoice.currency),
            invoice=invoice.short_name,
        )
        raise Invalid([Fault("amount", message)])
    if amount == uncredited:
        return _credit_rest(ctx, invoice)
    parts = uncredited_amounts_of(ctx, invoice)
    shares = spread_total(amount, [settled.net + sum(settled.taxes) for settled in parts.values()])
    lines = [
        Line(
            new_id("line"),
            _describe_invoice(invoice),
            unit_price=minor_to_price(share, invoice.currency),
            tax_rate_id=rate,
        )
        for rate, share in zip(parts, shares, strict=True)
        if share
    ]
    return CreditContent(lines, PricingTerms(invoice.currency, inclusive=True, discount=Discount()))


def _email_values_of(note: CreditNote, invoice: Invoice, locale: Locale) -> dict[str, str]:
    """Return the values for the text of the email with a credit note."""
    total = locale.format_money(amount_text(note.total, note.currency), note.currency)
    return invoice_email_values_of(invoice, locale) | {
        "number": note.number,
        "invoice": invoice.short_name,
        "total": total,
    }


def _describe_invoice(invoice: Invoice) -> str:
    return f"{translate(snapshot_of(invoice).language, 'title.invoice')} {invoice.short_name}"


def _credit_lines(ctx: Context, wanted: Sequence[CreditedLine], invoice: Invoice) -> CreditContent:
    """Return some lines of an invoice, or a part of their quantities, with their share of the discount."""
    lines = {line.id: line for line in read_lines(invoice.lines) if line.kind == "item"}
    credited_before = _find_credited_quantities(ctx, invoice)
    discounts = dict(zip(lines, _compute_discounts(ctx, invoice, list(lines.values())), strict=True))
    wanted_lines: list[Line] = []
    for index, wanted_line in enumerate(wanted):
        wanted_lines.append(_read_credited_line(wanted_line, lines, credited_before, wanted_lines, f"lines.{index}"))
    credited = _add_discount(wanted_lines, lines, discounts, invoice)
    total = _compute_totals(ctx, credited).total
    uncredited = invoice.total - invoice.credited
    credited_after = credited_before | {
        line.id: credited_before.get(line.id, 0) + line.quantity for line in wanted_lines
    }
    remaining_lines = [
        replace(line, quantity=line.quantity - credited_after.get(name, 0)) for name, line in lines.items()
    ]
    if total == uncredited or not any(line.quantity for line in remaining_lines):
        # If nothing is left of the total, nothing may be left at any tax rate, and vice versa.
        return _credit_rest(ctx, invoice)
    if total <= 0:
        raise Invalid([Fault("lines", Message("must add up to more than zero"))])
    if total > uncredited:
        message = Message(
            "add up to {total}, but {uncredited} is left to credit on {invoice}",
            total=Amount(amount_text(total, invoice.currency), invoice.currency),
            uncredited=Amount(amount_text(uncredited, invoice.currency), invoice.currency),
            invoice=invoice.short_name,
        )
        raise Invalid([Fault("lines", message)])
    if credited_before.keys() - lines.keys():
        # Amounts credited before belong to no line, so the lines do not show what is left at each rate.
        negative_lines = [line for line in remaining_lines if line.quantity * line.unit_price < 0]
        _check_rates(ctx, invoice, credited, _add_discount(negative_lines, lines, discounts, invoice))
    return credited


def _add_discount(
    credited_lines: list[Line], lines: dict[str, Line], discounts: dict[str, int], invoice: Invoice
) -> CreditContent:
    """Give lines of an invoice, or parts of them, their share of its discount."""
    shares = {
        line.id: round_fraction(discounts[line.id] * line.quantity, lines[line.id].quantity)
        for line in credited_lines
        if line.quantity and not line.is_settled
    }
    total_discount = Discount(amount=sum(shares.values()))
    discount = (
        {"percent": None, "amount": amount_text(total_discount.amount, invoice.currency)}
        if any(shares.values())
        else None
    )
    settled_shares = shares if discount else {}
    return CreditContent(
        credited_lines,
        PricingTerms(invoice.currency, invoice.prices_include_tax, total_discount, settled_shares),
        discount,
    )


def _compute_totals(ctx: Context, credited: CreditContent) -> Totals:
    return price_document(credited.lines, rates_of(ctx, credited.lines), credited.terms).totals


def _check_rates(ctx: Context, invoice: Invoice, credited: CreditContent, negative: CreditContent) -> None:
    """Refuse to credit more at one rate than is left of it, less what the invoice's remaining lines deduct there."""
    uncredited = {
        rate or "": settled.net + sum(settled.taxes) for rate, settled in uncredited_amounts_of(ctx, invoice).items()
    }
    deducted = {group.rate.id: group.net + group.tax for group in _compute_totals(ctx, negative).groups}
    rates = rates_of(ctx, credited.lines)
    for group in _compute_totals(ctx, credited).groups:
        gross, most = group.net + group.tax, max(uncredited.get(group.rate.id, 0) - deducted.get(group.rate.id, 0), 0)
        if gross > most:
            message = Message(
                "add up to {gross} at {tax_rate}, but {uncredited} is left to credit at that rate: credit fewer"
                " lines, or an amount",
                gross=Amount(amount_text(gross, invoice.currency), invoice.currency),
                tax_rate=rates[group.rate.id].name if group.rate.id else Message("no tax"),
                uncredited=Amount(amount_text(most, invoice.currency), invoice.currency),
            )
            raise Invalid([Fault("lines", message)])


def _read_credited_line(
    one: CreditedLine, lines: dict[str, Line], credited_before: dict[str, int], credited: list[Line], path: str
) -> Line:
    line = lines.get(one.line_id)
    if line is None:
        hint = Message("the lines with a price are {line_ids}", line_ids=[*lines])
        message = Message("is not a line with a price on this invoice", for_programs=hint)
        raise Invalid([Fault(f"{path}.lineId", message)])
    if any(other.id == line.id for other in credited):
        raise Invalid([Fault(f"{path}.lineId", Message("is listed twice"))])
    uncredited = line.quantity - credited_before.get(line.id, 0)
    quantity = uncredited if one.quantity is None else one.quantity
    if line.is_deduction and quantity != uncredited:
        message = Message("can't be a part of a line that deducts another invoice: credit all of it")
        raise Invalid([Fault(f"{path}.quantity", message)])
    if not quantity or abs(quantity) > abs(uncredited) or (quantity > 0) != (uncredited > 0):
        message = Message(
            "is not possible: {quantity} of this line is left to credit",
            quantity=DecimalNumber(price_text(uncredited)),
        )
        raise Invalid([Fault(f"{path}.quantity", message)])
    return replace(line, quantity=quantity)


def _find_credited_quantities(ctx: Context, invoice: Invoice) -> dict[str, int]:
    """Return the quantity of each line that was credited before, by line id."""
    rows = ctx.db.all(
        "SELECT lines FROM credit_note WHERE organisation_id = :organisation AND invoice_id = :invoice",
        invoice=invoice.id,
    )
    quantities: dict[str, int] = {}
    for (lines,) in rows:
        for line in read_lines(orjson.loads(str(lines))):
            quantities[line.id] = quantities.get(line.id, 0) + line.quantity
    return quantities


def _compute_discounts(ctx: Context, invoice: Invoice, lines: list[Line]) -> tuple[int, ...]:
    return price_document(lines, rates_of(ctx, lines), invoice.pricing_terms).totals.discounts


def _issue_credit_note(
    ctx: Context, invoice: Invoice, customer: Customer, credited: CreditContent, reason: str
) -> CreditNote:
    number = numbering.take_number(ctx, "creditNote")
    printed = {"number": number, "reason": reason}
    snapshot, priced = take_credit_snapshot(ctx, invoice, customer, credited, printed)
    checks = check_einvoice(snapshot)
    return CREDIT_NOTES.insert(
        ctx,
        {
            "number": number,
            "invoice_id": invoice.id,
            "customer_id": invoice.customer_id,
            "job_id": invoice.job_id,
            "currency": invoice.currency,
            "prices_include_tax": credited.terms.inclusive,
            "language": snapshot.language,
            "issued_on": snapshot.issued_on,
            "supplied_from": invoice.supplied_from,
            "supplied_until": invoice.supplied_until,
            "reason": reason,
            "discount": credited.discount,
            "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
            "e_invoice": e_invoice_check_to_json(checks.e_invoice),
            "peppol": e_invoice_check_to_json(checks.peppol),
            **priced.columns,
        },
    )
