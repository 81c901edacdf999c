"""Issuing an invoice, making it void, and reminding of it."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.invoices import settling, sources
from mainstay.business.invoices.billing import beyond_quote, is_billed, warn_of_deposits
from mainstay.business.invoices.events import InvoiceSent, InvoiceUpdated, InvoiceVoided
from mainstay.business.invoices.model import PARTS, Invoice, ListedInvoice, standing_of
from mainstay.business.invoices.operations import InvoiceId
from mainstay.business.invoices.papers import spelled
from mainstay.business.invoices.store import INVOICES
from mainstay.business.invoices.supply import Supply, find_supply, read_supply, stated_supply, supply_at_issue
from mainstay.business.issuing.freezing import About, Frozen, freeze
from mainstay.business.issuing.mailing import DELIVER, Deliver, Enclosed, addressed, customer_s, mail
from mainstay.business.issuing.printed import ProofOut, printing, refuse_proof_of_issued, snapshot_of
from mainstay.business.lines.model import read_lines
from mainstay.business.organisation import numbering
from mainstay.business.organisation.house import House, house_of
from mainstay.business.quotes.store import QUOTES
from mainstay.identity.links import Kind as LinkKind
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.paper.einvoice import Standing, standing
from mainstay.paper.locales import Locale
from mainstay.paper.paying import tells_account
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Reason, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable
from mainstay.values.fields import Email, Paragraph
from mainstay.values.moments import local_date, parse_moment
from mainstay.values.money import amount_text

# What a draft has in place of one.
_NO_NUMBER = "\N{EM DASH}"
_NO_ACCOUNT = (
    "The organisation has no bank details, so the invoice does not say where to pay. Add them in settings, under"
    " Money, first."
)
_HAD_NO_ACCOUNT = (
    "The organisation had no bank details when the invoice was issued, so it does not say where to pay. Tell them that"
    " yourself."
)
# Someone who was reminded so many days ago is given time.
_PATIENCE = timedelta(days=3)
_A_DAY = timedelta(days=1)
TO: Any = addressed("those the customer has for invoices")


class SendInvoice(Irrevocable):
    """Which invoice, and how."""

    invoice_id: InvoiceId
    deliver: Deliver = DELIVER
    to: list[Email] | None = TO


class GetInvoiceProof(Input):
    """Which invoice."""

    invoice_id: InvoiceId


class VoidInvoice(Irrevocable):
    """Which invoice, and why."""

    invoice_id: InvoiceId
    reason: Paragraph = Field(title="Why", description="It stays on the record.")


AGAIN = Field(
    default=False,
    title="Again within a day",
    description="Needed for a second reminder of the same invoice within 24 hours.",
)


class SendReminder(Irrevocable):
    """Of which invoice."""

    invoice_id: InvoiceId
    to: list[Email] | None = TO
    again: bool = AGAIN


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

    It gets its number, and stays as it is from then on. Where it is mailed, the mail has its PDF and a link to its
    page.
    """
    house = house_of(ctx)
    today = house.today(ctx)
    customer: Customer = CUSTOMERS.fetch(ctx, invoice.customer_id)
    recipients = customer_s(ctx, customer, "invoices", given.to, given.deliver)
    against = [*customer.not_usable(), *invoice.not_issuable(house, today.isoformat()), *_if_too_late(ctx, invoice)]
    against += beyond_quote(ctx, invoice)
    refuse([*against, *recipients.against])
    snapshot, drawn = _frozen(ctx, invoice, customer, house, numbering.take(ctx, "invoice"))
    due_on, period = snapshot.due_on or today.isoformat(), snapshot.service_period
    judged = standing(snapshot)
    after = INVOICES.save(
        ctx,
        invoice,
        {
            "number": snapshot.number,
            "status": "issued",
            "standing": standing_of(invoice.total, 0, 0),
            "owing": invoice.total > 0,
            "issued_on": today.isoformat(),
            "due_on": due_on,
            **stated_supply(period),
            "overdue_at": house.ends_at(due_on),
            "language": snapshot.language,
            "taxes": drawn.taxes,
            "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
            "e_invoice": told_standing(judged.e_invoice),
            "peppol": told_standing(judged.peppol),
            "sent_at": ctx.at,
        },
    )
    settling.hand_down(ctx, after.job_id)
    ctx.post(printing(after.id, after.named))
    ctx.summary = f"{after.called} goes to {after.customer_name}: {after.total_text}, due on {due_on}."
    if judged.e_invoice.missing:
        ctx.warnings.append(f"It is no e-invoice: {', '.join(map(spelled, judged.e_invoice.missing))} is missing.")
    if after.due > 0 and not tells_account(snapshot):
        ctx.warnings.append(_NO_ACCOUNT)
    _tell_credit(ctx, after)
    if given.deliver == "none":
        ctx.effects.append("Nobody is mailed: hand it over yourself.")
    mail(ctx, Enclosed("invoice", after, LinkKind.INVOICE, after.id), recipients.to, partial(told_values, after))
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
    house = house_of(ctx)
    today = house.today(ctx).isoformat()
    refuse(house.if_closed(today))
    after = INVOICES.save(
        ctx,
        invoice,
        {
            "status": "void",
            "standing": "void",
            "owing": False,
            "voided_at": ctx.at,
            "voided_on": today,
            "void_reason": given.reason,
        },
    )
    ctx.summary = f"{after.called} becomes void: {after.customer_name} owes nothing of {after.total_text}."
    if sources.free(ctx, after):
        ctx.effects.append("What it bills can be billed again.")
    ctx.effects.append("Its number stays in the books, and its PDF gets a stamped copy. Nobody is mailed.")
    settling.hand_down(ctx, after.job_id)
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

    By a mail with its PDF and the link to its page. A second reminder within a day needs again: true.
    """
    after = remind(ctx, invoice, given.to, again=given.again)
    ctx.summary = f"{after.customer_name} is reminded of {after.called}: {after.due_text} is to be paid."
    return after


@operation(right=Right.INVOICES_READ, effect=Effect.READ, offered=frozenset({Door.OFFICE}), on=INVOICES)
def get_invoice_proof(ctx: Context, _given: GetInvoiceProof, invoice: Invoice) -> ProofOut:
    """Get a draft of an invoice as it would be printed.

    Stamped as a draft, without a number, and kept nowhere.
    """
    refuse_proof_of_issued(invoice)
    customer: Customer = CUSTOMERS.fetch(ctx, invoice.customer_id)
    frozen = _frozen(ctx, invoice, customer, house_of(ctx), _NO_NUMBER)
    return ProofOut.of(invoice.id, invoice.title or invoice.customer_name, frozen.snapshot)


OPERATIONS = (send_invoice, void_invoice, send_reminder, get_invoice_proof)


def remind(
    ctx: Context, invoice: Invoice, to: Sequence[str] | None = None, *, again: bool, brief: bool = False
) -> Invoice:
    """Remind the customer of an invoice by email, a second time within a day only if `again`.

    The preview leaves out the words of the email if it is `brief`.
    """
    customer: Customer = CUSTOMERS.fetch(ctx, invoice.customer_id)
    recipients = customer_s(ctx, customer, "invoices", to)
    just_reminded = [] if again else _if_reminded_today(ctx, invoice)
    refuse([*just_reminded, *recipients.against])
    if invoice.status != "overdue":
        ctx.warnings.append(f"{invoice.named} is not overdue: there is time until {invoice.due_on}.")
    if invoice.reminded_at and ctx.now - parse_moment(invoice.reminded_at) < _PATIENCE:
        on = local_date(parse_moment(invoice.reminded_at), house_of(ctx).time_zone)
        ctx.warnings.append(f"They were reminded of {invoice.named} on {on} already.")
    # What is enclosed stays as it was issued, whatever the organisation has added since.
    if not tells_account(snapshot_of(invoice)) and _HAD_NO_ACCOUNT not in ctx.warnings:
        ctx.warnings.append(_HAD_NO_ACCOUNT)
    after = INVOICES.save(ctx, invoice, {"reminders": invoice.reminders + 1, "reminded_at": ctx.at})
    words = "reminder" if invoice.status == "overdue" else "dueSoon"
    enclosed = Enclosed(words, after, LinkKind.INVOICE, after.id)
    mail(ctx, enclosed, recipients.to, partial(told_values, after), brief=brief)
    ctx.record(InvoiceUpdated(after, invoice))
    return after


def told_standing(judged: Standing) -> dict[str, Any]:
    """Whether something is an e-invoice, as it is kept."""
    return {"status": judged.status, "missing": list(judged.missing)}


def told_values(invoice: Invoice, locale: Locale) -> dict[str, str]:
    """What a mail about an invoice tells of it."""
    return {
        "customer": invoice.customer_name,
        "number": invoice.named,
        "title": invoice.title or "",
        "total": locale.money(amount_text(invoice.total, invoice.currency), invoice.currency),
        "due": locale.money(amount_text(invoice.due, invoice.currency), invoice.currency),
        "dueOn": locale.day(invoice.due_on or ""),
    }


def _if_reminded_today(ctx: Context, invoice: Invoice) -> list[Reason]:
    """Return the reason that somebody has only just sent a reminder: perhaps this is the same request once more."""
    if not invoice.reminded_at or ctx.now - parse_moment(invoice.reminded_at) >= _A_DAY:
        return []
    on = local_date(parse_moment(invoice.reminded_at), house_of(ctx).time_zone)
    text = f"{invoice.customer_name} was reminded of {invoice.named} less than a day ago, on {on}."
    return [Reason(f"{text} Wait, or choose to remind them again (send `again` as true).")]


def _if_too_late(ctx: Context, invoice: Invoice) -> list[Reason]:
    """The reason that a part is asked for too late: others bill all of the quote, and none of them takes it off.

    A deposit beside another is only warned of.
    """
    if invoice.kind not in PARTS or invoice.quote_id is None:
        return []
    quote = QUOTES.fetch(ctx, invoice.quote_id)
    if invoice.kind == "deposit":
        warn_of_deposits(ctx, quote, but=invoice.id)
    if not is_billed(ctx, quote):
        return []
    told = f"All of {quote.named} is on other invoices, which do not take this one off. Delete it, or those drafts"
    return [Reason(f"{told}, first.", "delete_draft_invoice")]


def _supply_of(ctx: Context, invoice: Invoice, house: House) -> Supply | None:
    """Return the date of supply that an invoice would state today: as typed, or as its hours, visits and goods say."""
    typed = read_supply(invoice.supplied_from, invoice.supplied_until) if invoice.supply_typed else None
    known = typed or find_supply(ctx, invoice.kind, invoice.job_id, read_lines(invoice.lines))
    return supply_at_issue(house, invoice.kind, known, house.today(ctx).isoformat())


def _frozen(ctx: Context, invoice: Invoice, customer: Customer, house: House, number: str) -> Frozen:
    """All that an invoice says, as it would be issued today under this number."""
    supply = _supply_of(ctx, invoice, house)
    days = house.payment_terms_days if customer.payment_terms_days is None else customer.payment_terms_days
    today = house.today(ctx)
    told: dict[str, Any] = {
        "number": number,
        "issuedOn": today.isoformat(),
        "dueOn": invoice.due_on or (today + timedelta(days=days)).isoformat(),
        "kind": "invoice",
        "type": invoice.kind,
        "language": customer.language or house.language,
        "servicePeriod": supply and {"from": supply.first, "until": supply.last},
        "title": invoice.title,
        "notes": invoice.notes,
        "discount": invoice.discount,
        "preceding": _preceding(ctx, invoice),
    }
    about = About(customer, invoice.site_id, invoice.job_id)
    return freeze(ctx, about, read_lines(invoice.lines), invoice.reckoned, told)


def _preceding(ctx: Context, invoice: Invoice) -> list[dict[str, Any]]:
    """The invoices that it takes off."""
    before = dict.fromkeys(line.source["id"] for line in read_lines(invoice.lines) if line.source and line.deducts)
    found = [INVOICES.fetch(ctx, identity) for identity in before]
    return [{"number": one.number, "issuedOn": one.issued_on} for one in found]


def _tell_credit(ctx: Context, invoice: Invoice) -> None:
    row = ctx.rows.one(
        "SELECT CAST(sum(unallocated) AS bigint) FROM payment WHERE organisation_id = :organisation"
        " AND customer_id = :customer AND unallocated > 0 AND status = 'recorded'",
        customer=invoice.customer_id,
    )
    if row and row[0]:
        left = f"{amount_text(int(row[0]), invoice.currency)} {invoice.currency}"
        ctx.warnings.append(f"{invoice.customer_name} has {left} on account. allocate_payment puts it to the invoice.")
