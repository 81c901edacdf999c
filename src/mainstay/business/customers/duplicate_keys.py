"""Keeps the keys by which customers who may be there twice are found, and finds them.

Of all customers with the same key one is the first, and the others repeat it. So whoever may be there twice is listed
by an index of the repeated keys alone, however many customers there are.
"""

from collections.abc import Collection, Sequence

from mainstay.backing.among import THESE, among, insert_pairs
from mainstay.backing.database import Handle, Row


def add(rows: Handle, customer: str, keys: Collection[str]) -> None:
    """Add keys of a customer."""
    pairs = [(key, customer) for key in sorted(keys)]
    insert_pairs(rows, _INTO, f"(:organisation, {{first}}, {{second}}, {_REPEATS})", pairs)


def remove(rows: Handle, customer: str, keys: Collection[str]) -> None:
    """Remove keys of a customer; of those who repeated one that was theirs first, another is the first."""
    for key in sorted(keys):
        if any(repeats == 0 for (repeats,) in rows.all(_REMOVE, key=key, customer=customer)):
            rows.run(_NEXT_FIRST, key=key)


def page_of_repeating(rows: Handle, after: str | None, limit: int) -> list[str]:
    """Return the ids of customers who repeat a key, the newest first, behind one of them."""
    behind = " AND customer_id < :after" if after else ""
    bound = {"after": after} if after else {}
    return [str(customer) for (customer,) in rows.all(_PAGE.format(behind), limit=limit, **bound)]


def firsts_of(rows: Handle, customers: Sequence[str]) -> Sequence[Row]:
    """Return the keys that these customers repeat: the customer, the key, and the customer who is its first."""
    return among(rows, _FIRSTS, customers)


_INTO = "INSERT INTO customer_key (organisation_id, key, customer_id, repeats)"
_REPEATS = (
    "CASE WHEN EXISTS (SELECT 1 FROM customer_key AS known WHERE known.organisation_id = :organisation"
    " AND known.key = {first}) THEN 1 ELSE 0 END"
)
_REMOVE = (
    "DELETE FROM customer_key WHERE organisation_id = :organisation AND key = :key AND customer_id = :customer"
    " RETURNING repeats"
)
_NEXT_FIRST = (
    "UPDATE customer_key SET repeats = 0 WHERE organisation_id = :organisation AND key = :key AND customer_id ="
    " (SELECT next.customer_id FROM customer_key AS next WHERE next.organisation_id = :organisation"
    " AND next.key = :key ORDER BY next.customer_id LIMIT 1)"
)
_PAGE = (
    "SELECT DISTINCT customer_id FROM customer_key WHERE organisation_id = :organisation AND repeats = 1{}"
    " ORDER BY customer_id DESC LIMIT :limit"
)
_FIRSTS = (
    "SELECT again.customer_id, again.key, first.customer_id FROM customer_key AS again JOIN customer_key AS first"
    " ON first.organisation_id = again.organisation_id AND first.key = again.key AND first.repeats = 0"
    f" WHERE again.organisation_id = :organisation AND again.repeats = 1 AND again.customer_id IN {THESE}"
)
