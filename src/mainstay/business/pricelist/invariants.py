"""Invariant: the two places that store the parts of kits agree."""

from collections.abc import Iterator

import orjson

from mainstay.infrastructure.invariants import CheckContext, Invariant, Violation
from mainstay.values.money import parse_price


def find_wrong_parts(context: CheckContext) -> Iterator[Violation]:
    """Yield kits that show other parts than their price is computed from."""
    items = context.db.stream(
        "SELECT id, components, (SELECT string_agg(item_id || ' ' || quantity, ',') FROM kit_part"
        " WHERE kit_part.organisation_id = :organisation AND kit_part.kit_id = price_item.id)"
        " FROM price_item WHERE organisation_id = :organisation"
    )
    for record_id, components, parts in items:
        shown_parts = {f"{part['itemId']} {parse_price(part['quantity'])}" for part in orjson.loads(str(components))}
        if shown_parts != set(filter(None, str(parts or "").split(","))):
            yield Violation(f"item {record_id}", "shows other parts than those its price is computed from")


INVARIANTS = (Invariant("kits", "Kits cost what their parts do", find_wrong_parts),)
