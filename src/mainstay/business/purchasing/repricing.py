"""What was bought is billed as prices are told, before tax or with it: when that changes, so does its own price."""

from collections.abc import Mapping

from mainstay.business.organisation.settings import TOLD_OTHERWISE
from mainstay.business.purchasing.materials import settle_document
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Chore
from mainstay.ledger.outbox import Letter

# So many orders and bills at once: whoever else changes something waits for them.
_AT_ONCE = 200


def price_materials_anew(ctx: Context, told: Mapping[str, str]) -> None:
    """Price what is on no invoice anew."""
    documents = ctx.rows.all(
        "SELECT DISTINCT document_id FROM material WHERE organisation_id = :organisation AND billed = 0"
        " AND document_id > :after ORDER BY document_id LIMIT :most",
        after=told.get("after", ""),
        most=_AT_ONCE,
    )
    for (document,) in documents:
        settle_document(ctx, str(document))
    if len(documents) == _AT_ONCE:
        ctx.post(Letter(TOLD_OTHERWISE, {"after": str(documents[-1][0])}, "What materials are billed at"))


CHORES = (Chore(TOLD_OTHERWISE, price_materials_anew),)
