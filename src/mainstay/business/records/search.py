"""Finding any record by what one knows of it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import NamedTuple

from pydantic import Field

from mainstay.business.records.model import FoundOut, Hit
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Fault, Invalid, NotFound
from mainstay.terms.rights import Right, is_hidden
from mainstay.terms.shapes import Input, Kept
from mainstay.terms.wire import column_names
from mainstay.values.fields import Line, WholeNumber
from mainstay.values.search import SearchText, distance_from, is_phone_number


class Search(Input):
    """What to look for."""

    text: SearchText = Field(
        title="Search",
        description="A number such as J-1042, words or their beginnings, an address, an e-mail address, or a phone"
        " number in any spelling. Case and accents do not count.",
    )
    kind: Line | None = Field(None, description="Only records of this kind, as hits name it: `customer`, for example.")
    limit: WholeNumber = Field(default=10, ge=1, le=100, description="How many records at most, of all kinds together.")


@operation(right=Right.ME_READ, effect=Effect.READ, rest="GET /search")
def search(ctx: Context, given: Search) -> FoundOut:
    """Find records of any kind.

    Use it to turn a name, number, address or phone number into ids; a phone number, also a contact's, leads to the
    customer and their live jobs as well. Only what you may see is found.
    """
    _check_kind(ctx, given)
    distance, found = distance_from(given.text), dict[str, list[_Near]]()
    for prefix, listing in _find_listings(ctx, given.kind):
        newest = listing.search(ctx, given.text, given.limit + 1)
        found[prefix] = _nearest_first(_meant(ctx, prefix, listing, given.text), newest, distance)
    if is_phone_number(given.text):
        _add_customers_of_phone(ctx, given, found)
    kinds = [near for near in found.values() if near]
    # First what is named by its number, and the kind in which something comes nearest; the others always in one order.
    nearest = min((near[0] for near in kinds), default=None, key=lambda one: one.distance)
    kinds.sort(key=lambda near: near[0].distance > 0 and near[0] is not nearest)
    chosen = _choose(kinds, given.limit)
    hits = [_make_hit(ctx, one.record) for one in chosen]
    has_more = len(hits) < sum(map(len, kinds))
    return FoundOut(object=FoundOut.noun, hits=hits, has_more=has_more, advice=None if hits else _ADVICE)


OPERATIONS = (search,)

_ADVICE = "Nothing was found. Try fewer words or the beginning of one, a number, or the list of the kind you look for."


class _Near(NamedTuple):
    """How far a record is from what is looked for: nothing, where it is named by its number."""

    distance: int
    record: Kept


# How far a record is that only another record led to.
_LED_TO = 4


def _check_kind(ctx: Context, given: Search) -> None:
    known = sorted({listing.shown.noun for listing, _ in ctx.listings.values() if listing.found_by or listing.number})
    if given.kind and given.kind not in known:
        raise Invalid([Fault("kind", f"is not one of {', '.join(known)}")])


def _find_listings(ctx: Context, kind: str | None) -> Iterator[tuple[str, Listing[Kept]]]:
    """The kinds of records that are looked through, by the prefix of their ids."""
    for prefix, (listing, right) in ctx.listings.items():
        if ctx.actor.may(right) and kind in {None, listing.shown.noun}:
            yield prefix, listing


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


def _add_customers_of_phone(ctx: Context, given: Search, found: dict[str, list[_Near]]) -> None:
    """Add the customers whose contacts have a phone number, and the live jobs of whoever has it."""
    having: list[Kept] = []
    for prefix, listing in _find_listings(ctx, None):
        if prefix in found and prefix in _HAVING_PHONES:
            having += [one.record for one in found[prefix]]
        elif prefix in _HAVING_PHONES:
            having += listing.search(ctx, given.text, given.limit)
    customers = dict.fromkeys(identity for record in having if (identity := _customer_of(ctx, record)))
    for prefix, listing in _find_listings(ctx, given.kind):
        known = {one.record.id for one in found[prefix]}
        led_to = _lead_to(ctx, prefix, listing, list(customers)[: given.limit], given.limit)
        found[prefix] += [_Near(_LED_TO, record) for record in led_to if record.id not in known]


_CUSTOMER, _JOB = "customer", "job"
_HAVING_PHONES = (_CUSTOMER, "contact")


def _lead_to(ctx: Context, prefix: str, listing: Listing[Kept], customers: Iterable[str], limit: int) -> Iterator[Kept]:
    """The customers themselves, or their live jobs."""
    for customer in customers:
        if prefix == _CUSTOMER:
            with suppress(NotFound):
                yield listing.fetch(ctx, customer)
        elif prefix == _JOB:
            yield from listing.find_newest(ctx, limit + 1, customer_id=customer, status="live")


def _choose(kinds: Sequence[Sequence[_Near]], limit: int) -> list[_Near]:
    """So many of what was found, kind by kind: of each kind the nearest, before any kind has its second.

    What another record has replaced comes last, whatever its kind.
    """
    in_use = [[one for one in near if not one.record.is_replaced] for near in kinds]
    replaced = [one for near in kinds for one in near if one.record.is_replaced]
    in_turn = [one for turn in zip_longest(*in_use) for one in turn if one]
    chosen = {one.record.id for one in in_turn[:limit]}
    shown = [one for near in in_use for one in near if one.record.id in chosen]
    return [*shown, *replaced][:limit]


def _make_hit(ctx: Context, record: Kept) -> Hit:
    shown = record.shown
    return Hit(
        object=shown.noun,
        id=record.id,
        title=record.called,
        detail=record.detail,
        status=getattr(record, "status", None),
        customer_id=_customer_of(ctx, record),
        url=ctx.base_url + shown.place.format(id=record.id) if shown.place else None,
    )


def _customer_of(ctx: Context, record: Kept) -> str | None:
    """The id of the customer that a record belongs to, if it does and whoever asks may know; a customer's own."""
    if record.shown.noun == _CUSTOMER:
        return record.id
    field = record.shown.model_fields.get("customer_id")
    if field is None or is_hidden(field.metadata, ctx.actor.rights):
        return None
    customer = record.row[column_names(record.shown).index("customer_id")]
    return None if customer is None else str(customer)
