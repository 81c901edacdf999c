"""That the parts of kits are the same wherever they are kept."""

from collections.abc import Iterator

import orjson

from mainstay.backing.proof import Books, Flaw, Proof
from mainstay.values.money import parse_price


def wrong_parts(books: Books) -> Iterator[Flaw]:
    """The items whose parts, as they are shown, are not those that their price is worked out of."""
    items = books.rows.each(
        "SELECT id, components, (SELECT string_agg(item_id || ' ' || quantity, ',') FROM kit_part"
        " WHERE kit_part.organisation_id = :organisation AND kit_part.kit_id = price_item.id)"
        " FROM price_item WHERE organisation_id = :organisation"
    )
    for identity, components, parts in items:
        shown = {f"{part['itemId']} {parse_price(part['quantity'])}" for part in orjson.loads(str(components))}
        if shown != set(filter(None, str(parts or "").split(","))):
            yield Flaw(f"item {identity}", "shows other parts than its price is worked out of")


PROOFS = (Proof("kits", "Kits cost what their parts do", wrong_parts),)
