"""Finding any record by what one knows of it."""

from pydantic import Field

from mainstay.business.records.model import FoundOut, Hit
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Kept
from mainstay.values.fields import WholeNumber
from mainstay.values.search import SearchText


class Search(Input):
    """What to look for."""

    text: SearchText = Field(
        title="Search",
        description="A number such as J-1042, words or their beginnings, an address, an e-mail address, or a phone"
        " number in any spelling. Case and accents do not count.",
    )
    limit: WholeNumber = Field(default=5, ge=1, le=20, description="How many records of each kind at most.")


@operation(right=Right.ME_READ, effect=Effect.READ, rest="GET /search")
def search(ctx: Context, given: Search) -> FoundOut:
    """Find records of any kind.

    Use it to turn a name, number, address or phone number into ids. Only what you may see is found.
    """
    hits: list[Hit] = []
    has_more = False
    for listing, right in ctx.listings.values():
        if ctx.actor.may(right):
            found = listing.search(ctx, given.text, given.limit + 1)
            hits += [_hit(ctx, record) for record in found[: given.limit]]
            has_more = has_more or len(found) > given.limit
    return FoundOut(object=FoundOut.noun, hits=hits, has_more=has_more, advice=None if hits else _ADVICE)


OPERATIONS = (search,)

_ADVICE = "Nothing was found. Try fewer words or the beginning of one, a number, or the list of the kind you look for."


def _hit(ctx: Context, record: Kept) -> Hit:
    shown = record.shown
    return Hit(
        object=shown.noun,
        id=record.id,
        title=record.called,
        detail=record.detail,
        status=getattr(record, "status", None),
        url=ctx.base_url + shown.place.format(id=record.id) if shown.place else None,
    )
