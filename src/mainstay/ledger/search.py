"""The words that records are found by, written in the transaction of the change that says them."""

from collections.abc import Collection

from mainstay.backing.database import Handle, Value
from mainstay.values.search import Sought, end_of

_WORDS = "FROM search_word WHERE organisation_id = :organisation"


def rewrite(rows: Handle, record: str, words: Collection[str]) -> None:
    """Let a record that is there be found by these words; only what is different is written."""
    before = {str(word) for (word,) in rows.all(f"SELECT word {_WORDS} AND record_id = :record", record=record)}
    if gone := [word for word in before if word not in words]:
        bound = _bound(gone)
        names = ", ".join(f":{name}" for name in bound)
        rows.run(f"DELETE {_WORDS} AND record_id = :record AND word IN ({names})", record=record, **bound)
    write(rows, record, [word for word in words if word not in before])


def write(rows: Handle, record: str, words: Collection[str]) -> None:
    """Let a record be found by these words as well."""
    if words:
        bound = _bound(words)
        values = ", ".join(f"(:organisation, :{name}, :record)" for name in bound)
        rows.run(f"INSERT INTO search_word (organisation_id, word, record_id) VALUES {values}", record=record, **bound)


def narrowed(identity: str, sought: Sought) -> tuple[str, dict[str, Value]]:
    """The condition that the record of this column has such words; and what is bound in it.

    What is likely to be rare says which records are looked at at all; each of them is then asked for the others.
    """
    drivers: list[str] = []
    bound: dict[str, Value] = {}
    for name, prefix in _bound(sought.first).items():
        begins, values = _begins(f"first_{name}", str(prefix))
        drivers.append(f"SELECT record_id {_WORDS} AND {begins}")
        bound |= values
    conditions = [f"{identity} IN ({' UNION ALL '.join(drivers)})"]
    for name, prefix in _bound(sought.others).items():
        begins, values = _begins(f"other_{name}", str(prefix))
        conditions.append(f"EXISTS (SELECT 1 {_WORDS} AND record_id = {identity} AND {begins})")
        bound |= values
    return " AND ".join(conditions), bound


def _begins(name: str, prefix: str) -> tuple[str, dict[str, Value]]:
    return f"word >= :{name} AND word < :{name}_end", {name: prefix, f"{name}_end": end_of(prefix)}


def _bound(words: Collection[str]) -> dict[str, Value]:
    """Each word under a name of its own; names of parameters have letters only."""
    return {f"word_{chr(97 + number // 26)}{chr(97 + number % 26)}": word for number, word in enumerate(words)}
