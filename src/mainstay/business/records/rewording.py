"""A record that is to be found otherwise than it was, because words are made otherwise, is worded anew."""

from collections.abc import Mapping

from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Chore

# The chore that lets one record, of whatever kind, be found by what it says; steps of the schema leave it behind.
REWORD_RECORD = "reword_record"


def reword_record(ctx: Context, told: Mapping[str, str]) -> None:
    """Write the words of a record anew."""
    listing, _ = ctx.listings[told["record"].partition("_")[0]]
    listing.reword(ctx, told["record"])


CHORES = (Chore(REWORD_RECORD, reword_record),)
