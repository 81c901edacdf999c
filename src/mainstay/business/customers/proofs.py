"""That what is kept of customers follows from the rest of them."""

from collections.abc import Iterator

from mainstay.backing.proof import Books, Flaw, Proof, follows
from mainstay.business.customers.store import CUSTOMERS


def wrong_keys(books: Books) -> Iterator[Flaw]:
    """Yield the customers who are not found as duplicates by what they say."""
    known = "SELECT key FROM customer_key WHERE organisation_id = :organisation AND customer_id = :customer"
    for customer in map(CUSTOMERS.keep, books.rows.each(CUSTOMERS.everything)):
        keys = {str(key) for (key,) in books.rows.all(known, customer=customer.id)}
        if keys != customer.duplicate_keys:
            yield Flaw(f"customer {customer.id}", "is not found as a duplicate by what they say")


_FIRSTS = """
SELECT key, firsts FROM (
    SELECT key, CAST(sum(1 - repeats) AS bigint) AS firsts FROM customer_key WHERE organisation_id = :organisation
    GROUP BY key
) AS counted WHERE firsts <> 1
"""

PROOFS = (
    Proof("duplicate_keys", "Customers who may be there twice are found by what they say", wrong_keys),
    follows(
        "duplicate_firsts",
        "Of the customers with something in common one is the first",
        _FIRSTS,
        "is of {0} customers first",
    ),
)
