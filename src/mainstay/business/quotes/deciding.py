"""What a customer answers to a quote, and what follows from it."""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import orjson
from pydantic import Field

from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import JobCreated
from mainstay.business.jobs.model import Job
from mainstay.business.lines.model import choose, read_lines
from mainstay.business.lines.pricing import drawn
from mainstay.business.organisation import numbering
from mainstay.business.quotes import store
from mainstay.business.quotes.events import QuoteAccepted, QuoteDeclined
from mainstay.business.quotes.model import ListedQuote, Method, Quote
from mainstay.business.quotes.operations import QuoteId
from mainstay.business.quotes.store import QUOTES
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Fault, Invalid, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Irrevocable
from mainstay.values.fields import Line, Paragraph
from mainstay.values.money import in_parts, price_text, with_decimals

MOST_CHOSEN = 200
_By = Annotated[Literal["phone", "email", "paper"], Field(title="How", description="How they answered.")]


class RecordQuoteDecision(Irrevocable):
    """Which quote, and what the customer answered."""

    quote_id: QuoteId
    decision: Literal["accepted", "declined"] = Field(description="What they answered.")
    method: _By = "phone"
    name: Line | None = Field(None, title="Who", description="Who accepted, at the customer's. Needed to accept.")
    chosen: list[str] | None = Field(
        None,
        max_length=MOST_CHOSEN,
        title="Options",
        description="The ids of the optional lines they want; none where nothing is said.",
    )
    reason: Paragraph | None = Field(None, title="Why not", description="Why they declined.")
    note: Paragraph | None = Field(None, description="What else was said. Needed to accept after it has expired.")

    def repeats_acceptance(self, quote: ListedQuote) -> bool:
        """Return whether a quote is accepted once more."""
        return self.decision == "accepted" and quote.status == "accepted"


@operation(
    right=Right.QUOTES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /quotes/{quote_id}/decision",
    on=QUOTES,
    unless=ListedQuote.not_decidable,
    repeats=RecordQuoteDecision.repeats_acceptance,
    mails=True,
    done="The answer is recorded.",
)
def record_quote_decision(ctx: Context, given: RecordQuoteDecision, quote: Quote) -> Quote:
    """Record what a customer answered to a quote.

    By phone, email or paper; online they answer themselves. Acceptance fixes the options, makes the job or goes on with
    the quote's own, drafts the deposit invoice and is confirmed to the customer by email; repeated, it changes nothing.
    """
    if given.decision == "declined":
        return decline(ctx, quote, given.reason or given.note)
    faults = [] if given.name else [Fault("name", "is required: who accepted it")]
    if quote.status == "expired" and not given.note:
        faults.append(Fault("note", "is required: it has expired, so say why it is still accepted"))
    if faults:
        raise Invalid(faults)
    return accept(ctx, quote, Accepted(given.method, given.name or "", given.chosen or (), given.note))


OPERATIONS = (record_quote_decision,)


class Accepted(NamedTuple):
    """How a quote was accepted, and with which options."""

    method: Method
    name: str
    chosen: Sequence[str] = ()
    note: str | None = None


def accept(ctx: Context, quote: Quote, accepted: Accepted) -> Quote:
    """Fix what was chosen, and let the job begin: the quote's own, or a new one."""
    reckoned = drawn(ctx, choose(read_lines(quote.lines), accepted.chosen), quote.reckoned)
    refuse(quote.not_agreeable_at(int(reckoned["total"])))
    own = _own_job(ctx, quote)
    # With what was agreed for the same job before, in the ten-thousandths in which a budget is kept.
    net = int(reckoned["net"]) + sum(one.net for one in (store.accepted_for(ctx, own.id) if own else ()))
    budget = in_parts(max(net, 0), quote.currency)
    agreed = {"billing": "fixed", "budget": budget, "quote_id": quote.id}
    job = own or _new_job(ctx, quote, agreed)
    acceptance = {
        "method": accepted.method,
        "name": accepted.name,
        "at": ctx.at,
        "contentHash": content_hash(quote, accepted.chosen),
        "note": accepted.note,
        "recordedBy": None if accepted.method == "online" else orjson.loads(ctx.stamp),
    }
    changes = {"status": "accepted", "acceptance": acceptance, "decided_at": ctx.at, "job_id": job.id}
    after = QUOTES.save(ctx, quote, changes | reckoned)
    if quote.job_id and not own:
        # What it was for is over, and waits for no answer any more.
        store.hand_down(ctx, quote.job_id)
    if own:
        opened = {"status": "open"} if own.status == "enquiry" else {}
        store.hand_down(ctx, own.id, agreed | opened)
        ctx.effects.append(_describe_billing(own, budget, quote.currency))
    ctx.summary = f"{after.called} is accepted by {accepted.name}: {after.total_text}."
    ctx.carry_out(QuoteAccepted, after)
    # With what followed from it, whoever acts.
    after = QUOTES.find(ctx, "quote.id = :id", id=quote.id) or after
    ctx.record(QuoteAccepted(after, quote))
    return after


def _describe_billing(own: Job, budget: int, currency: str) -> str:
    """Say how a job is billed once its quote is accepted, and how it was."""
    price = f"{with_decimals(price_text(budget), currency)} {currency} before tax"
    if own.billing == "fixed":
        return f"{own.called} goes on with it, at the fixed price of {price}."
    was = {"timeAndMaterials": "by its hours and materials", "nonBillable": "not at all"}[own.billing]
    return f"{own.called} goes on with it, and is billed at the fixed price of {price}; it was billed {was} before."


def decline(ctx: Context, quote: Quote, reason: str | None) -> Quote:
    """Note that the customer does not want it."""
    after = QUOTES.save(ctx, quote, {"status": "declined", "decline_reason": reason, "decided_at": ctx.at})
    store.hand_down(ctx, after.job_id)
    ctx.summary = f"{after.called} is declined."
    ctx.record(QuoteDeclined(after, quote))
    return after


def content_hash(quote: Quote, chosen: Sequence[str]) -> str:
    """What tells later that nothing else was accepted: a hash over what was sent, and the options that were chosen."""
    return hashlib.sha256(f"{quote.snapshot}\n{orjson.dumps(sorted(chosen)).decode()}".encode()).hexdigest()


def _own_job(ctx: Context, quote: Quote) -> Job | None:
    """The job that a quote is for, unless that is over."""
    job = store.job_of(ctx, quote.job_id) if quote.job_id else None
    return None if job is None or job.not_workable() else job


def _new_job(ctx: Context, quote: Quote, agreed: dict[str, Any]) -> Job:
    job = jobs.insert(
        ctx,
        {
            "number": numbering.take(ctx, "job"),
            "customer_id": quote.customer_id,
            "site_id": quote.site_id,
            "title": quote.title,
            "status": "open",
            "priority": "normal",
            "assigned": [],
            "tags": [],
            **agreed,
        },
    )
    ctx.record(JobCreated(job))
    ctx.effects.append(f"The job {job.called} is made for it.")
    return job
