"""Sending a quote, and taking it back."""

from datetime import timedelta
from functools import partial
from typing import Any

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.issuing.freezing import About, Frozen, freeze
from mainstay.business.issuing.mailing import DELIVER, Deliver, Enclosed, addressed, customer_s, mail
from mainstay.business.issuing.printed import PDF, PaperOut, ProofOut, paper_of, printing, refuse_proof_of_issued
from mainstay.business.lines.model import read_lines
from mainstay.business.organisation.house import House, house_of
from mainstay.business.quotes import store
from mainstay.business.quotes.events import QuoteSent, QuoteSuperseded, QuoteWithdrawn
from mainstay.business.quotes.model import ListedQuote, Quote
from mainstay.business.quotes.operations import QuoteId
from mainstay.business.quotes.store import QUOTES
from mainstay.identity.links import Kind as LinkKind
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.paper.locales import Locale
from mainstay.terms.actor import NO_TOOL, Door
from mainstay.terms.refusal import refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable
from mainstay.values.fields import Email, Paragraph
from mainstay.values.money import amount_text


class SendQuote(Irrevocable):
    """Which quote, and how."""

    quote_id: QuoteId
    deliver: Deliver = DELIVER
    to: list[Email] | None = addressed("those the customer has for quotes")


class WithdrawQuote(Irrevocable):
    """Which quote, and why."""

    quote_id: QuoteId
    reason: Paragraph | None = Field(None, title="Why", description="The customer does not read it.")


class GetQuotePdf(Input):
    """Which quote."""

    quote_id: QuoteId


class GetQuoteProof(Input):
    """Which quote."""

    quote_id: QuoteId


@operation(
    right=Right.QUOTES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /quotes/{quote_id}/send",
    on=QUOTES,
    unless=ListedQuote.not_sendable,
    mails=True,
    done="The quote is sent.",
)
def send_quote(ctx: Context, given: SendQuote, quote: Quote) -> Quote:
    """Send a quote to the customer.

    Where it is mailed, the mail has its PDF and a link to a page where they accept or decline it. From then on it stays
    as it is, and replaces the revision before.
    """
    house = house_of(ctx)
    today = house.today(ctx)
    customer: Customer = CUSTOMERS.fetch(ctx, quote.customer_id)
    recipients = customer_s(ctx, customer, "quotes", given.to, given.deliver)
    instead = f"Withdraw it, and draft another in {house.currency}."
    foreign = house.if_foreign(quote.currency, instead, "withdraw_quote")
    refuse([*customer.not_usable(), *quote.not_offered(today.isoformat()), *foreign, *recipients.against])
    snapshot, drawn = _frozen(ctx, quote, customer, house)
    until = snapshot.valid_until or today.isoformat()
    after = QUOTES.save(
        ctx,
        quote,
        {
            "status": "sent",
            "issued_on": today.isoformat(),
            "valid_until": until,
            "expires_at": house.ends_at(until),
            "language": snapshot.language,
            "taxes": drawn.taxes,
            "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
            "sent_at": ctx.at,
            "sent_by": ctx.actor.id,
        },
    )
    _supersede(ctx, after)
    store.hand_down(ctx, after.job_id)
    ctx.post(printing(after.id, after.named))
    ctx.summary = f"{after.called} goes to {after.customer_name}: {after.total_text}, valid until {until}."
    if given.deliver == "none":
        ctx.effects.append("Nobody is mailed: hand it over yourself.")
    mail(ctx, Enclosed("quote", after, LinkKind.QUOTE, after.id), recipients.to, partial(_told_values, after))
    ctx.record(QuoteSent(after, quote))
    return after


@operation(
    right=Right.QUOTES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /quotes/{quote_id}/withdraw",
    on=QUOTES,
    unless=ListedQuote.not_withdrawable,
    done="The quote is withdrawn.",
)
def withdraw_quote(ctx: Context, given: WithdrawQuote, quote: Quote) -> Quote:
    """Withdraw a quote, or drop a draft of one.

    The customer can no longer accept it; their link says whom to ask. Nobody is mailed.
    """
    after = QUOTES.save(ctx, quote, {"status": "withdrawn", "withdraw_reason": given.reason})
    store.hand_down(ctx, after.job_id)
    if quote.status != "draft":
        ctx.effects.append(f"{after.customer_name} can no longer accept it: the link says that it was withdrawn.")
    ctx.record(QuoteWithdrawn(after, quote))
    return after


@operation(
    right=Right.QUOTES_READ,
    effect=Effect.READ,
    rest="GET /quotes/{quote_id}/pdf",
    offered=NO_TOOL,
    on=QUOTES,
    gives=PDF,
)
def get_quote_pdf(_ctx: Context, _given: GetQuotePdf, quote: Quote) -> PaperOut:
    """Get the PDF of a quote.

    As it was sent: always the same bytes. A draft has none.
    """
    return paper_of(quote)


@operation(right=Right.QUOTES_READ, effect=Effect.READ, offered=frozenset({Door.OFFICE}), on=QUOTES)
def get_quote_proof(ctx: Context, _given: GetQuoteProof, quote: Quote) -> ProofOut:
    """Get a draft of a quote as it would be printed.

    Stamped as a draft, and kept nowhere.
    """
    refuse_proof_of_issued(quote)
    customer: Customer = CUSTOMERS.fetch(ctx, quote.customer_id)
    return ProofOut.of(quote.id, quote.named, _frozen(ctx, quote, customer, house_of(ctx)).snapshot)


OPERATIONS = (send_quote, withdraw_quote, get_quote_pdf, get_quote_proof)


def _frozen(ctx: Context, quote: Quote, customer: Customer, house: House) -> Frozen:
    """All that a quote says, as it would be sent today."""
    today = house.today(ctx)
    deposit = quote.deposit and {
        "percent": quote.deposit["percent"],
        "amount": amount_text(quote.asked_before, quote.currency),
    }
    told: dict[str, Any] = {
        "kind": "quote",
        "number": quote.number,
        "revision": quote.revision,
        "language": customer.language or house.language,
        "issuedOn": today.isoformat(),
        "validUntil": quote.valid_until or (today + timedelta(days=house.quote_valid_days)).isoformat(),
        "title": quote.title,
        "terms": quote.terms,
        "discount": quote.discount,
        "deposit": deposit,
    }
    about = About(customer, quote.site_id, quote.job_id)
    return freeze(ctx, about, read_lines(quote.lines), quote.reckoned, told)


def _supersede(ctx: Context, sent: Quote) -> None:
    """Let the revisions before this one count no longer."""
    before = sent.revision > 1 and QUOTES.find(
        ctx,
        "quote.number = :number AND quote.revision < :revision AND quote.status = 'sent'",
        number=sent.number,
        revision=sent.revision,
    )
    if before:
        ctx.record(QuoteSuperseded(QUOTES.save(ctx, before, {"status": "superseded"}), before))
        # A revision may be for another job than the one before.
        store.hand_down(ctx, before.job_id)
        ctx.effects.append(f"{before.named} can no longer be accepted: this one replaces it.")


def _told_values(quote: Quote, locale: Locale) -> dict[str, str]:
    return {
        "customer": quote.customer_name,
        "number": quote.number,
        "title": quote.title,
        "total": locale.money(amount_text(quote.total, quote.currency), quote.currency),
        "validUntil": locale.day(quote.valid_until or ""),
    }
