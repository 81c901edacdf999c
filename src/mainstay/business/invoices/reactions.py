"""Reactions to events and changes elsewhere: deposits of accepted quotes, completed jobs, changed customers."""

from collections.abc import Mapping

from mainstay.business.customers.customer_changed import make_moved_handler
from mainstay.business.customers.store import REFRESH_CUSTOMER_SEARCH
from mainstay.business.invoices import store
from mainstay.business.invoices.drafting.billable_lines import unbilled_amount_of
from mainstay.business.invoices.drafting.operations import DraftInvoice, create_draft
from mainstay.business.invoices.events import InvoiceUpdated
from mainstay.business.invoices.issuing.credit_note import CREDIT_NOTES
from mainstay.business.invoices.model import ADVANCE_KINDS, Invoice
from mainstay.business.invoices.payments import settlement
from mainstay.business.invoices.payments.payment import PAYMENTS
from mainstay.business.invoices.store import INVOICES
from mainstay.business.jobs.events import JobCompleted
from mainstay.business.jobs.reactions import find_referring_ids
from mainstay.business.jobs.store import RECHECK_JOB_INVOICED
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.quotes.events import QuoteAccepted
from mainstay.business.quotes.model import Quote
from mainstay.business.quotes.reactions import refresh_customer_and_quote_search
from mainstay.business.quotes.store import QUOTES
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import ImmediateReaction, Reaction, ReactionEvent, TaskKind
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import StoredRecord


def draft_deposit(ctx: Context, event: ReactionEvent) -> None:
    """Draft the deposit invoice of a quote that was accepted; the office sends it."""
    _draft_deposit_if_due(ctx, QUOTES.fetch(ctx, event.record["id"]))


def draft_deposit_on_acceptance(ctx: Context, quote: StoredRecord) -> None:
    """Draft the deposit in the same transaction if the actor may change invoices, so that the answer contains it."""
    if not ctx.actor.can(Permission.INVOICES_CHANGE):
        return
    if deposit := _draft_deposit_if_due(ctx, QUOTES.fetch(ctx, quote.id)):
        ctx.effects.append(
            Message("A draft deposit invoice for {total} will be created, for you to send.", total=deposit.total_amount)
        )


def _draft_deposit_if_due(ctx: Context, quote: Quote) -> Invoice | None:
    drafted = any(one.kind in ADVANCE_KINDS for one in store.find_invoices_of_quote(ctx, quote.id))
    # A quote that is billed already needs no deposit.
    if quote.deposit is None or drafted or not 0 < quote.deposit_amount <= unbilled_amount_of(ctx, quote):
        return None
    # A quote in another currency cannot be billed.
    if quote.currency != settings_of(ctx).currency:
        return None
    part = {name: value for name, value in quote.deposit.items() if value}
    # Draft it even if the customer was archived meanwhile, so that the office sees what was agreed.
    return create_draft(ctx, DraftInvoice.model_validate({"quoteId": quote.id, "part": part}), allow_archived=True)


def close_paid_job(ctx: Context, event: ReactionEvent) -> None:
    """Close a completed job that was paid before it was completed."""
    settlement.update_job_billing(ctx, event.record["id"])


def recheck_job_invoiced(ctx: Context, payload: Mapping[str, str]) -> None:
    """Update what a job has to bill after its way of billing or its price changed."""
    settlement.update_job_billing(ctx, payload["job"])


def refresh_customer_search_words(ctx: Context, payload: Mapping[str, str]) -> None:
    """Refresh the search words of everything that belongs to a customer."""
    refresh_customer_and_quote_search(ctx, payload["customer"])
    for record_store in (INVOICES, CREDIT_NOTES, PAYMENTS):
        for record_id in find_referring_ids(ctx, record_store, payload["customer"]):
            record_store.refresh_search(ctx, record_id)


IMMEDIATE_REACTIONS = (ImmediateReaction(QuoteAccepted, draft_deposit_on_acceptance),)
REACTIONS = (
    Reaction(QuoteAccepted, draft_deposit, "Deposit invoice created"),
    Reaction(JobCompleted, close_paid_job, "Job closed because it was fully paid"),
)
TASK_KINDS = (
    TaskKind(REFRESH_CUSTOMER_SEARCH, refresh_customer_search_words, "Customer renamed"),
    make_moved_handler(INVOICES, InvoiceUpdated, "Invoice moved to another customer"),
    TaskKind(RECHECK_JOB_INVOICED, recheck_job_invoiced, "Amount to invoice recalculated"),
)
