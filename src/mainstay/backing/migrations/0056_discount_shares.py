"""Keep what a discount takes off each line where that is settled.

Discounts were shared out by the sizes of the lines, whatever their signs, and are shared out by signed amounts from now
on. Documents that are there keep the shares that they were made with, so that they come to what they came to.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from mainstay.backing.database import SchemaHandle
from mainstay.values.money import UNIT, Money, parse_price
from mainstay.values.totals import rounded

_BATCH = 1000
_TABLES = ("quote", "invoice", "credit_note")
_HUNDRED_PERCENT = 100 * UNIT


def apply(handle: SchemaHandle) -> None:
    """Add the column to each kind of document, and fill it."""
    for table in _TABLES:
        handle.script(f"ALTER TABLE {table} ADD COLUMN discount_shares text;")
        _settle_shares(handle, table)


def _settle_shares(handle: SchemaHandle, table: str) -> None:
    last = ("", "")
    while batch := handle.all(
        f"SELECT organisation_id, id, currency, lines, discount FROM {table} WHERE discount IS NOT NULL"
        f" AND (organisation_id, id) > (:owner, :id) ORDER BY organisation_id, id LIMIT {_BATCH}",
        owner=last[0],
        id=last[1],
    ):
        for owner, identity, currency, lines, discount in batch:
            shares = _shares_of(orjson.loads(str(lines)), orjson.loads(str(discount)), str(currency))
            handle.run(
                f"UPDATE {table} SET discount_shares = :shares WHERE organisation_id = :owner AND id = :id",
                owner=owner,
                id=identity,
                shares=orjson.dumps(shares).decode(),
            )
        last = (str(batch[-1][0]), str(batch[-1][1]))


def _shares_of(lines: Sequence[Mapping[str, Any]], discount: Mapping[str, str | None], currency: str) -> dict[str, int]:
    amounts = {line["id"]: _minor(line["amount"], currency) for line in lines if _is_discounted(line)}
    taken = _minor(discount["amount"], currency) if discount["amount"] else 0
    if discount["percent"]:
        taken += rounded(sum(amounts.values()) * parse_price(discount["percent"]), _HUNDRED_PERCENT)
    parts = _share_out_by_size(taken, list(amounts.values())) if amounts else []
    return dict(zip(amounts, parts, strict=True))


def _is_discounted(line: Mapping[str, Any]) -> bool:
    """Whether a line counts, and is not what was invoiced before."""
    counts = line["kind"] == "item" and (line["chosen"] or not line["optional"])
    return bool(counts and not (line["source"] and line["source"].get("settled")))


def _share_out_by_size(total: int, amounts: Sequence[int]) -> list[int]:
    """Share a total out as it was done until now."""
    sizes = [abs(amount) for amount in amounts] if any(amounts) else [1] * len(amounts)
    whole = sum(sizes)
    shares = [divmod(abs(total) * size, whole) for size in sizes]
    parts = [quotient for quotient, _ in shares]
    by_remainder = sorted(range(len(shares)), key=lambda place: -shares[place][1])
    for place in by_remainder[: abs(total) - sum(parts)]:
        parts[place] += 1
    return parts if total >= 0 else [-part for part in parts]


def _minor(text: str, currency: str) -> int:
    return Money.parse(text, currency).minor
