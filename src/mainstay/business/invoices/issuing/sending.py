"""Issuing an invoice, voiding it, and sending a reminder of it."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.invoices.drafting import sources
from mainstay.business.invoices.drafting.billable_lines import find_overbilling, is_fully_billed, warn_of_deposits
from mainstay.business.invoices.drafting.supply_date import (
    Supply,
    find_supply,
    printed_supply_columns,
    read_supply,
    supply_at_issue,
)
from mainstay.business.invoices.events import InvoiceSent, InvoiceUpdated, InvoiceVoided
from mainstay.business.invoices.issuing.document_files import describe_missing_field
from mainstay.business.invoices.model import ADVANCE_KINDS, Invoice, ListedInvoice, due_date_after, payment_status_of
from mainstay.business.invoices.payments import settlement
from mainstay.business.invoices.store import INVOICES, InvoiceId
from mainstay.business.issuing.document_emails import (
    Deliver,
    DocumentEmailInput,
    EmailedDocument,
    email_document,
    find_customer_recipients,
    recipients_field,
)
from mainstay.business.issuing.document_files import ProofOut, check_not_issued, create_print_task, snapshot_of
from mainstay.business.issuing.snapshotting import DocumentParties, SnapshotWithAmounts, take_snapshot
from mainstay.business.lines.model import read_lines
from mainstay.business.organisation import numbering
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.business.quotes.store import QUOTES
from mainstay.documents.einvoice import EInvoiceCheck, check_einvoice
from mainstay.documents.locales import Locale
from mainstay.documents.payment_details import has_account
from mainstay.identity.links import LinkKind
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import Email, Paragraph
from mainstay.values.message import Amount, CalendarDate, Message
from mainstay.values.moments import ONE_DAY, local_date, parse_moment
from mainstay.values.money import amount_text
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Reason, raise_if_blocked
from mainstay.vocabulary.schemas import Input, IrreversibleInput

# Printed on a draft instead of a number.
NO_NUMBER = "\N{EM DASH}"
NO_BANK_DETAILS = Message(
    "The invoice doesn't say where to pay, because you have no bank details. Add them in Settings → Money first."
)
_HAD_NO_BANK_DETAILS = Message(
    "The invoice doesn't say where to pay, because you had no bank details when it was issued. Tell the customer"
    " yourself."
)
# If the last reminder is more recent than this, sending another gives a warning.
_RECENT_REMINDER = timedelta(days=3)
InvoiceRecipients = Annotated[list[Email] | None, recipients_field("the customer's usual ones for invoices")]


class SendInvoice(DocumentEmailInput):
    """The invoice, and how to send it."""

    invoice_id: InvoiceId
    deliver: Deliver = "email"
    to: InvoiceRecipients = None


class VoidInvoice(IrreversibleInput):
    """The invoice, and the reason."""

    invoice_id: InvoiceId
    reason: Paragraph = Field(title="Reason", description="Kept with the invoice, e.g. Sent to the wrong customer.")


AGAIN_FIELD = Field(
    default=False,
    title="Remind again within 24 hours",
    description="Allows a second reminder of the same invoice within 24 hours.",
)


class SendReminder(DocumentEmailInput):
    """The invoice."""

    invoice_id: InvoiceId
    to: InvoiceRecipients = None
    again: bool = AGAIN_FIELD


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /invoices/{invoice_id}/send",
    on=INVOICES,
    blocked_by=ListedInvoice.not_sendable,
    emails_outside=True,
    not_undone=Message("The invoice has been issued. Credit or void it instead."),
    commits_amount=True,
    past_text="Invoice issued",
)
def send_invoice(ctx: Context, given: SendInvoice, invoice: Invoice) -> Invoice:
    """Send invoice.

    Issue a draft invoice and send it to the customer by email, with the PDF and a link to view it. The invoice gets its
    number and is locked.
    """
    settings = settings_of(ctx)
    today = settings.today(ctx)
    customer: Customer = CUSTOMERS.fetch(ctx, invoice.customer_id)
    recipients = find_customer_recipients(ctx, customer, "invoices", given.to, given.deliver)
    reasons = [
        *customer.not_usable(),
        *invoice.not_issuable(settings, today.isoformat()),
        *_reasons_if_too_late(ctx, invoice),
    ]
    reasons += find_overbilling(ctx, invoice)
    raise_if_blocked([*reasons, *recipients.reasons])
    after = _issue(ctx, invoice, customer, settings)
    ctx.commit_amount(after.total, after.currency)
    settlement.update_job_billing(ctx, after.job_id)
    ctx.add_task(create_print_task(after.id, after.short_name))
    if given.deliver == "none":
        ctx.effects.append(Message("No email will be sent. Send or hand over the invoice yourself."))
    email_document(
        ctx,
        EmailedDocument("invoice", after, LinkKind.INVOICE, after.id, given),
        recipients.to,
        partial(invoice_email_values_of, after),
    )
    ctx.emit(InvoiceSent(after, invoice))
    return after


def _issue(ctx: Context, invoice: Invoice, customer: Customer, settings: OrganisationSettings) -> Invoice:
    """Give the invoice its number and everything that is printed on it, and describe it in the preview."""
    snapshot, priced = _take_invoice_snapshot(ctx, invoice, customer, settings, numbering.take_number(ctx, "invoice"))
    issued_on = settings.today(ctx).isoformat()
    due_on, period = snapshot.due_on or issued_on, snapshot.service_period
    checks = check_einvoice(snapshot)
    after = INVOICES.save(
        ctx,
        invoice,
        {
            "number": snapshot.number,
            "status": "issued",
            "standing": payment_status_of(invoice.total, 0, 0),
            "owing": invoice.total > 0,
            "issued_on": issued_on,
            "due_on": due_on,
            **printed_supply_columns(period),
            "overdue_at": settings.end_of_day(due_on),
            "language": snapshot.language,
            "taxes": priced.taxes,
            "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
            "e_invoice": e_invoice_check_to_json(checks.e_invoice),
            "peppol": e_invoice_check_to_json(checks.peppol),
            "sent_at": ctx.now_text,
        },
    )
    ctx.summary = Message(
        "{invoice} will be issued to {customer}: {total}, due on {due_on}.",
        invoice=after.name_in_messages,
        customer=after.customer_name,
        total=after.total_amount,
        due_on=CalendarDate(due_on),
    )
    if checks.e_invoice.missing:
        ctx.warnings.append(warn_of_no_e_invoice(checks.e_invoice.missing))
    if after.due > 0 and not has_account(snapshot):
        ctx.warnings.append(NO_BANK_DETAILS)
    _add_money_on_account(ctx, after)
    return after


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /invoices/{invoice_id}/void",
    on=INVOICES,
    blocked_by=ListedInvoice.not_voidable,
    not_undone=Message("Create a new invoice."),
    commits_amount=True,
    past_text="Invoice voided",
)
def void_invoice(ctx: Context, given: VoidInvoice, invoice: Invoice) -> Invoice:
    """Void invoice.

    For an invoice issued by mistake that has not been paid or credited. The number is kept, the work can be invoiced
    again, and no email is sent.
    """
    settings = settings_of(ctx)
    today = settings.today(ctx).isoformat()
    raise_if_blocked(settings.reasons_if_closed(today))
    after = INVOICES.save(
        ctx,
        invoice,
        {
            "status": "void",
            "standing": "void",
            "owing": False,
            "voided_at": ctx.now_text,
            "voided_on": today,
            "void_reason": given.reason,
        },
    )
    ctx.commit_amount(after.total, after.currency)
    ctx.summary = Message(
        "{invoice} will be voided: {customer} will no longer owe {total}.",
        invoice=after.name_in_messages,
        customer=after.customer_name,
        total=after.total_amount,
    )
    if sources.release_all_sources(ctx, after):
        ctx.effects.append(Message("The work on it can be invoiced again."))
    ctx.effects.append(
        Message("The invoice will keep its number, and its PDF will be stamped as void. No email will be sent.")
    )
    settlement.update_job_billing(ctx, after.job_id)
    ctx.add_task(create_print_task(after.id, Message("{invoice}, void", invoice=after.short_name), form="void"))
    ctx.emit(InvoiceVoided(after, invoice))
    return after


@operation(
    permission=Permission.INVOICES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /invoices/{invoice_id}/remind",
    on=INVOICES,
    blocked_by=ListedInvoice.not_remindable,
    emails_outside=True,
    not_undone=Message("The reminder has been sent."),
    past_text="Reminder sent",
)
def send_reminder(ctx: Context, given: SendReminder, invoice: Invoice) -> Invoice:
    """Send reminder.

    Chase an unpaid or overdue invoice: emails its PDF and link to the customer again. A second reminder within 24 hours
    needs again: true.
    """
    after = remind_customer(ctx, invoice, given, again=given.again)
    ctx.summary = Message(
        "{customer} will be reminded of {invoice}: {due} to pay.",
        customer=after.customer_name,
        invoice=after.name_in_messages,
        due=after.due_amount,
    )
    return after


@operation(permission=Permission.INVOICES_READ, effect=Effect.READ, doors=frozenset({Door.OFFICE}), on=INVOICES)
def get_invoice_proof(ctx: Context, _given: Input, invoice: Invoice) -> ProofOut:
    """Get draft PDF of invoice.

    Stamped as a draft, without a number, and not stored.
    """
    check_not_issued(invoice)
    customer: Customer = CUSTOMERS.fetch(ctx, invoice.customer_id)
    taken = _take_invoice_snapshot(ctx, invoice, customer, settings_of(ctx), NO_NUMBER)
    return ProofOut.from_snapshot(invoice.id, invoice.title or invoice.customer_name, taken.snapshot)


OPERATIONS = (send_invoice, void_invoice, send_reminder, get_invoice_proof)


def remind_customer(
    ctx: Context, invoice: Invoice, given: SendReminder | None = None, *, again: bool, brief: bool = False
) -> Invoice:
    """Remind the customer of an invoice by email, a second time within a day only if `again`.

    The preview leaves out the words of the email if it is `brief`.
    """
    customer: Customer = CUSTOMERS.fetch(ctx, invoice.customer_id)
    recipients = find_customer_recipients(ctx, customer, "invoices", given.to if given else None)
    just_reminded = [] if again else _reasons_if_reminded_today(ctx, invoice)
    raise_if_blocked([*just_reminded, *recipients.reasons])
    if invoice.status != "overdue":
        ctx.warnings.append(
            Message(
                "{invoice} is not overdue yet: it is due on {due_on}.",
                invoice=invoice.short_name,
                due_on=CalendarDate(invoice.due_on or ""),
            )
        )
    if invoice.reminded_at and ctx.now - parse_moment(invoice.reminded_at) < _RECENT_REMINDER:
        on = local_date(parse_moment(invoice.reminded_at), settings_of(ctx).time_zone)
        ctx.warnings.append(
            Message(
                "The customer was already reminded of {invoice} on {on}.",
                invoice=invoice.short_name,
                on=CalendarDate(on.isoformat()),
            )
        )
    # The enclosed PDF stays as it was issued, even if the organisation has added bank details since.
    if not has_account(snapshot_of(invoice)) and _HAD_NO_BANK_DETAILS not in ctx.warnings:
        ctx.warnings.append(_HAD_NO_BANK_DETAILS)
    after = INVOICES.save(ctx, invoice, {"reminders": invoice.reminders + 1, "reminded_at": ctx.now_text})
    text_kind = "reminder" if invoice.status == "overdue" else "dueSoon"
    emailed = EmailedDocument(text_kind, after, LinkKind.INVOICE, after.id, given)
    email_document(ctx, emailed, recipients.to, partial(invoice_email_values_of, after), brief=brief)
    ctx.emit(InvoiceUpdated(after, invoice))
    return after


def e_invoice_check_to_json(check: EInvoiceCheck) -> dict[str, Any]:
    """Convert an e-invoice check to the JSON that is stored."""
    return {"status": check.status, "missing": list(check.missing)}


def invoice_email_values_of(invoice: Invoice, locale: Locale) -> dict[str, str]:
    """Return the values for the text of an email about an invoice."""
    return {
        "customer": invoice.customer_name,
        "number": invoice.short_name,
        "title": invoice.title or "",
        "total": locale.format_money(amount_text(invoice.total, invoice.currency), invoice.currency),
        "due": locale.format_money(amount_text(invoice.due, invoice.currency), invoice.currency),
        "dueOn": locale.format_day(invoice.due_on or ""),
    }


def _reasons_if_reminded_today(ctx: Context, invoice: Invoice) -> list[Reason]:
    """Return a reason against a reminder within a day of the last one, which may be the same request sent twice."""
    if not invoice.reminded_at or ctx.now - parse_moment(invoice.reminded_at) >= ONE_DAY:
        return []
    on = local_date(parse_moment(invoice.reminded_at), settings_of(ctx).time_zone)
    message = Message(
        "{customer} was reminded of {invoice} less than 24 hours ago, on {on}. Wait, or choose to remind them again.",
        customer=invoice.customer_name,
        invoice=invoice.short_name,
        on=CalendarDate(on.isoformat()),
        for_programs=Message("To send it anyway, send `again`: true."),
    )
    return [Reason(message)]


def _reasons_if_too_late(ctx: Context, invoice: Invoice) -> list[Reason]:
    """Return a reason against an advance invoice if other invoices bill all of the quote without deducting it.

    A second deposit only gives a warning.
    """
    if invoice.kind not in ADVANCE_KINDS or invoice.quote_id is None:
        return []
    quote = QUOTES.fetch(ctx, invoice.quote_id)
    if invoice.kind == "deposit":
        warn_of_deposits(ctx, quote, except_id=invoice.id)
    if not is_fully_billed(ctx, quote):
        return []
    message = Message(
        "All of {quote} is already on other invoices, which don't deduct this one. Delete this draft, or those drafts"
        " first.",
        quote=quote.short_name,
    )
    return [Reason(message, instead="delete_draft_invoice")]


def _supply_of(ctx: Context, invoice: Invoice, settings: OrganisationSettings) -> Supply | None:
    """Return the date of supply that an invoice would state today: as typed, or from its hours, visits and goods."""
    typed = read_supply(invoice.supplied_from, invoice.supplied_until) if invoice.supply_typed else None
    known = typed or find_supply(ctx, invoice.kind, invoice.job_id, read_lines(invoice.lines))
    return supply_at_issue(settings, invoice.kind, known, settings.today(ctx).isoformat())


def _take_invoice_snapshot(
    ctx: Context, invoice: Invoice, customer: Customer, settings: OrganisationSettings, number: str
) -> SnapshotWithAmounts:
    """Take the snapshot of an invoice as it would be issued today with this number."""
    supply = _supply_of(ctx, invoice, settings)
    today = settings.today(ctx)
    fields: dict[str, Any] = {
        "number": number,
        "issuedOn": today.isoformat(),
        "dueOn": invoice.due_on
        or due_date_after(today, customer.payment_terms_days, settings.payment_terms_days).isoformat(),
        "kind": "invoice",
        "type": invoice.kind,
        "language": customer.language or settings.language,
        "servicePeriod": supply and {"from": supply.first, "until": supply.last},
        "title": invoice.title,
        "notes": invoice.notes,
        "discount": invoice.discount,
        "preceding": _find_deducted_invoices(ctx, invoice),
    }
    parties = DocumentParties(customer, invoice.site_id, invoice.job_id)
    return take_snapshot(ctx, parties, read_lines(invoice.lines), invoice.pricing_terms, fields)


def _find_deducted_invoices(ctx: Context, invoice: Invoice) -> list[dict[str, Any]]:
    """Return the numbers and dates of the invoices that this one deducts."""
    deducted_ids = dict.fromkeys(
        line.source["id"] for line in read_lines(invoice.lines) if line.source and line.is_deduction
    )
    invoices = [INVOICES.fetch(ctx, record_id) for record_id in deducted_ids]
    return [{"number": one.number, "issuedOn": one.issued_on} for one in invoices]


def warn_of_no_e_invoice(missing: Sequence[str]) -> Message:
    """Return the warning that an invoice lacks fields that an e-invoice needs."""
    return Message("No e-invoice will be included. Missing: {fields}.", fields=[*map(describe_missing_field, missing)])


def warn_of_money_on_account(customer: str, amount: Amount) -> Message:
    """Return the warning that a customer has paid more than was allocated."""
    return Message(
        "{customer} has {amount} on account, which can be allocated to this invoice.",
        customer=customer,
        amount=amount,
        for_programs=Message("To allocate it, call allocate_payment."),
    )


def _add_money_on_account(ctx: Context, invoice: Invoice) -> None:
    row = ctx.db.one(
        "SELECT CAST(sum(unallocated) AS bigint) FROM payment WHERE organisation_id = :organisation"
        " AND customer_id = :customer AND unallocated > 0 AND status = 'recorded'",
        customer=invoice.customer_id,
    )
    if row and row[0]:
        amount = Amount(amount_text(int(row[0]), invoice.currency), invoice.currency)
        ctx.warnings.append(warn_of_money_on_account(invoice.customer_name, amount))
