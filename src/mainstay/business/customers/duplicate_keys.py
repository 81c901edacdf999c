"""Stores and queries the keys by which duplicate customers are found.

Of all customers with the same key, one is the first and the others repeat it. So possible duplicates are listed from an
index of the repeated keys alone, however many customers there are.
"""

from collections.abc import Collection, Sequence

from mainstay.infrastructure.batched_select import BATCH_VALUES, insert_pairs, select_batched
from mainstay.infrastructure.database import DatabaseHandle, Row


def add_keys(db: DatabaseHandle, customer_id: str, keys: Collection[str]) -> None:
    """Add keys of a customer."""
    pairs = [(key, customer_id) for key in sorted(keys)]
    insert_pairs(db, _INSERT_SQL, f"(:organisation, {{first}}, {{second}}, {_REPEATS_SQL})", pairs)


def remove_keys(db: DatabaseHandle, customer_id: str, keys: Collection[str]) -> None:
    """Remove keys of a customer. If they were the first with a key, another customer becomes the first."""
    for key in sorted(keys):
        if any(repeats == 0 for (repeats,) in db.all(_DELETE_SQL, key=key, customer=customer_id)):
            db.run(_PROMOTE_NEXT_SQL, key=key)


def find_repeating_customers(db: DatabaseHandle, after: str | None, limit: int) -> list[str]:
    """Return the ids of customers who repeat a key, newest first, starting after an id."""
    condition = " AND customer_id < :after" if after else ""
    values = {"after": after} if after else {}
    return [str(customer) for (customer,) in db.all(_REPEATING_SQL.format(condition), limit=limit, **values)]


def find_first_customers(db: DatabaseHandle, customers: Sequence[str]) -> Sequence[Row]:
    """Return the keys that these customers repeat, as rows of customer, key and the first customer with that key."""
    return select_batched(db, _FIRSTS_SQL, customers)


_INSERT_SQL = "INSERT INTO customer_key (organisation_id, key, customer_id, repeats)"
_REPEATS_SQL = (
    "CASE WHEN EXISTS (SELECT 1 FROM customer_key AS known WHERE known.organisation_id = :organisation"
    " AND known.key = {first}) THEN 1 ELSE 0 END"
)
_DELETE_SQL = (
    "DELETE FROM customer_key WHERE organisation_id = :organisation AND key = :key AND customer_id = :customer"
    " RETURNING repeats"
)
_PROMOTE_NEXT_SQL = (
    "UPDATE customer_key SET repeats = 0 WHERE organisation_id = :organisation AND key = :key AND customer_id ="
    " (SELECT next.customer_id FROM customer_key AS next WHERE next.organisation_id = :organisation"
    " AND next.key = :key ORDER BY next.customer_id LIMIT 1)"
)
_REPEATING_SQL = (
    "SELECT DISTINCT customer_id FROM customer_key WHERE organisation_id = :organisation AND repeats = 1{}"
    " ORDER BY customer_id DESC LIMIT :limit"
)
_FIRSTS_SQL = (
    "SELECT again.customer_id, again.key, first.customer_id FROM customer_key AS again JOIN customer_key AS first"
    " ON first.organisation_id = again.organisation_id AND first.key = again.key AND first.repeats = 0"
    f" WHERE again.organisation_id = :organisation AND again.repeats = 1 AND again.customer_id IN {BATCH_VALUES}"
)
