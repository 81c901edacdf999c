"""Search over all kinds of records."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import NamedTuple

from pydantic import Field

from mainstay.business.records.model import FoundOut, Hit
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.record_store import RecordStore, record_stores_of
from mainstay.values.descriptions import describe
from mainstay.values.fields import TextLine, WholeNumber
from mainstay.values.message import Message, PossibleChoices
from mainstay.values.search_words import SearchText, is_phone_number, make_title_rater
from mainstay.vocabulary.permissions import Permission, is_hidden
from mainstay.vocabulary.record_json import column_names
from mainstay.vocabulary.refusal import Fault, Invalid, NotFound
from mainstay.vocabulary.schemas import Input, StoredRecord
from mainstay.vocabulary.validation import NOT_ONE_OF


class Search(Input):
    """What to search for."""

    text: SearchText = Field(
        title="Search",
        description="A number such as J-1042, words or their beginnings, an address, an email, or a phone number in any"
        " format. Case and accents are ignored.",
    )
    kind: TextLine | None = Field(None, description=describe("[[Only records of this kind, such as `customer`.]]"))
    limit: WholeNumber = Field(default=10, ge=1, le=100, description="Maximum number of records of all kinds.")


@operation(permission=Permission.ME_READ, effect=Effect.READ, api_path="GET /search", is_always_offered=True)
def search(ctx: Context, given: Search) -> FoundOut:
    """Search.

    Finds customers, jobs, invoices and other records by name, number, address or phone number, and returns their IDs. A
    phone number, also of a contact, finds the customer and their open jobs, if you may see them.
    """
    _check_kind(ctx, given)
    distance, matches_by_kind = make_title_rater(given.text), dict[str, list[_Match]]()
    for prefix, store in _find_stores(ctx, given.kind):
        newest = store.search(ctx, given.text, given.limit + 1)
        matches_by_kind[prefix] = _sort_matches(_find_by_number(ctx, prefix, store, given.text), newest, distance)
    if is_phone_number(given.text):
        _add_customers_of_phone(ctx, given, matches_by_kind)
    kinds_found = [matches for matches in matches_by_kind.values() if matches]
    # The kind with an exact number match comes first, then the kind with the closest match. The others keep a fixed
    # order.
    nearest = min((matches[0] for matches in kinds_found), default=None, key=lambda one: one.distance)
    kinds_found.sort(key=lambda matches: matches[0].distance > 0 and matches[0] is not nearest)
    chosen = _choose_matches(kinds_found, given.limit)
    hits = [_make_hit(ctx, one.record) for one in chosen]
    has_more = len(hits) < sum(map(len, kinds_found))
    return FoundOut(
        object=FoundOut.noun,
        hits=hits,
        has_more=has_more,
        advice=None if hits else ctx.request.message_format.render(_NO_HITS_ADVICE),
    )


OPERATIONS = (search,)

_NO_HITS_ADVICE = Message(
    "Nothing found. Try fewer words, the beginning of a word or a number, or the list of that kind of record."
)


class _Match(NamedTuple):
    """A record with its distance from the search text. The distance is 0 if the text is its number."""

    distance: int
    record: StoredRecord


# The distance of a record that was found only through another record.
_RELATED_DISTANCE = 4


def _check_kind(ctx: Context, given: Search) -> None:
    known_kinds = sorted(
        {store.output.noun for store, _ in record_stores_of(ctx).values() if store.search_fields or store.number_column}
    )
    if given.kind and given.kind not in known_kinds:
        raise Invalid([Fault("kind", Message(NOT_ONE_OF, choices=PossibleChoices(tuple(known_kinds))))])


def _find_stores(ctx: Context, kind: str | None) -> Iterator[tuple[str, RecordStore[StoredRecord]]]:
    """Yield the kinds of records to search, with the prefix of their ids."""
    for prefix, (store, permission) in record_stores_of(ctx).items():
        if ctx.actor.can(permission) and kind in {None, store.output.noun}:
            yield prefix, store


def _sort_matches(
    numbered: StoredRecord | None, newest: Sequence[StoredRecord], distance: Callable[[str], int]
) -> list[_Match]:
    """Put the record with this number first, then the closest matches, and the newest of equally close ones first."""
    matches = [_Match(distance(one.display_name), one) for one in newest if numbered is None or one.id != numbered.id]
    matches.sort(key=lambda one: one.distance)
    return [_Match(0, numbered), *matches] if numbered else matches


def _find_by_number(ctx: Context, prefix: str, store: RecordStore[StoredRecord], text: str) -> StoredRecord | None:
    """Return the record whose number this is, however old it is. Accepts `J-3` and `job 3`."""
    if store.number_column and text[-1].isdigit():
        kind, _, number = text.partition(" ")
        with suppress(NotFound):
            return store.fetch_fully_visible(ctx, number if kind.lower() == prefix else text)
    return None


def _add_customers_of_phone(ctx: Context, given: Search, matches_by_kind: dict[str, list[_Match]]) -> None:
    """Add the customers whose contacts have a phone number, and the live jobs of everyone who has it."""
    phone_holders: list[StoredRecord] = []
    for prefix, store in _find_stores(ctx, None):
        if prefix in matches_by_kind and prefix in _KINDS_WITH_PHONES:
            phone_holders += [one.record for one in matches_by_kind[prefix]]
        elif prefix in _KINDS_WITH_PHONES:
            phone_holders += store.search(ctx, given.text, given.limit)
    customers = dict.fromkeys(record_id for record in phone_holders if (record_id := _customer_of(ctx, record)))
    for prefix, store in _find_stores(ctx, given.kind):
        found_ids = {one.record.id for one in matches_by_kind[prefix]}
        related = _find_related(ctx, prefix, store, list(customers)[: given.limit], given.limit)
        matches_by_kind[prefix] += [
            _Match(_RELATED_DISTANCE, record) for record in related if record.id not in found_ids
        ]


_CUSTOMER, _JOB = "customer", "job"
_KINDS_WITH_PHONES = (_CUSTOMER, "contact")


def _find_related(
    ctx: Context, prefix: str, store: RecordStore[StoredRecord], customers: Iterable[str], limit: int
) -> Iterator[StoredRecord]:
    """Yield the customers themselves, or their live jobs."""
    for customer in customers:
        if prefix == _CUSTOMER:
            with suppress(NotFound):
                yield store.fetch(ctx, customer)
        elif prefix == _JOB:
            yield from store.find_newest(ctx, limit + 1, customer_id=customer, status="live")


def _choose_matches(kinds: Sequence[Sequence[_Match]], limit: int) -> list[_Match]:
    """Choose as many matches as fit: the closest of each kind, before any kind gets its second.

    Records that were replaced by another one come last, whatever their kind.
    """
    in_use = [[match for match in matches if not match.record.is_replaced] for matches in kinds]
    replaced = [match for matches in kinds for match in matches if match.record.is_replaced]
    round_robin = [match for each_kind in zip_longest(*in_use) for match in each_kind if match]
    chosen_ids = {match.record.id for match in round_robin[:limit]}
    best_matches = [match for matches in in_use for match in matches if match.record.id in chosen_ids]
    return [*best_matches, *replaced][:limit]


def _make_hit(ctx: Context, record: StoredRecord) -> Hit:
    output = record.output
    return Hit(
        object=output.noun,
        id=record.id,
        title=ctx.request.message_format.render(record.name_in_messages),
        detail=record.detail,
        status=getattr(record, "status", None),
        customer_id=_customer_of(ctx, record),
        url=ctx.base_url + output.office_path.format(id=record.id) if output.office_path else None,
    )


def _customer_of(ctx: Context, record: StoredRecord) -> str | None:
    """Return the id of the customer that a record belongs to, if the actor may know it; for a customer, their own."""
    if record.output.noun == _CUSTOMER:
        return record.id
    field = record.output.model_fields.get("customer_id")
    if field is None or is_hidden(field.metadata, ctx.actor.permissions):
        return None
    customer = record.row[column_names(record.output).index("customer_id")]
    return None if customer is None else str(customer)
