"""What bears a customer's name is found by it again when it has changed."""

from collections.abc import Mapping

from mainstay.business.customers.store import REWORD
from mainstay.business.jobs.rewording import ids_of, reword_works_of_customer
from mainstay.business.quotes.store import QUOTES
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Chore


def reword_records_of_customer(ctx: Context, told: Mapping[str, str]) -> None:
    """Write the words of all that is a customer's anew."""
    reword_works_of_customer(ctx, told["customer"])
    for identity in ids_of(ctx, QUOTES, told["customer"]):
        QUOTES.reword(ctx, identity)


CHORES = (Chore(REWORD, reword_records_of_customer),)
