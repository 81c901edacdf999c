"""What follows for invoices when something happens elsewhere."""

from collections.abc import Mapping

from mainstay.business.invoices import settling, store
from mainstay.business.invoices.billing import left_of
from mainstay.business.invoices.model import PARTS, Invoice
from mainstay.business.invoices.operations import DraftInvoice, draft
from mainstay.business.jobs.events import JobCompleted
from mainstay.business.jobs.store import REBILLED
from mainstay.business.organisation.house import house_of
from mainstay.business.quotes.events import QuoteAccepted
from mainstay.business.quotes.model import Quote
from mainstay.business.quotes.store import QUOTES
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Chore, Consequence, Happening, Reaction
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Kept


def draft_deposit(ctx: Context, happening: Happening) -> None:
    """Draft the deposit that a quote asks for, once its customer has accepted it; sending it is for the office."""
    _draft_deposit(ctx, QUOTES.fetch(ctx, happening.record["id"]))


def draft_deposit_at_once(ctx: Context, quote: Kept) -> None:
    """Draft the deposit where the office records the acceptance, so that the answer names it."""
    if not ctx.actor.may(Right.INVOICES_CHANGE):
        return
    if deposit := _draft_deposit(ctx, QUOTES.fetch(ctx, quote.id)):
        ctx.effects.append(f"The deposit invoice is drafted: {deposit.total_text}. Nobody gets it until you send it.")


def _draft_deposit(ctx: Context, quote: Quote) -> Invoice | None:
    drafted = any(one.kind in PARTS for one in store.of_quote(ctx, quote.id))
    # What is billed already needs no deposit.
    if quote.deposit is None or drafted or not 0 < quote.asked_before <= left_of(ctx, quote):
        return None
    # Nor can what is in another currency be billed at all.
    if quote.currency != house_of(ctx).currency:
        return None
    asked = {name: value for name, value in quote.deposit.items() if value}
    # What was agreed is there to be seen, also where the customer was archived meanwhile.
    return draft(ctx, DraftInvoice.model_validate({"quoteId": quote.id, "part": asked}), of_archived=True)


def close_paid_job(ctx: Context, happening: Happening) -> None:
    """Work that is done and was paid before is closed."""
    settling.hand_down(ctx, happening.record["id"])


def settle_job_billed_anew(ctx: Context, told: Mapping[str, str]) -> None:
    """What is to be billed of a job is another thing since it is billed in another way, or at another price."""
    settling.hand_down(ctx, told["job"])


CONSEQUENCES = (Consequence(QuoteAccepted, draft_deposit_at_once),)
REACTIONS = (Reaction(QuoteAccepted, draft_deposit), Reaction(JobCompleted, close_paid_job))
CHORES = (Chore(REBILLED, settle_job_billed_anew),)
