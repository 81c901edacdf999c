"""Invariant: document numbers are consecutive, unique and complete."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import orjson

from mainstay.business.organisation.numbering import DEFAULT_SERIES, position_of
from mainstay.infrastructure.invariants import CheckContext, Invariant, Violation
from mainstay.values.choices import to_label


def make_numbers_invariant(kind: str, numbers_sql: str) -> Invariant:
    """Return the invariant for one kind of number. `numbers_sql` selects all numbers an organisation has given."""

    def find_violations(context: CheckContext) -> Iterator[Violation]:
        positions: list[int] = []
        for (number,) in context.db.stream(numbers_sql):
            position = position_of(str(number))
            if position is None:
                yield Violation(f"{kind} {number}", "has a number that does not end with digits")
            else:
                positions.append(position)
        positions += _find_removed(context, kind)
        yield from _find_gaps(kind, sorted(positions), _fetch_next(context, kind), set(_find_raised(context, kind)))

    return Invariant(f"numbers_of_{kind}", f"The {to_label(kind).lower()} numbers have no gaps", find_violations)


def _find_gaps(kind: str, positions: list[int], next_position: int, raised: set[int]) -> Iterator[Violation]:
    """Yield missing and repeated numbers. A gap is allowed before a number to which people raised the series."""
    if positions and positions[-1] >= next_position:
        yield Violation(
            f"{kind} {positions[-1]}", f"has a number that would be given again: the next one is {next_position}"
        )
        next_position = positions[-1] + 1
    for previous, current in pairwise([DEFAULT_SERIES[kind].next - 1, *positions, next_position]):
        if previous == current:
            yield Violation(f"{kind} {current}", "has the same number as another one")
        elif current > previous + 1 and current not in raised:
            missing = f"{previous + 1}" if current == previous + 2 else f"{previous + 1} to {current - 1}"
            yield Violation(f"{kind} {missing}", "was given as a number, but there is no record")


def _fetch_next(context: CheckContext, kind: str) -> int:
    row = context.db.one(
        "SELECT next FROM number_series WHERE organisation_id = :organisation AND kind = :kind", kind=kind
    )
    return int(row[0] or 0) if row else DEFAULT_SERIES[kind].next


def _find_raised(context: CheckContext, kind: str) -> Iterable[int]:
    """Yield the next numbers that people have set, as recorded in the audit trail."""
    for numbers in _read_audited_values(context, f"{kind}Numbers"):
        if isinstance(numbers, Mapping) and isinstance(numbers.get("next"), int):
            yield numbers["next"]


def _find_removed(context: CheckContext, kind: str) -> Iterator[int]:
    """Yield the positions of numbers whose records were removed, as recorded in the audit trail."""
    for number in _read_audited_values(context, f"removed{kind[0].upper()}{kind[1:]}Number"):
        if isinstance(number, str) and (position := position_of(number)) is not None:
            yield position


def _read_audited_values(context: CheckContext, field: str) -> Iterator[object]:
    """Yield the values of a field from the inputs of all recorded operations that have it."""
    entries = context.db.stream(
        "SELECT given FROM audit WHERE organisation_id = :organisation AND given LIKE :about", about=f'%"{field}"%'
    )
    for (given,) in entries:
        yield orjson.loads(str(given)).get(field)
