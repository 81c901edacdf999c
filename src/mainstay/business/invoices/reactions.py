"""What follows for invoices when something happens elsewhere."""

from collections.abc import Mapping

from mainstay.business.invoices import settling, store
from mainstay.business.invoices.billing import left_of
from mainstay.business.invoices.model import PARTS
from mainstay.business.invoices.operations import DraftInvoice, draft
from mainstay.business.jobs.events import JobCompleted
from mainstay.business.jobs.store import REBILLED
from mainstay.business.organisation.house import house_of
from mainstay.business.quotes.events import QuoteAccepted
from mainstay.business.quotes.store import QUOTES
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Chore, Happening, Reaction


def draft_deposit(ctx: Context, happening: Happening) -> None:
    """Draft the deposit that a quote asks for, once it is accepted; sending it is for the office."""
    quote = QUOTES.fetch(ctx, happening.record["id"])
    drafted = any(one.kind in PARTS for one in store.of_quote(ctx, quote.id))
    # What is billed already needs no deposit.
    if quote.deposit is None or drafted or not 0 < quote.asked_before <= left_of(ctx, quote):
        return
    # Nor can what is in another currency be billed at all.
    if quote.currency != house_of(ctx).currency:
        return
    asked = {name: value for name, value in quote.deposit.items() if value}
    # What was agreed is there to be seen, also where the customer was archived meanwhile.
    draft(ctx, DraftInvoice.model_validate({"quoteId": quote.id, "part": asked}), of_archived=True)


def close_paid_job(ctx: Context, happening: Happening) -> None:
    """Work that is done and was paid before is closed."""
    settling.hand_down(ctx, happening.record["id"])


def settle_job_billed_anew(ctx: Context, told: Mapping[str, str]) -> None:
    """What is to be billed of a job is another thing since it is billed in another way, or at another price."""
    settling.hand_down(ctx, told["job"])


REACTIONS = (Reaction(QuoteAccepted, draft_deposit), Reaction(JobCompleted, close_paid_job))
CHORES = (Chore(REBILLED, settle_job_billed_anew),)
