"""Reactions to events and changes: emails when a quote is accepted, new search words when a customer changes."""

from collections.abc import Iterable

from mainstay.business.customers.customer_changed import make_moved_handler
from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.issuing.document_emails import EmailedDocument, email_document, find_customer_recipients
from mainstay.business.issuing.document_files import snapshot_of
from mainstay.business.jobs.reactions import find_referring_ids, refresh_customer_search
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.people.emails import email_person, find_people_with, find_recipients
from mainstay.business.quotes import store
from mainstay.business.quotes.events import QuoteAccepted, QuoteUpdated
from mainstay.business.quotes.model import Quote
from mainstay.business.quotes.store import QUOTES
from mainstay.documents.locales import Locale
from mainstay.documents.messages import translate
from mainstay.identity.links import LinkKind
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Reaction, ReactionEvent
from mainstay.values.message import Amount, Message
from mainstay.values.money import amount_text
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission

_METHODS = {
    "online": Message("online"),
    "phone": Message("by phone"),
    "email": Message("by email"),
    "paper": Message("on paper"),
}


def tell_office_of_acceptance(ctx: Context, event: ReactionEvent) -> None:
    """Email the office people involved in a quote that it was accepted."""
    if _is_by_operator(event):
        return
    quote = QUOTES.fetch(ctx, event.record["id"])
    job = store.fetch_known_job(ctx, quote.job_id or "")
    creator = event.record["createdBy"]["person"] or {"id": None}
    actor = event.actor["person"] or {"id": None}
    acceptance = quote.acceptance or {}
    lines = [
        Message("Accepted by {name}, {how}.", name=acceptance["name"], how=_METHODS[acceptance["method"]]),
        Message("Job {job} will be invoiced at the quoted fixed price.", job=job.display_name),
    ]
    if has_deposit(ctx, quote):
        lines.append(
            Message(
                "A draft deposit invoice for {amount} was created. The customer won't get it until you send it.",
                amount=Amount(amount_text(quote.deposit_amount, quote.currency), quote.currency),
            )
        )
    paragraphs = (
        Message(
            "{customer} accepted {quote}: {total}.",
            customer=quote.customer_name,
            quote=quote.display_name,
            total=quote.total_amount,
        ),
        lines,
        (
            Message("View quote: {address}", address=f"{ctx.base_url}/quotes/{quote.id}"),
            Message("View job: {address}", address=f"{ctx.base_url}/jobs/{job.id}"),
        ),
    )
    subject = Message("{customer} accepted {quote}", customer=quote.customer_name, quote=quote.short_name)
    followers = _find_office_people(ctx, [creator["id"], quote.sent_by, job.lead_person_id])
    ctx.writer.touch(quote.id)
    for person in find_recipients(ctx, followers - {actor["id"]}):
        email_person(ctx, person, subject, paragraphs, quote.id)


def confirm_acceptance(ctx: Context, event: ReactionEvent) -> None:
    """Email the customer that they accepted a quote, and what happens next."""
    if _is_by_operator(event):
        return
    quote = QUOTES.fetch(ctx, event.record["id"])
    customer: Customer = CUSTOMERS.fetch(ctx, quote.customer_id)
    language = snapshot_of(quote).language

    def values(locale: Locale) -> dict[str, str]:
        amount = locale.format_money(amount_text(quote.deposit_amount, quote.currency), quote.currency)
        return {
            "customer": quote.customer_name,
            "number": quote.number,
            "title": quote.title,
            "total": locale.format_money(amount_text(quote.total, quote.currency), quote.currency),
            "deposit": f" {translate(language, 'public.nextDeposit', amount=amount)}"
            if has_deposit(ctx, quote)
            else "",
        }

    ctx.writer.touch(quote.id)
    to = find_customer_recipients(ctx, customer, "quotes", None).to
    email_document(ctx, EmailedDocument("accepted", quote, LinkKind.QUOTE, quote.id), to, values)


def has_deposit(ctx: Context, quote: Quote) -> bool:
    """Return whether a deposit invoice is drafted for an accepted quote; there is none in another currency."""
    return quote.deposit_amount > 0 and quote.currency == settings_of(ctx).currency


def _is_by_operator(event: ReactionEvent) -> bool:
    """Return whether the event comes from the server's command line, as for demo data: then nobody is emailed."""
    return bool(event.actor["via"]["door"] == Door.CLI)


def _find_office_people(ctx: Context, person_ids: Iterable[str | None]) -> set[str]:
    """Find those of these people who may change quotes; if there are none, all owners and admins."""
    entitled = {one for one in person_ids if one} & find_people_with(ctx, Permission.QUOTES_CHANGE)
    return entitled or find_people_with(ctx, Permission.ORGANISATION_CHANGE)


def refresh_customer_and_quote_search(ctx: Context, customer_id: str) -> None:
    """Refresh the search words of a customer, their contacts, sites and jobs, and their quotes."""
    refresh_customer_search(ctx, customer_id)
    for record_id in find_referring_ids(ctx, QUOTES, customer_id):
        QUOTES.refresh_search(ctx, record_id)


REACTIONS = (
    Reaction(QuoteAccepted, tell_office_of_acceptance, "Office notified of the acceptance"),
    Reaction(QuoteAccepted, confirm_acceptance, "Acceptance email sent"),
)
TASK_KINDS = (make_moved_handler(QUOTES, QuoteUpdated, "Quote moved to another customer"),)
