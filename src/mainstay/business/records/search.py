"""Finding any record by what one knows of it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from pydantic import Field

from mainstay.business.records.model import FoundOut, Hit
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import NotFound
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Kept
from mainstay.values.fields import WholeNumber
from mainstay.values.search import SearchText, distance_from


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
    distance, found = distance_from(given.text), []
    for prefix, (listing, right) in ctx.listings.items():
        if ctx.actor.may(right):
            newest = listing.search(ctx, given.text, given.limit + 1)
            near = _nearest_first(_meant(ctx, prefix, listing, given.text), newest, distance)
            found += [near] if near else []
    # First what is named by its number, and the kind in which something comes nearest; the others always in one order.
    nearest = min((near[0] for near in found), default=None, key=lambda one: one.distance)
    found.sort(key=lambda near: near[0].distance > 0 and near[0] is not nearest)
    hits = [_hit(ctx, one.record) for near in found for one in near[: given.limit]]
    has_more = any(len(near) > given.limit for near in found)
    return FoundOut(object=FoundOut.noun, hits=hits, has_more=has_more, advice=None if hits else _ADVICE)


OPERATIONS = (search,)

_ADVICE = "Nothing was found. Try fewer words or the beginning of one, a number, or the list of the kind you look for."


class _Near(NamedTuple):
    """How far a record is from what is looked for: nothing, where it is named by its number."""

    distance: int
    record: Kept


def _nearest_first(meant: Kept | None, newest: Sequence[Kept], distance: Callable[[str], int]) -> list[_Near]:
    """What is meant by its number, once, then those that come nearest; of those as near, the newest."""
    near = [_Near(distance(one.called), one) for one in newest if meant is None or one.id != meant.id]
    near.sort(key=lambda one: one.distance)
    return [_Near(0, meant), *near] if meant else near


def _meant(ctx: Context, prefix: str, listing: Listing[Kept], text: str) -> Kept | None:
    """The one record of a kind whose number this is, however old it is: as `J-3`, and as `job 3`."""
    if listing.number and text[-1].isdigit():
        kind, _, number = text.partition(" ")
        with suppress(NotFound):
            return listing.fetch_whole(ctx, number if kind.lower() == prefix else text)
    return None


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
