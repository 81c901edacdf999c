"""What follows when a customer accepts a quote: emails to the office people who follow it, and to the customer."""

from collections.abc import Iterable

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.issuing.mailing import Enclosed, customer_s, mail
from mainstay.business.issuing.printed import snapshot_of
from mainstay.business.organisation.house import house_of
from mainstay.business.people.telling import find_active, tell, to_tell
from mainstay.business.quotes import store
from mainstay.business.quotes.events import QuoteAccepted
from mainstay.business.quotes.model import Quote
from mainstay.business.quotes.store import QUOTES
from mainstay.identity.links import Kind as LinkKind
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Happening, Reaction
from mainstay.paper.locales import Locale
from mainstay.paper.messages import say
from mainstay.terms.actor import Door
from mainstay.terms.rights import Right
from mainstay.values.money import amount_text

_ACCEPTED = """\
{customer} accepted {quote}: {total}.

Accepted by {name}, {how}.
Job {job} is billed at the fixed price that was quoted.{deposit}

The quote: {base_url}/quotes/{quote_id}
The job: {base_url}/jobs/{job_id}
"""
_DEPOSIT = "\nThe deposit invoice of {amount} is drafted. Nobody gets it until you send it."
_HOW = {"online": "online", "phone": "by phone", "email": "by email", "paper": "on paper"}


def tell_office_of_acceptance(ctx: Context, happening: Happening) -> None:
    """Email the office people who follow a quote that it was accepted."""
    if _is_by_operator(happening):
        return
    quote = QUOTES.fetch(ctx, happening.record["id"])
    job = store.job_of(ctx, quote.job_id or "")
    maker = happening.record["createdBy"]["person"] or {"id": None}
    actor = happening.actor["person"] or {"id": None}
    acceptance = quote.acceptance or {}
    text = _ACCEPTED.format(
        customer=quote.customer_name,
        quote=quote.called,
        total=quote.total_text,
        name=acceptance["name"],
        how=_HOW[acceptance["method"]],
        job=job.called,
        deposit=_DEPOSIT.format(amount=_deposit_text(quote)) if has_deposit(ctx, quote) else "",
        base_url=ctx.base_url,
        quote_id=quote.id,
        job_id=job.id,
    )
    followers = _office_people(ctx, [maker["id"], quote.sent_by, job.lead_person_id])
    ctx.pen.touch(quote.id)
    for person in to_tell(ctx, followers - {actor["id"]}):
        tell(ctx, person, f"{quote.customer_name} accepted {quote.named}", text, quote.id)


def confirm_acceptance(ctx: Context, happening: Happening) -> None:
    """Email the customer that they accepted a quote, and what happens next."""
    if _is_by_operator(happening):
        return
    quote = QUOTES.fetch(ctx, happening.record["id"])
    customer: Customer = CUSTOMERS.fetch(ctx, quote.customer_id)
    language = snapshot_of(quote).language

    def values(locale: Locale) -> dict[str, str]:
        amount = locale.money(amount_text(quote.asked_before, quote.currency), quote.currency)
        return {
            "customer": quote.customer_name,
            "number": quote.number,
            "title": quote.title,
            "total": locale.money(amount_text(quote.total, quote.currency), quote.currency),
            "deposit": f" {say(language, 'public.nextDeposit', amount=amount)}" if has_deposit(ctx, quote) else "",
        }

    ctx.pen.touch(quote.id)
    to = customer_s(ctx, customer, "quotes", None).to
    mail(ctx, Enclosed("accepted", quote, LinkKind.QUOTE, quote.id), to, values)


def has_deposit(ctx: Context, quote: Quote) -> bool:
    """Return whether an invoice for the deposit of an accepted quote is drafted: none is in another currency."""
    return quote.asked_before > 0 and quote.currency == house_of(ctx).currency


REACTIONS = (Reaction(QuoteAccepted, tell_office_of_acceptance), Reaction(QuoteAccepted, confirm_acceptance))


def _is_by_operator(happening: Happening) -> bool:
    """Return whether it was done on the server's command line, as when a demo is made: then nobody is emailed."""
    return bool(happening.actor["via"]["door"] == Door.CLI)


def _office_people(ctx: Context, followers: Iterable[str | None]) -> set[str]:
    """Find those of these people who may change quotes; where none of them is left, all owners and admins."""
    named = {one for one in followers if one} & find_active(ctx, Right.QUOTES_CHANGE)
    return named or find_active(ctx, Right.ORGANISATION_CHANGE)


def _deposit_text(quote: Quote) -> str:
    return f"{amount_text(quote.asked_before, quote.currency)} {quote.currency}"
