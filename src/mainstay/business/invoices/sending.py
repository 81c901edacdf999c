"""Issuing an invoice, making it void, and reminding of it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.invoices import sources, store
from mainstay.business.invoices.billing import beyond_quote, is_billed
from mainstay.business.invoices.events import InvoiceSent, InvoiceVoided
from mainstay.business.invoices.model import PARTS, Invoice, ListedInvoice, standing_of
from mainstay.business.invoices.operations import InvoiceId
from mainstay.business.invoices.papers import paper_of, snapshot_of, spelled
from mainstay.business.invoices.store import INVOICES
from mainstay.business.issuing.freezing import About, freeze
from mainstay.business.issuing.house import House, house_of, today_of
from mainstay.business.issuing.mailing import Enclosed, addresses, each_once, letters
from mainstay.business.issuing.printed import printing
from mainstay.business.lines.model import read_lines
from mainstay.business.organisation import numbering
from mainstay.business.quotes.store import QUOTES
from mainstay.identity.links import Kind as LinkKind
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.paper.einvoice import Standing, standing
from mainstay.paper.locales import Locale
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.refusal import Reason, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Irrevocable
from mainstay.values.fields import Email, Paragraph
from mainstay.values.moments import local_date, parse_moment
from mainstay.values.money import amount_text

MOST_ADDRESSES = 10
# Someone who was reminded so many days ago is given time.
_PATIENCE = timedelta(days=3)
TO = Field(
    None,
    max_length=MOST_ADDRESSES,
    title="To",
    description="Addresses, where not the customer's own and those of contacts who receive invoices.",
)


class SendInvoice(Irrevocable):
    """Which invoice, and how."""

    invoice_id: InvoiceId
    deliver: Literal["email", "none"] = Field(
        "email", description="`none` issues it without a mail, to be handed over otherwise."
    )
    to: list[Email] | None = TO


class VoidInvoice(Irrevocable):
    """Which invoice, and why."""

    invoice_id: InvoiceId
    reason: Paragraph = Field(title="Why", description="Why; it stays on the record.")


class SendReminder(Irrevocable):
    """Of which invoice."""

    invoice_id: InvoiceId
    to: list[Email] | None = TO


@operation(
    right=Right.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /invoices/{invoice_id}/send",
    on=INVOICES,
    unless=ListedInvoice.not_sendable,
    mails=True,
    done="The invoice is issued.",
)
def send_invoice(ctx: Context, given: SendInvoice, invoice: Invoice) -> Invoice:
    """Issue an invoice and send it to the customer.

    It gets its number, and stays as it is from then on. The mail has its PDF, with the e-invoice inside, and a link to
    a page that tells how to pay.
    """
    house = house_of(ctx)
    today = today_of(ctx, house)
    customer: Customer = CUSTOMERS.fetch(ctx, invoice.customer_id)
    to = (each_once(given.to) if given.to else addresses(ctx, customer, "invoices")) if given.deliver == "email" else []
    unreachable = [] if to or given.deliver == "none" else [unreachable_reason(customer)]
    against = [*customer.not_usable(), *invoice.not_issuable(house, today.isoformat()), *_if_too_late(ctx, invoice)]
    against += beyond_quote(ctx, invoice)
    refuse([*against, *unreachable])
    due_on = invoice.due_on or (today + timedelta(days=_days_to_pay(ctx, customer, house))).isoformat()
    number = numbering.take(ctx, "invoice")
    snapshot = _frozen(ctx, invoice, house, {"number": number, "issuedOn": today.isoformat(), "dueOn": due_on})
    judged = standing(snapshot)
    after = INVOICES.save(
        ctx,
        invoice,
        {
            "number": number,
            "status": "issued",
            "standing": standing_of(invoice.total, 0, 0),
            "owing": invoice.total > 0,
            "issued_on": today.isoformat(),
            "due_on": due_on,
            "overdue_at": house.ends_at(due_on),
            "language": snapshot.language,
            "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
            "e_invoice": told_standing(judged.e_invoice),
            "peppol": told_standing(judged.peppol),
            "sent_at": ctx.at,
        },
    )
    store.hand_down(ctx, after.job_id)
    ctx.post(printing(after.id, after.named))
    ctx.summary = f"{after.called} goes to {after.customer_name}: {after.total_text}, due on {due_on}."
    if judged.e_invoice.missing:
        ctx.warnings.append(f"It is no e-invoice: {', '.join(map(spelled, judged.e_invoice.missing))} is missing.")
    _tell_credit(ctx, after)
    if given.deliver == "none":
        ctx.effects.append("Nobody is mailed: hand it over yourself.")
    mail(ctx, Enclosed("invoice", after.id, paper_of(after, "pdf").name, LinkKind.INVOICE, after.id), after, to)
    ctx.record(InvoiceSent(after, invoice))
    return after


@operation(
    right=Right.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /invoices/{invoice_id}/void",
    on=INVOICES,
    unless=ListedInvoice.not_voidable,
    done="The invoice is void.",
)
def void_invoice(ctx: Context, given: VoidInvoice, invoice: Invoice) -> Invoice:
    """Make an invoice void that was issued by mistake.

    Only while nothing is paid or credited. It keeps its number, what it billed can be billed again, nobody is mailed.
    """
    after = INVOICES.save(
        ctx,
        invoice,
        {
            "status": "void",
            "standing": "void",
            "owing": False,
            "voided_at": ctx.at,
            "voided_on": today_of(ctx, house_of(ctx)).isoformat(),
            "void_reason": given.reason,
        },
    )
    ctx.summary = f"{after.called} becomes void: {after.customer_name} owes nothing of {after.total_text}."
    if sources.free(ctx, after):
        ctx.effects.append("What it bills can be billed again.")
    ctx.effects.append("Its number stays in the books, and its PDF gets a stamped copy. Nobody is mailed.")
    store.hand_down(ctx, after.job_id)
    ctx.post(printing(after.id, f"{after.named}, void", form="void"))
    ctx.record(InvoiceVoided(after, invoice))
    return after


@operation(
    right=Right.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /invoices/{invoice_id}/remind",
    on=INVOICES,
    unless=ListedInvoice.not_remindable,
    mails=True,
    done="The reminder is on its way.",
)
def send_reminder(ctx: Context, given: SendReminder, invoice: Invoice) -> Invoice:
    """Remind a customer of an invoice that is not paid.

    By a mail with its PDF and the link to its page.
    """
    customer: Customer = CUSTOMERS.fetch(ctx, invoice.customer_id)
    to = each_once(given.to) if given.to else addresses(ctx, customer, "invoices")
    refuse([] if to else [unreachable_reason(customer)])
    house = house_of(ctx)
    if invoice.status != "overdue":
        ctx.warnings.append(f"{invoice.named} is not overdue: there is time until {invoice.due_on}.")
    if invoice.reminded_at and ctx.now - parse_moment(invoice.reminded_at) < _PATIENCE:
        on = local_date(parse_moment(invoice.reminded_at), house.time_zone)
        ctx.warnings.append(f"They were reminded on {on} already.")
    after = INVOICES.save(ctx, invoice, {"reminders": invoice.reminders + 1, "reminded_at": ctx.at})
    ctx.summary = f"{after.customer_name} is reminded of {after.called}: {after.due_text} is to be paid."
    mail(ctx, Enclosed("reminder", after.id, paper_of(after, "pdf").name, LinkKind.INVOICE, after.id), after, to)
    return after


OPERATIONS = (send_invoice, void_invoice, send_reminder)


def unreachable_reason(customer: Customer) -> Reason:
    """The reason that there is nobody to mail to."""
    told = f"There is no address to mail it to. Give {customer.name} one, say where it is to go"
    return Reason(f"{told}, or issue it without a mail.", "update_customer")


def told_standing(judged: Standing) -> dict[str, Any]:
    """Whether something is an e-invoice, as it is kept."""
    return {"status": judged.status, "missing": list(judged.missing)}


def mail(
    ctx: Context, enclosed: Enclosed, invoice: Invoice, to: list[str], other: Mapping[str, str] | None = None
) -> None:
    """Mail a document about an invoice, in the customer's language or the organisation's own words."""
    house, snapshot = house_of(ctx), snapshot_of(invoice)
    locale = Locale(snapshot.language, snapshot.seller.address.country if snapshot.seller.address else None)
    values = {
        "customer": invoice.customer_name,
        "organisation": snapshot.seller.name,
        "number": invoice.named,
        "title": invoice.title or "",
        "total": locale.money(amount_text(invoice.total, invoice.currency), invoice.currency),
        "due": locale.money(amount_text(invoice.due, invoice.currency), invoice.currency),
        "dueOn": locale.day(invoice.due_on or ""),
        **(other or {}),
    }
    for letter in letters(enclosed, snapshot, to, house.mail_texts.get(enclosed.words), values):
        ctx.post(letter)
        ctx.effects.append(f"It is mailed to {letter.payload['to']}: {letter.payload['subject']}")
    if to and not snapshot.seller.email:
        ctx.warnings.append(
            "The organisation has no e-mail address, so nobody can answer the mail. Add one in settings."
        )


def _if_too_late(ctx: Context, invoice: Invoice) -> list[Reason]:
    """The reason that a part is asked for too late: others bill all of the quote, and none of them takes it off."""
    if invoice.kind not in PARTS or invoice.quote_id is None:
        return []
    quote = QUOTES.fetch(ctx, invoice.quote_id)
    if not is_billed(ctx, quote):
        return []
    told = f"All of {quote.named} is on other invoices, which do not take this one off. Delete it, or those drafts"
    return [Reason(f"{told}, first.", "delete_draft_invoice")]


def _days_to_pay(ctx: Context, customer: Customer, house: House) -> int:
    row = ctx.rows.one(
        "SELECT payment_terms_days FROM customer WHERE organisation_id = :organisation AND id = :id", id=customer.id
    )
    return int(row[0]) if row and row[0] is not None else house.payment_terms_days


def _frozen(ctx: Context, invoice: Invoice, house: House, told: dict[str, Any]) -> Snapshot:
    row = ctx.rows.one(
        "SELECT language FROM customer WHERE organisation_id = :organisation AND id = :id", id=invoice.customer_id
    )
    told |= {
        "kind": "invoice",
        "type": invoice.kind,
        "language": row[0] if row and row[0] else house.language,
        "servicePeriod": _worked(ctx, invoice),
        "title": invoice.title,
        "notes": invoice.notes,
        "discount": invoice.discount,
        "preceding": _preceding(ctx, invoice),
    }
    about = About(invoice.customer_id, invoice.site_id, invoice.job_id)
    return freeze(ctx, about, read_lines(invoice.lines), invoice.reckoned, told)


def _worked(ctx: Context, invoice: Invoice) -> dict[str, str] | None:
    """When the work was done that it bills, as far as there are hours."""
    row = ctx.rows.one(
        "SELECT min(on_date), max(on_date) FROM time_entry WHERE organisation_id = :organisation AND id IN"
        " (SELECT source_id FROM billed_source WHERE organisation_id = :organisation AND invoice_id = :invoice)",
        invoice=invoice.id,
    )
    return {"from": str(row[0]), "until": str(row[1])} if row and row[0] else None


def _preceding(ctx: Context, invoice: Invoice) -> list[dict[str, Any]]:
    """The invoices that it takes off."""
    before = dict.fromkeys(line["source"]["id"] for line in invoice.lines if _deducts(line))
    found = [INVOICES.fetch(ctx, identity) for identity in before]
    return [{"number": one.number, "issuedOn": one.issued_on} for one in found]


def _deducts(line: dict[str, Any]) -> bool:
    return bool(line["source"] and line["source"]["kind"] == "deposit")


def _tell_credit(ctx: Context, invoice: Invoice) -> None:
    row = ctx.rows.one(
        "SELECT CAST(sum(unallocated) AS bigint) FROM payment WHERE organisation_id = :organisation"
        " AND customer_id = :customer AND unallocated > 0 AND status = 'recorded'",
        customer=invoice.customer_id,
    )
    if row and row[0]:
        left = f"{amount_text(int(row[0]), invoice.currency)} {invoice.currency}"
        ctx.warnings.append(f"{invoice.customer_name} has {left} on account. allocate_payment puts it to the invoice.")
