"""Crediting an invoice, all of it or a part: with a number of its own, and never more than is left."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

import orjson
from pydantic import BaseModel, Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.invoices import settling, sources
from mainstay.business.invoices.allocating import release
from mainstay.business.invoices.billing import remaining
from mainstay.business.invoices.credit_note import (
    CREDIT_NOTES,
    LISTED_CREDIT_NOTES,
    CreditNote,
    CreditNoteOut,
    ListedCreditNoteOut,
)
from mainstay.business.invoices.events import InvoiceCredited
from mainstay.business.invoices.model import Invoice, ListedInvoice
from mainstay.business.invoices.operations import InvoiceId
from mainstay.business.invoices.sending import TO, told_standing, told_values
from mainstay.business.invoices.store import INVOICES
from mainstay.business.invoices.supply import read_supply
from mainstay.business.issuing.freezing import About, freeze
from mainstay.business.issuing.mailing import DELIVER, Deliver, Enclosed, customer_s, mail
from mainstay.business.issuing.printed import printing, snapshot_of
from mainstay.business.lines.model import MOST_LINES, Line, Terms, draw_up, read_lines, settled_text
from mainstay.business.lines.pricing import rates_of
from mainstay.business.organisation import numbering
from mainstay.business.organisation.house import house_of
from mainstay.identity.links import Kind as LinkKind
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.paper.einvoice import standing
from mainstay.paper.locales import Locale
from mainstay.paper.messages import say
from mainstay.terms.refusal import Fault, Invalid, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable, LastDay, ListInput, Page
from mainstay.values.fields import LAST_SEEN, Day, Email, Paragraph, Price, Reference, SignedQuantity, id_of
from mainstay.values.ids import new_id
from mainstay.values.models import GIVEN
from mainstay.values.money import amount_text, in_minor, in_parts, price_text, spread
from mainstay.values.search import SearchText
from mainstay.values.totals import Discount, Totals, rounded


class CreditedLine(BaseModel):
    """A line to credit."""

    model_config = GIVEN

    line_id: str = Field(description="Which line of the invoice.")
    quantity: SignedQuantity | None = Field(None, description="How many of it; all that is left of it without.")


class CreditInvoice(Irrevocable):
    """Which invoice, what of it, and why."""

    invoice_id: InvoiceId
    reason: Paragraph = Field(title="Why", description="The customer reads it.")
    lines: list[CreditedLine] | None = Field(
        None, max_length=MOST_LINES, description="Only these lines; without, all that is left of the invoice."
    )
    amount: Price | None = Field(None, description='Or only such an amount, with tax: "100.00".')
    deliver: Deliver = DELIVER
    to: list[Email] | None = TO


class ListCreditNotes(ListInput):
    """Which credit notes to list."""

    starting_after: Annotated[str | None, id_of("credit")] = LAST_SEEN
    customer_id: Annotated[str | None, id_of("customer")] = Field(
        None, title="Customer", description="Only for this customer."
    )
    invoice_id: Annotated[str | None, Reference(to="invoice")] = Field(
        None, title="Invoice", description="Only of this invoice, by id or number."
    )
    from_: Day | None = Field(None, alias="from", title="From", description="Only those issued on this date or later.")
    until: LastDay | None = Field(None, description="Only those issued on this date or earlier.")
    text: SearchText | None = Field(None, title="Search", description="Number, amount, or words of the customer.")
    order: Literal["newest", "issued"] = Field("newest", description="`newest` first, or last `issued` first.")

    def fixed_order(self) -> str | None:
        """Return the order of the date by which the credit notes are narrowed."""
        return "issued" if self.from_ or self.until else None


class GetCreditNote(Input):
    """Which credit note."""

    credit_note_id: str = Field(title="Credit note", description="The credit note's id or number.")


@operation(
    right=Right.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /invoices/{invoice_id}/credit",
    on=INVOICES,
    unless=ListedInvoice.not_creditable,
    mails=True,
    attaches={"creditNote": CreditNoteOut},
    done="The credit note is issued.",
)
def credit_invoice(ctx: Context, given: CreditInvoice, invoice: Invoice) -> Invoice:
    """Credit an invoice, or a part of it, with a credit note.

    What was paid beyond what is left stays on the customer's account; credited as a whole, what it billed can be billed
    again. The answer is the invoice, with the new creditNote.
    """
    house = house_of(ctx)
    today = house.today(ctx).isoformat()
    customer: Customer = CUSTOMERS.fetch(ctx, invoice.customer_id)
    recipients = customer_s(ctx, customer, "invoices", given.to, given.deliver)
    refuse([*house.if_closed(today), *recipients.against])
    credited = _credited(ctx, given, invoice)
    note = _issue(ctx, invoice, customer, credited, given.reason)
    after = settling.settle(ctx, invoice, credited=note.total)
    if after.due < 0:
        surplus = -after.due
        release(ctx, after, surplus)
        after = settling.settle(ctx, after, paid=-surplus)
        left = f"{amount_text(surplus, invoice.currency)} {invoice.currency}"
        ctx.effects.append(f"{left} that was paid stays on the account of {invoice.customer_name}.")
    _let_go(ctx, after)
    settling.hand_down(ctx, after.job_id)
    ctx.post(printing(note.id, note.number))
    total = f"{amount_text(note.total, note.currency)} {note.currency}"
    ctx.summary = f"{note.number} credits {total} of {invoice.called} to {invoice.customer_name}."
    enclosed = Enclosed("credit", note, LinkKind.INVOICE, invoice.id)
    mail(ctx, enclosed, recipients.to, partial(_told_values, note, after))
    ctx.record(InvoiceCredited(after, invoice))
    ctx.attached["creditNote"] = note
    return after


@operation(right=Right.INVOICES_READ, effect=Effect.READ, rest="GET /credit-notes")
def list_credit_notes(ctx: Context, given: ListCreditNotes) -> Page[ListedCreditNoteOut]:
    """List credit notes.

    Each says which invoice it credits, and why.
    """
    if given.invoice_id is None:
        return LISTED_CREDIT_NOTES.page(ctx, given)
    invoice = INVOICES.fetch(ctx, given.invoice_id)
    return LISTED_CREDIT_NOTES.page(ctx, given, "credit_note.invoice_id = :invoice", invoice=invoice.id)


@operation(
    right=Right.INVOICES_READ,
    effect=Effect.READ,
    rest="GET /credit-notes/{credit_note_id}",
    glances=True,
    on=CREDIT_NOTES,
)
def get_credit_note(_ctx: Context, _given: GetCreditNote, credit_note: CreditNote) -> CreditNote:
    """Get a credit note with its lines.

    By its id or number.
    """
    return credit_note


OPERATIONS = (credit_invoice, list_credit_notes, get_credit_note)


def _let_go(ctx: Context, invoice: Invoice) -> None:
    """Let what was credited be billed again: all of a whole invoice; of others, what it took off and does no more."""
    if invoice.status == "credited":
        if sources.free(ctx, invoice):
            ctx.effects.append("What it bills can be billed again.")
        return
    taken_off = [(line.source["id"], line) for line in read_lines(invoice.lines) if line.source and line.deducts]
    if not taken_off:
        return
    credited = _credited_before(ctx, invoice)
    # One deposit is taken off on a line for each of its taxes.
    stays = {deposit for deposit, line in taken_off if credited.get(line.id) != line.quantity}
    for deposit in sources.free_these(ctx, invoice, {deposit for deposit, _ in taken_off} - stays):
        ctx.effects.append(f"{INVOICES.fetch(ctx, deposit).named} is not taken off any more, and can be credited.")


class _Credited(NamedTuple):
    """What is credited: lines, and what is taken off them together."""

    lines: list[Line]
    terms: Terms
    discount: dict[str, str | None] | None = None


def _credited(ctx: Context, given: CreditInvoice, invoice: Invoice) -> _Credited:
    if given.lines is not None and given.amount is not None:
        raise Invalid([Fault("amount", "is not sent with lines: either lines, or an amount")])
    if given.amount is not None:
        return _of_amount(ctx, given.amount, invoice)
    if given.lines is not None:
        return _of_lines(ctx, given.lines, invoice)
    return _all_that_is_left(ctx, invoice)


def _all_that_is_left(ctx: Context, invoice: Invoice) -> _Credited:
    """All of it as it is, or what is left of it to the cent."""
    if not invoice.credited:
        return _Credited(read_lines(invoice.lines), invoice.reckoned, invoice.discount)
    terms = Terms(invoice.currency, invoice.prices_include_tax, Discount())
    lines = []
    for rate, settled in remaining(ctx, invoice).items():
        amount = settled.net + (sum(settled.taxes) if terms.inclusive else 0)
        source = {"kind": "invoice", "id": invoice.id, "settled": settled_text(settled, invoice.currency)}
        price = in_parts(amount, invoice.currency)
        lines.append(Line(new_id("line"), _whole(invoice), unit_price=price, tax_rate_id=rate, source=source))
    return _Credited(lines, terms)


def _of_amount(ctx: Context, price: int, invoice: Invoice) -> _Credited:
    """An amount with tax, shared out over what is left of each tax."""
    left = invoice.total - invoice.credited
    try:
        amount = in_minor(price, invoice.currency)
    except ValueError as wrong:
        raise Invalid([Fault("amount", str(wrong))]) from None
    if not 0 < amount <= left:
        told = f"is not between nothing and the {amount_text(left, invoice.currency)} that is left of {invoice.named}"
        raise Invalid([Fault("amount", told)])
    if amount == left:
        return _all_that_is_left(ctx, invoice)
    parts = remaining(ctx, invoice)
    shares = spread(amount, [settled.net + sum(settled.taxes) for settled in parts.values()])
    lines = [
        Line(new_id("line"), _whole(invoice), unit_price=in_parts(share, invoice.currency), tax_rate_id=rate)
        for rate, share in zip(parts, shares, strict=True)
        if share
    ]
    return _Credited(lines, Terms(invoice.currency, inclusive=True, discount=Discount()))


def _told_values(note: CreditNote, invoice: Invoice, locale: Locale) -> dict[str, str]:
    """What the mail with a credit note tells."""
    total = locale.money(amount_text(note.total, note.currency), note.currency)
    return told_values(invoice, locale) | {"number": note.number, "invoice": invoice.named, "total": total}


def _whole(invoice: Invoice) -> str:
    return f"{say(snapshot_of(invoice).language, 'title.invoice')} {invoice.named}"


def _of_lines(ctx: Context, asked: Sequence[CreditedLine], invoice: Invoice) -> _Credited:
    """Some of its lines, or some of what they say; with what was taken off them."""
    lines = {line.id: line for line in read_lines(invoice.lines) if line.kind == "item"}
    before = _credited_before(ctx, invoice)
    taken = dict(zip(lines, _discounts(ctx, invoice, list(lines.values())), strict=True))
    asked_for: list[Line] = []
    for place, one in enumerate(asked):
        asked_for.append(_checked(one, lines, before, asked_for, f"lines.{place}"))
    credited = _with_discount(asked_for, lines, taken, invoice)
    total = _totals(ctx, credited).total
    left = invoice.total - invoice.credited
    after = before | {line.id: before.get(line.id, 0) + line.quantity for line in asked_for}
    stay = [replace(line, quantity=line.quantity - after.get(name, 0)) for name, line in lines.items()]
    if total == left or not any(line.quantity for line in stay):
        # Where nothing is left of the whole, nothing may be left of any tax; and the other way round.
        return _all_that_is_left(ctx, invoice)
    if not 0 < total <= left:
        told = f"come to {amount_text(total, invoice.currency)}, and {amount_text(left, invoice.currency)}"
        raise Invalid([Fault("lines", f"{told} is left of {invoice.named}")])
    if before.keys() - lines.keys():
        # Amounts are of no line, so that lines alone do not say what is left at each rate.
        taking_off = [line for line in stay if line.quantity * line.unit_price < 0]
        _check_rates(ctx, invoice, credited, _with_discount(taking_off, lines, taken, invoice))
    return credited


def _with_discount(some: list[Line], lines: dict[str, Line], taken: dict[str, int], invoice: Invoice) -> _Credited:
    """Lines of an invoice, or a part of each, with what was taken off them."""
    shares = {
        line.id: rounded(taken[line.id] * line.quantity, lines[line.id].quantity)
        for line in some
        if line.quantity and not line.is_settled
    }
    less = Discount(amount=sum(shares.values()))
    discount = {"percent": None, "amount": amount_text(less.amount, invoice.currency)} if any(shares.values()) else None
    settled = shares if discount else {}
    return _Credited(some, Terms(invoice.currency, invoice.prices_include_tax, less, settled), discount)


def _totals(ctx: Context, credited: _Credited) -> Totals:
    return draw_up(credited.lines, rates_of(ctx, credited.lines), credited.terms).totals


def _check_rates(ctx: Context, invoice: Invoice, credited: _Credited, taking_off: _Credited) -> None:
    """Refuse to take back more at one rate than is left of it, but for what other lines there take off."""
    left = {rate or "": settled.net + sum(settled.taxes) for rate, settled in remaining(ctx, invoice).items()}
    off = {group.rate.id: group.net + group.tax for group in _totals(ctx, taking_off).groups}
    rates = rates_of(ctx, credited.lines)
    for group in _totals(ctx, credited).groups:
        gross, most = group.net + group.tax, max(left.get(group.rate.id, 0) - off.get(group.rate.id, 0), 0)
        if gross > most:
            called = rates[group.rate.id].name if group.rate.id else "no tax"
            told = f"come to {amount_text(gross, invoice.currency)} at {called}, of which"
            told += f" {amount_text(most, invoice.currency)} is left in {invoice.named}"
            raise Invalid([Fault("lines", f"{told}; credit fewer of them, or an amount")])


def _checked(one: CreditedLine, lines: dict[str, Line], before: dict[str, int], credited: list[Line], at: str) -> Line:
    line = lines.get(one.line_id)
    if line is None:
        known = ", ".join(lines)
        raise Invalid([Fault(f"{at}.lineId", f"is no line of it that costs something; there are: {known}")])
    if any(other.id == line.id for other in credited):
        raise Invalid([Fault(f"{at}.lineId", "is named twice")])
    left = line.quantity - before.get(line.id, 0)
    quantity = left if one.quantity is None else one.quantity
    if line.deducts and quantity != left:
        raise Invalid([Fault(f"{at}.quantity", "is all or nothing where it takes off another invoice")])
    if not quantity or abs(quantity) > abs(left) or (quantity > 0) != (left > 0):
        raise Invalid([Fault(f"{at}.quantity", f"is not among the {price_text(left)} that are left of it")])
    return replace(line, quantity=quantity)


def _credited_before(ctx: Context, invoice: Invoice) -> dict[str, int]:
    """How much of each line was credited before."""
    rows = ctx.rows.all(
        "SELECT lines FROM credit_note WHERE organisation_id = :organisation AND invoice_id = :invoice",
        invoice=invoice.id,
    )
    found: dict[str, int] = {}
    for (lines,) in rows:
        for line in read_lines(orjson.loads(str(lines))):
            found[line.id] = found.get(line.id, 0) + line.quantity
    return found


def _discounts(ctx: Context, invoice: Invoice, lines: list[Line]) -> tuple[int, ...]:
    return draw_up(lines, rates_of(ctx, lines), invoice.reckoned).totals.discounts


def _issue(ctx: Context, invoice: Invoice, customer: Customer, credited: _Credited, reason: str) -> CreditNote:
    today = house_of(ctx).today(ctx).isoformat()
    number = numbering.take(ctx, "creditNote")
    supply = read_supply(invoice.supplied_from, invoice.supplied_until)
    told: dict[str, Any] = {
        "kind": "creditNote",
        "number": number,
        "language": snapshot_of(invoice).language,
        "issuedOn": today,
        "servicePeriod": supply and {"from": supply.first, "until": supply.last},
        "reason": reason,
        "discount": credited.discount,
        "preceding": [{"number": invoice.number, "issuedOn": invoice.issued_on}],
    }
    about = About(customer, invoice.site_id, invoice.job_id)
    snapshot, drawn = freeze(ctx, about, credited.lines, credited.terms, told)
    judged = standing(snapshot)
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
            "issued_on": today,
            "supplied_from": invoice.supplied_from,
            "supplied_until": invoice.supplied_until,
            "reason": reason,
            "discount": credited.discount,
            "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
            "e_invoice": told_standing(judged.e_invoice),
            "peppol": told_standing(judged.peppol),
            **drawn.columns,
        },
    )
