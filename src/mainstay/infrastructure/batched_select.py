"""Select or insert rows by many values: one statement for every hundred values instead of one for each."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from mainstay.infrastructure.database import DatabaseHandle, Row, Value

_PARAMETERS = [f"these_{first}{second}" for first in "abcdefghij" for second in "abcdefghij"]

# The list of values in a statement for `select_batched`: `id IN {BATCH_VALUES}`.
BATCH_VALUES = f"({', '.join(f':{name}' for name in _PARAMETERS)})"


def select_batched(db: DatabaseHandle, sql: str, values: Iterable[str], **parameters: Value) -> list[Row]:
    """Return the rows that a statement with `IN {BATCH_VALUES}` finds for these values, in no particular order."""
    remaining = iter(dict.fromkeys(values))
    found: list[Row] = []
    while batch := list(islice(remaining, len(_PARAMETERS))):
        # Always bind every parameter, so that it is one statement with one cached plan.
        bound = {name: batch[index % len(batch)] for index, name in enumerate(_PARAMETERS)}
        found += db.all(sql, **bound, **parameters)
    return found


def insert_pairs(
    db: DatabaseHandle, into: str, row: str, pairs: Iterable[tuple[Value, Value]], **parameters: Value
) -> None:
    """Insert a row for each pair: `INSERT INTO … (…)` such rows as `(:organisation, {first}, {second})`."""
    remaining = iter(pairs)
    while batch := list(islice(remaining, len(_PARAMETERS))):
        bound = {
            name: value
            for parameter, pair in zip(_PARAMETERS, batch, strict=False)
            for name, value in zip((parameter, f"{parameter}_second"), pair, strict=True)
        }
        db.run(_insert_sql(into, row, len(batch)), **bound, **parameters)


# Usually there are few values, and so few different statements.
@lru_cache(512)
def _insert_sql(into: str, row: str, count: int) -> str:
    each = (row.format(first=f":{name}", second=f":{name}_second") for name in _PARAMETERS[:count])
    return f"{into} VALUES {', '.join(each)}"
