"""That numbers were given one after another, each once, and none is lost."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import orjson
from pydantic.alias_generators import to_camel

from mainstay.backing.proof import Books, Flaw, Proof
from mainstay.business.organisation.numbering import USUAL, place_of


def numbers_of(kind: str, of: str) -> Proof:
    """The proof for the numbers of a kind, which are what a statement about the organisation gives."""

    def flaws(books: Books) -> Iterator[Flaw]:
        given: list[int] = []
        for (number,) in books.rows.each(of):
            place = place_of(str(number))
            if place is None:
                yield Flaw(f"{kind} {number}", "has a number without digits at its end")
            else:
                given.append(place)
        given += _removed(books, kind)
        yield from _gaps(kind, sorted(given), _next(books, kind), set(_raised(books, kind)))

    return Proof(f"numbers_of_{kind}", f"The numbers of each {kind.replace('_', ' ')} run on without a gap", flaws)


def _gaps(kind: str, given: list[int], following: int, raised: set[int]) -> Iterator[Flaw]:
    """Where numbers are missing: before one to which the series was raised there are none."""
    if given and given[-1] >= following:
        yield Flaw(f"{kind} {given[-1]}", f"has a number that is given once more: the next one is {following}")
        following = given[-1] + 1
    for before, after in pairwise([USUAL[kind].next - 1, *given, following]):
        if before == after:
            yield Flaw(f"{kind} {after}", "has a number that another has as well")
        elif after > before + 1 and after not in raised:
            missing = f"{before + 1}" if after == before + 2 else f"{before + 1} to {after - 1}"
            yield Flaw(f"{kind} {missing}", "was given a number and is not there")


def _next(books: Books, kind: str) -> int:
    row = books.rows.one(
        "SELECT next FROM number_series WHERE organisation_id = :organisation AND kind = :kind", kind=kind
    )
    return int(row[0] or 0) if row else USUAL[kind].next


def _raised(books: Books, kind: str) -> Iterable[int]:
    """What people have said is next, as the trail tells it."""
    for numbers in _told(books, to_camel(f"{kind}_numbers")):
        if isinstance(numbers, Mapping) and isinstance(numbers.get("next"), int):
            yield numbers["next"]


def _removed(books: Books, kind: str) -> Iterator[int]:
    """The places of the numbers whose records were removed, as the trail tells it."""
    for number in _told(books, to_camel(f"removed_{kind}_number")):
        if isinstance(number, str) and (place := place_of(number)) is not None:
            yield place


def _told(books: Books, field: str) -> Iterator[object]:
    """What stood in a field of the acts that had it."""
    acts = books.rows.each(
        "SELECT given FROM audit WHERE organisation_id = :organisation AND given LIKE :about", about=f'%"{field}"%'
    )
    for (given,) in acts:
        yield orjson.loads(str(given)).get(field)
