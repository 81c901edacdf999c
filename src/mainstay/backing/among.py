"""Rows by many values at once: one statement for each hundred of them, instead of one for each."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from mainstay.backing.database import Handle, Row, Value

_PLACES = [f"these_{one}{other}" for one in "abcdefghij" for other in "abcdefghij"]

# What a statement for `among` says of the column: `id IN {THESE}`.
THESE = f"({', '.join(f':{name}' for name in _PLACES)})"


def among(rows: Handle, sql: str, values: Iterable[str], **given: Value) -> list[Row]:
    """The rows whose column has one of these values, by a statement with `IN {THESE}`; in no order."""
    left = iter(dict.fromkeys(values))
    found: list[Row] = []
    while some := list(islice(left, len(_PLACES))):
        # Always as many as there is room for, so that it is one statement, whose plan is known.
        these = {name: some[place % len(some)] for place, name in enumerate(_PLACES)}
        found += rows.all(sql, **these, **given)
    return found


def insert_pairs(rows: Handle, into: str, row: str, pairs: Iterable[tuple[Value, Value]], **given: Value) -> None:
    """Insert a row for each of these pairs: `INSERT INTO … (…)` such rows as `(:organisation, {first}, {second})`."""
    left = iter(pairs)
    while some := list(islice(left, len(_PLACES))):
        bound = {
            name: value
            for place, pair in zip(_PLACES, some, strict=False)
            for name, value in zip((place, f"{place}_second"), pair, strict=True)
        }
        rows.run(_inserting(into, row, len(some)), **bound, **given)


# Most often there are only a few values, so that there are only a few such statements.
@lru_cache(512)
def _inserting(into: str, row: str, count: int) -> str:
    each = (row.format(first=f":{name}", second=f":{name}_second") for name in _PLACES[:count])
    return f"{into} VALUES {', '.join(each)}"
