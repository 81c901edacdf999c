"""What bears a customer's name is found by it again when it has changed."""

from collections.abc import Mapping

from mainstay.business.customers.store import REWORD
from mainstay.business.invoices.credit_note import CREDIT_NOTES
from mainstay.business.invoices.payment import PAYMENTS
from mainstay.business.invoices.store import INVOICES
from mainstay.business.jobs.rewording import ids_of
from mainstay.business.quotes.rewording import reword_offers_to_customer
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Chore


def reword_records_of_customer(ctx: Context, told: Mapping[str, str]) -> None:
    """Write the words of all that is a customer's anew."""
    reword_offers_to_customer(ctx, told["customer"])
    for listing in (INVOICES, CREDIT_NOTES, PAYMENTS):
        for identity in ids_of(ctx, listing, told["customer"]):
            listing.reword(ctx, identity)


CHORES = (Chore(REWORD, reword_records_of_customer),)
