"""What bears a customer's name is found by it again when it has changed."""

from mainstay.business.jobs.rewording import ids_of, reword_works_of_customer
from mainstay.business.quotes.store import QUOTES
from mainstay.kernel.context import Context


def reword_offers_to_customer(ctx: Context, customer: str) -> None:
    """Write the words of a customer's works and quotes anew."""
    reword_works_of_customer(ctx, customer)
    for identity in ids_of(ctx, QUOTES, customer):
        QUOTES.reword(ctx, identity)
