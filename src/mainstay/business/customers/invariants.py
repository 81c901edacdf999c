"""Invariants of customers: their duplicate keys match their details."""

from collections.abc import Iterator

from mainstay.business.customers.store import CUSTOMERS
from mainstay.infrastructure.invariants import CheckContext, Invariant, Violation, no_rows_invariant


def find_wrong_keys(context: CheckContext) -> Iterator[Violation]:
    """Yield customers whose stored duplicate keys differ from those computed from their details."""
    keys_sql = "SELECT key FROM customer_key WHERE organisation_id = :organisation AND customer_id = :customer"
    for customer in map(CUSTOMERS.from_row, context.db.stream(CUSTOMERS.select_all)):
        keys = {str(key) for (key,) in context.db.all(keys_sql, customer=customer.id)}
        if keys != customer.duplicate_keys:
            yield Violation(f"customer {customer.id}", "cannot be found as a duplicate by all of their details")


_WRONG_FIRSTS = """
SELECT key, firsts FROM (
    SELECT key, CAST(sum(1 - repeats) AS bigint) AS firsts FROM customer_key WHERE organisation_id = :organisation
    GROUP BY key
) AS counted WHERE firsts <> 1
"""

INVARIANTS = (
    Invariant("duplicate_keys", "Duplicate customers are found by their details", find_wrong_keys),
    no_rows_invariant(
        "duplicate_firsts",
        "One of several customers with the same detail is the first",
        _WRONG_FIRSTS,
        "has {0} first customers",
    ),
)
