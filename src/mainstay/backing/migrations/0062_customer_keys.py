"""Lets the customers that are there already be found as duplicates of each other."""

from collections.abc import Iterator, Sequence

import orjson

from mainstay.backing.database import Row, SchemaHandle, Value
from mainstay.values.alike import keys_of

_BATCH = 1000
_CUSTOMERS = f"""
SELECT organisation_id, id, name, email, phone, tax_number, billing_address FROM customer
WHERE status = 'active' AND (organisation_id, id) > (:owner, :id) ORDER BY organisation_id, id LIMIT {_BATCH}
"""
_ADD = "INSERT INTO customer_key (organisation_id, key, customer_id, repeats) VALUES (:owner, :key, :customer, 0)"
# The oldest of them is the first.
_MARK = """
UPDATE customer_key SET repeats = 1 WHERE EXISTS (
    SELECT 1 FROM customer_key AS known WHERE known.organisation_id = customer_key.organisation_id
    AND known.key = customer_key.key AND known.customer_id < customer_key.customer_id)
"""


def apply(handle: SchemaHandle) -> None:
    """Write the keys of every active customer."""
    last = ("", "")
    while batch := handle.all(_CUSTOMERS, owner=last[0], id=last[1]):
        handle.fill(_ADD, _keys(batch))
        last = (str(batch[-1][0]), str(batch[-1][1]))
    handle.run(_MARK)
    handle.run("CREATE UNIQUE INDEX customer_key_first ON customer_key (organisation_id, key) WHERE repeats = 0")


def _keys(batch: Sequence[Row]) -> Iterator[dict[str, Value]]:
    for row in batch:
        for key in sorted(_keys_of(row)):
            yield {"owner": row[0], "customer": row[1], "key": key}


def _keys_of(row: Row) -> frozenset[str]:
    _, _, name, email, phone, tax_number, address = (None if value is None else str(value) for value in row)
    return keys_of(name or "", email, phone, tax_number, orjson.loads(address) if address else None)
