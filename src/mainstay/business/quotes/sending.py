"""Sending a quote, and taking it back."""

from datetime import timedelta
from typing import Any, Literal

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.issuing.freezing import About, freeze
from mainstay.business.issuing.house import House, house_of, today_of
from mainstay.business.issuing.mailing import Enclosed, addresses, each_once, letters
from mainstay.business.issuing.printed import PaperOut, printing
from mainstay.business.lines.model import read_lines
from mainstay.business.quotes import store
from mainstay.business.quotes.events import QuoteSent, QuoteSuperseded, QuoteWithdrawn
from mainstay.business.quotes.model import ListedQuote, Quote
from mainstay.business.quotes.operations import QuoteId
from mainstay.business.quotes.store import QUOTES
from mainstay.identity.links import Kind as LinkKind
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.paper.locales import Locale
from mainstay.paper.messages import say
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Conflict, Reason, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable
from mainstay.values.fields import Email, Paragraph
from mainstay.values.money import amount_text

_MOST_ADDRESSES = 10


class SendQuote(Irrevocable):
    """Which quote, and how."""

    quote_id: QuoteId
    deliver: Literal["email", "none"] = Field(
        "email", description="`none` issues it without a mail, to be handed over otherwise."
    )
    to: list[Email] | None = Field(
        None,
        max_length=_MOST_ADDRESSES,
        title="To",
        description="Addresses, where not the customer's own and those of contacts who receive quotes.",
    )


class WithdrawQuote(Irrevocable):
    """Which quote, and why."""

    quote_id: QuoteId
    reason: Paragraph | None = Field(None, title="Why", description="Why; the customer does not read it.")


class GetQuotePdf(Input):
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

    With its PDF and a link to a page where they accept or decline it. From then on it stays as it is, and replaces the
    revision before.
    """
    house = house_of(ctx)
    today = today_of(ctx, house)
    customer: Customer = CUSTOMERS.fetch(ctx, quote.customer_id)
    to = each_once(given.to) if given.to else addresses(ctx, customer, "quotes")
    unreachable = (
        [] if to or given.deliver == "none" else [Reason(_NOBODY.format(name=customer.name), "update_customer")]
    )
    refuse([*customer.not_usable(), *quote.not_offered(today.isoformat()), *unreachable])
    until = quote.valid_until or (today + timedelta(days=house.quote_valid_days)).isoformat()
    snapshot = _frozen(ctx, quote, house, today.isoformat(), until)
    after = QUOTES.save(
        ctx,
        quote,
        {
            "status": "sent",
            "issued_on": today.isoformat(),
            "valid_until": until,
            "expires_at": house.ends_at(until),
            "language": snapshot.language,
            "snapshot": snapshot.model_dump_json(by_alias=True, exclude_none=True),
            "sent_at": ctx.at,
        },
    )
    _supersede(ctx, after)
    store.hand_down(ctx, after.job_id)
    ctx.post(printing(after.id, after.named))
    ctx.summary = f"{after.called} goes to {after.customer_name}: {after.total_text}, valid until {until}."
    if given.deliver == "none":
        ctx.effects.append("Nobody is mailed: hand it over yourself.")
    else:
        _mail(ctx, after, snapshot, to, house)
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
    offered=frozenset({Door.API, Door.OFFICE}),
    on=QUOTES,
    gives="application/pdf",
)
def get_quote_pdf(_ctx: Context, _given: GetQuotePdf, quote: Quote) -> PaperOut:
    """Get the PDF of a quote.

    As it was sent: always the same bytes. A draft has none.
    """
    return paper_of(quote)


OPERATIONS = (send_quote, withdraw_quote, get_quote_pdf)

_NOBODY = "There is no address to mail it to. Give {name} one, say where it is to go, or issue it without a mail."


def paper_of(quote: Quote) -> PaperOut:
    """The PDF of a quote that was sent."""
    if quote.snapshot is None:
        raise Conflict(f"{quote.named} was never sent, and has no PDF until it is.")
    name = f"{say(Snapshot.model_validate_json(quote.snapshot).language, 'title.quote')} {quote.named}.pdf"
    return PaperOut(object=PaperOut.noun, record_id=quote.id, form="pdf", name=name, sha256=quote.pdf_sha256)


def _frozen(ctx: Context, quote: Quote, house: House, today: str, until: str) -> Snapshot:
    row = ctx.rows.one(
        "SELECT language FROM customer WHERE organisation_id = :organisation AND id = :id", id=quote.customer_id
    )
    deposit = quote.deposit and {
        "percent": quote.deposit["percent"],
        "amount": amount_text(quote.asked_before, quote.currency),
    }
    told: dict[str, Any] = {
        "kind": "quote",
        "number": quote.number,
        "revision": quote.revision,
        "language": row[0] if row and row[0] else house.language,
        "issuedOn": today,
        "validUntil": until,
        "title": quote.title,
        "terms": quote.terms,
        "discount": quote.discount,
        "deposit": deposit,
    }
    about = About(quote.customer_id, quote.site_id, quote.job_id)
    return freeze(ctx, about, read_lines(quote.lines), quote.reckoned, told)


def _supersede(ctx: Context, sent: Quote) -> None:
    """Let the revisions before this one count no longer."""
    before = QUOTES.find(
        ctx,
        "quote.number = :number AND quote.revision < :revision AND quote.status = 'sent'",
        number=sent.number,
        revision=sent.revision,
    )
    if before:
        ctx.record(QuoteSuperseded(QUOTES.save(ctx, before, {"status": "superseded"}), before))
        ctx.effects.append(f"{before.named} can no longer be accepted: this one replaces it.")


def _mail(ctx: Context, quote: Quote, snapshot: Snapshot, to: list[str], house: House) -> None:
    country = snapshot.seller.address.country if snapshot.seller.address else None
    locale = Locale(snapshot.language, country)
    values = {
        "customer": quote.customer_name,
        "organisation": snapshot.seller.name,
        "number": quote.number,
        "title": quote.title,
        "total": locale.money(amount_text(quote.total, quote.currency), quote.currency),
        "validUntil": locale.day(snapshot.valid_until or snapshot.issued_on),
    }
    enclosed = Enclosed("quote", quote.id, paper_of(quote).name, LinkKind.QUOTE, quote.id)
    for letter in letters(enclosed, snapshot, to, house.mail_texts.get("quote"), values):
        ctx.post(letter)
        ctx.effects.append(f"It is mailed to {letter.payload['to']}: {letter.payload['subject']}")
    if not snapshot.seller.email:
        ctx.warnings.append(
            "The organisation has no e-mail address, so nobody can answer the mail. Add one in settings."
        )
