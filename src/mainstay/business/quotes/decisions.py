"""Customers' answers to quotes, and what follows from them: the job, its price, the events."""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import orjson
from pydantic import Field

from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import JobCreated
from mainstay.business.jobs.model import Job
from mainstay.business.lines.model import choose_optional_lines, read_lines
from mainstay.business.lines.pricing import compute_sales_columns
from mainstay.business.organisation import numbering
from mainstay.business.quotes import store
from mainstay.business.quotes.events import QuoteAccepted, QuoteDeclined
from mainstay.business.quotes.model import AcceptanceMethod, ListedQuote, Quote
from mainstay.business.quotes.store import QUOTES, QuoteId
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.fields import Paragraph, TextLine
from mainstay.values.message import Amount, Message
from mainstay.values.money import minor_to_price, pad_decimals, price_text
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import IrreversibleInput

MAX_CHOSEN = 200
_DecisionMethod = Annotated[
    Literal["phone", "email", "paper"], Field(title="How they answered", description="By phone, email or on paper.")
]


class RecordQuoteDecision(IrreversibleInput):
    """The quote, and the customer's answer."""

    quote_id: QuoteId
    decision: Literal["accepted", "declined"] = Field(description="The customer's answer.")
    method: _DecisionMethod = "phone"
    name: TextLine | None = Field(None, title="Accepted by", description="The person who accepted. Required to accept.")
    chosen: list[str] | None = Field(
        None,
        max_length=MAX_CHOSEN,
        title="Options",
        description=describe("[[The IDs of the optional lines the customer wants.]] Default: none."),
    )
    reason: Paragraph | None = Field(None, title="Reason", description="Why the customer declined.")
    note: Paragraph | None = Field(None, description="Required to accept a quote that has expired.")

    def is_repeated_acceptance(self, quote: ListedQuote) -> bool:
        """Return whether this accepts a quote that is accepted already."""
        return self.decision == "accepted" and quote.status == "accepted"


@operation(
    permission=Permission.QUOTES_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /quotes/{quote_id}/decision",
    on=QUOTES,
    blocked_by=ListedQuote.not_decidable,
    is_already_done=RecordQuoteDecision.is_repeated_acceptance,
    emails_outside=True,
    done_message="Answer recorded.",
    not_undone=Message("Create a new quote."),
    commits_amount=True,
    past_text="Answer recorded",
    past_text_by=("decision", {"accepted": "Acceptance recorded", "declined": "Decline recorded"}),
)
def record_quote_decision(ctx: Context, given: RecordQuoteDecision, quote: Quote) -> Quote:
    """Record answer to quote.

    The customer says yes or no by phone, email or on paper. Accepting makes the chosen options final, creates the job
    and a draft deposit invoice, and emails the customer a confirmation; accepting again changes nothing.
    """
    if given.decision == "declined":
        return decline_quote(ctx, quote, given.reason or given.note)
    faults = [] if given.name else [Fault("name", Message("is required to accept a quote"))]
    if quote.status == "expired" and not given.note:
        faults.append(Fault("note", Message("is required, because the quote has expired: say why it's still accepted")))
    if faults:
        raise Invalid(faults)
    return accept_quote(ctx, quote, AcceptanceDetails(given.method, given.name or "", given.chosen or (), given.note))


OPERATIONS = (record_quote_decision,)


class AcceptanceDetails(NamedTuple):
    """How a quote was accepted, by whom, and with which options."""

    method: AcceptanceMethod
    name: str
    chosen: Sequence[str] = ()
    note: str | None = None


def accept_quote(ctx: Context, quote: Quote, accepted: AcceptanceDetails) -> Quote:
    """Accept a quote: fix its options, and open the quote's own job or create one."""
    columns = compute_sales_columns(
        ctx, choose_optional_lines(read_lines(quote.lines), accepted.chosen), quote.pricing_terms
    )
    raise_if_blocked(quote.not_acceptable_at(int(columns["total"])))
    open_job = _find_open_job(ctx, quote)
    # Together with the quotes that were accepted for the same job before. Budgets are stored in ten-thousandths.
    net = int(columns["net"]) + sum(
        one.net for one in (store.find_accepted_quotes(ctx, open_job.id) if open_job else ())
    )
    budget = minor_to_price(max(net, 0), quote.currency)
    billing = {"billing": "fixed", "budget": budget, "quote_id": quote.id}
    job = open_job or _create_job(ctx, quote, billing)
    acceptance = {
        "method": accepted.method,
        "name": accepted.name,
        "at": ctx.now_text,
        "contentHash": content_hash_of(quote, accepted.chosen),
        "note": accepted.note,
        "recordedBy": None if accepted.method == "online" else orjson.loads(ctx.stamp),
    }
    changes = {"status": "accepted", "acceptance": acceptance, "decided_at": ctx.now_text, "job_id": job.id}
    after = QUOTES.save(ctx, quote, changes | columns)
    ctx.commit_amount(after.total, after.currency)
    if quote.job_id and not open_job:
        # The job that the quote was for is over, and no longer waits for an answer.
        store.update_quoted_job(ctx, quote.job_id)
    if open_job:
        status_change = {"status": "open"} if open_job.status == "enquiry" else {}
        store.update_quoted_job(ctx, open_job.id, billing | status_change)
        ctx.effects.append(_describe_billing(open_job, budget, quote.currency))
    ctx.summary = Message(
        "{quote} will be recorded as accepted by {name}: {total}.",
        name=accepted.name,
        quote=after.display_name,
        total=after.total_amount,
    )
    ctx.react_immediately(QuoteAccepted, after)
    # Read the quote again, with what the reaction changed; the actor may not be allowed to fetch it.
    after = QUOTES.find(ctx, "quote.id = :id", id=quote.id) or after
    ctx.emit(QuoteAccepted(after, quote))
    return after


def _describe_billing(job: Job, budget: int, currency: str) -> Message:
    """Describe how a job is billed after its quote is accepted, and how it was billed before."""
    name, price = job.display_name, Amount(pad_decimals(price_text(budget), currency), currency)
    if job.billing == "timeAndMaterials":
        return Message(
            "{job} is invoiced at the fixed price of {price} excluding tax, instead of by hours and materials.",
            job=name,
            price=price,
        )
    if job.billing == "nonBillable":
        return Message(
            "{job} is invoiced at the fixed price of {price} excluding tax. It was non-billable before.",
            job=name,
            price=price,
        )
    return Message("{job} is invoiced at the fixed price of {price} excluding tax.", job=name, price=price)


def decline_quote(ctx: Context, quote: Quote, reason: str | None) -> Quote:
    """Record that the customer declined a quote."""
    after = QUOTES.save(ctx, quote, {"status": "declined", "decline_reason": reason, "decided_at": ctx.now_text})
    store.update_quoted_job(ctx, after.job_id)
    ctx.summary = Message("{quote} will be recorded as declined.", quote=after.display_name)
    ctx.emit(QuoteDeclined(after, quote))
    return after


def content_hash_of(quote: Quote, chosen: Sequence[str]) -> str:
    """Return a hash of what was sent and the chosen options, which proves later what was accepted."""
    return hashlib.sha256(f"{quote.snapshot}\n{orjson.dumps(sorted(chosen)).decode()}".encode()).hexdigest()


def _find_open_job(ctx: Context, quote: Quote) -> Job | None:
    """Return the job that a quote is for, unless that job is over."""
    job = store.fetch_known_job(ctx, quote.job_id) if quote.job_id else None
    return None if job is None or job.not_workable() else job


def _create_job(ctx: Context, quote: Quote, billing: dict[str, Any]) -> Job:
    job = jobs.insert(
        ctx,
        {
            "number": numbering.take_number(ctx, "job"),
            "customer_id": quote.customer_id,
            "site_id": quote.site_id,
            "title": quote.title,
            "status": "open",
            "priority": "normal",
            "assigned": [],
            "tags": [],
            **billing,
        },
    )
    ctx.emit(JobCreated(job))
    ctx.effects.append(Message("The job {job} will be created.", job=job.display_name))
    return job
