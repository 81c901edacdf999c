"""Sending and withdrawing quotes, and their PDFs."""

from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.issuing.document_emails import (
    Deliver,
    DocumentEmailInput,
    EmailedDocument,
    email_document,
    find_customer_recipients,
    recipients_field,
)
from mainstay.business.issuing.document_files import (
    PDF,
    ProofOut,
    check_not_issued,
    create_print_task,
    document_file_of,
)
from mainstay.business.issuing.snapshotting import DocumentParties, SnapshotWithAmounts, take_snapshot
from mainstay.business.lines.model import read_lines
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.business.quotes import store
from mainstay.business.quotes.events import QuoteSent, QuoteSuperseded, QuoteWithdrawn
from mainstay.business.quotes.model import ListedQuote, Quote
from mainstay.business.quotes.store import QUOTES, QuoteId
from mainstay.documents.locales import Locale
from mainstay.identity.links import LinkKind
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_file
from mainstay.values.fields import Email, Paragraph
from mainstay.values.message import CalendarDate, Message
from mainstay.values.money import amount_text
from mainstay.vocabulary.actor import API_AND_OFFICE, Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import raise_if_blocked
from mainstay.vocabulary.schemas import Input, IrreversibleInput


class SendQuote(DocumentEmailInput):
    """The quote, and how to send it."""

    quote_id: QuoteId
    deliver: Deliver = "email"
    to: Annotated[list[Email] | None, recipients_field("the customer's usual ones for quotes")] = None


class WithdrawQuote(IrreversibleInput):
    """The quote, and the reason."""

    quote_id: QuoteId
    reason: Paragraph | None = Field(None, title="Reason", description="Office only. Not shown to the customer.")


@operation(
    permission=Permission.QUOTES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /quotes/{quote_id}/send",
    on=QUOTES,
    blocked_by=ListedQuote.not_sendable,
    emails_outside=True,
    not_undone=Message("The quote has been sent. Withdraw or revise it instead."),
    commits_amount=True,
    past_text="Quote sent",
)
def send_quote(ctx: Context, given: SendQuote, quote: Quote) -> Quote:
    """Send quote.

    The email to the customer includes the PDF and a link to accept or decline. Once sent, the quote is locked and
    replaces the earlier revision; revise it to change it.
    """
    settings = settings_of(ctx)
    today = settings.today(ctx)
    customer: Customer = CUSTOMERS.fetch(ctx, quote.customer_id)
    recipients = find_customer_recipients(ctx, customer, "quotes", given.to, given.deliver)
    advice = Message("Withdraw it and create a quote in {currency}.", currency=settings.currency)
    foreign = settings.reasons_if_foreign(quote.currency, advice, "withdraw_quote")
    raise_if_blocked([*customer.not_usable(), *quote.not_issuable(today.isoformat()), *foreign, *recipients.reasons])
    snapshot, priced = _take_quote_snapshot(ctx, quote, customer, settings)
    until = snapshot.valid_until or today.isoformat()
    values = {
        "status": "sent",
        "issued_on": today.isoformat(),
        "valid_until": until,
        "expires_at": settings.end_of_day(until),
        "language": snapshot.language,
        "taxes": priced.taxes,
        "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
        "sent_at": ctx.now_text,
        "sent_by": ctx.actor.id,
    }
    after = QUOTES.save(ctx, quote, values)
    ctx.commit_amount(after.total, after.currency)
    _supersede(ctx, after)
    store.update_quoted_job(ctx, after.job_id)
    ctx.add_task(create_print_task(after.id, after.short_name))
    ctx.summary = Message(
        "{quote} will be sent to {customer}: {total}, valid until {valid_until}.",
        quote=after.display_name,
        customer=after.customer_name,
        total=after.total_amount,
        valid_until=CalendarDate(until),
    )
    if given.deliver == "none":
        ctx.effects.append(Message("No email will be sent. Send or hand over the quote yourself."))
    email_document(
        ctx,
        EmailedDocument("quote", after, LinkKind.QUOTE, after.id, given),
        recipients.to,
        partial(_email_values_of, after),
    )
    ctx.emit(QuoteSent(after, quote))
    return after


@operation(
    permission=Permission.QUOTES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /quotes/{quote_id}/withdraw",
    on=QUOTES,
    blocked_by=ListedQuote.not_withdrawable,
    not_undone=Message("Revise the quote and send it again."),
    past_text="Quote withdrawn",
)
def withdraw_quote(ctx: Context, given: WithdrawQuote, quote: Quote) -> Quote:
    """Withdraw quote.

    The customer can no longer accept it and their link says so, but no email is sent. [[Also discards a draft.]]
    """
    after = QUOTES.save(ctx, quote, {"status": "withdrawn", "withdraw_reason": given.reason})
    store.update_quoted_job(ctx, after.job_id)
    if quote.status != "draft":
        ctx.effects.append(
            Message(
                "{customer} will no longer be able to accept it. Their link will say that it was withdrawn.",
                customer=after.customer_name,
            )
        )
    ctx.emit(QuoteWithdrawn(after, quote))
    return after


get_quote_pdf = declare_file(
    QUOTES,
    document_file_of,
    "Get PDF of quote. As it was sent: always the same bytes. A draft has no PDF.",
    Permission.QUOTES_READ,
    api_path="GET /quotes/{quote_id}/pdf",
    doors=API_AND_OFFICE,
    returns_file=PDF,
)


@operation(permission=Permission.QUOTES_READ, effect=Effect.READ, doors=frozenset({Door.OFFICE}), on=QUOTES)
def get_quote_proof(ctx: Context, _given: Input, quote: Quote) -> ProofOut:
    """Get draft PDF of quote.

    Stamped as a draft, and not stored.
    """
    check_not_issued(quote)
    customer: Customer = CUSTOMERS.fetch(ctx, quote.customer_id)
    return ProofOut.from_snapshot(
        quote.id, quote.short_name, _take_quote_snapshot(ctx, quote, customer, settings_of(ctx)).snapshot
    )


OPERATIONS = (send_quote, withdraw_quote, get_quote_pdf, get_quote_proof)


def _take_quote_snapshot(
    ctx: Context, quote: Quote, customer: Customer, settings: OrganisationSettings
) -> SnapshotWithAmounts:
    """Take the snapshot of a quote as it would be sent today."""
    today = settings.today(ctx)
    deposit = quote.deposit and {
        "percent": quote.deposit["percent"],
        "amount": amount_text(quote.deposit_amount, quote.currency),
    }
    fields: dict[str, Any] = {
        "kind": "quote",
        "number": quote.number,
        "revision": quote.revision,
        "language": customer.language or settings.language,
        "issuedOn": today.isoformat(),
        "validUntil": quote.valid_until or (today + timedelta(days=settings.quote_valid_days)).isoformat(),
        "title": quote.title,
        "terms": quote.terms,
        "discount": quote.discount,
        "deposit": deposit,
    }
    parties = DocumentParties(customer, quote.site_id, quote.job_id)
    return take_snapshot(ctx, parties, read_lines(quote.lines), quote.pricing_terms, fields)


def _supersede(ctx: Context, sent: Quote) -> None:
    """Mark the sent revision before this one as superseded."""
    before = sent.revision > 1 and QUOTES.find(
        ctx,
        "quote.number = :number AND quote.revision < :revision AND quote.status = 'sent'",
        number=sent.number,
        revision=sent.revision,
    )
    if before:
        ctx.emit(QuoteSuperseded(QUOTES.save(ctx, before, {"status": "superseded"}), before))
        # A revision may be for another job than the one before.
        store.update_quoted_job(ctx, before.job_id)
        ctx.effects.append(
            Message("{quote} can then no longer be accepted, because this one replaces it.", quote=before.short_name)
        )


def _email_values_of(quote: Quote, locale: Locale) -> dict[str, str]:
    return {
        "customer": quote.customer_name,
        "number": quote.number,
        "title": quote.title,
        "total": locale.format_money(amount_text(quote.total, quote.currency), quote.currency),
        "validUntil": locale.format_day(quote.valid_until or ""),
    }
