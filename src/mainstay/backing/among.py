"""Rows by many values at once: one statement for each hundred of them, instead of one for each."""

from collections.abc import Iterable
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
