"""From rows to JSON, with nothing worked out per request.

A record goes straight from its row to JSON: making a model of each row would cost ten times the query. The model stays
the one source: what encodes its rows is compiled from it once, and a test holds the outcome to the model's schema.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, NewType, get_args, get_origin

import orjson
from pydantic import BaseModel

from mainstay.backing.database import Row
from mainstay.kernel.shapes import One, Page, Shown
from mainstay.values.money import price_text

PriceText = NewType("PriceText", str)

# What an operation answers with: a record or page out of the database, or a model made by hand.
Result = One[Any] | Page[Any] | Shown


def to_json(result: Result) -> bytes:
    """The result as every door shows it."""
    if not isinstance(result, (One, Page)):
        return result.__pydantic_serializer__.to_json(result, by_alias=True)
    model: type[Shown] = result.model
    if isinstance(result, One):
        return orjson.dumps(_encoder(model)([result.row])[0])
    return orjson.dumps({"object": "list", "data": _encoder(model)(result.rows), "hasMore": result.has_more})


@cache
def _encoder(model: type[Shown]) -> Callable[[Sequence[Row]], list[dict[str, object]]]:
    """What turns rows into records, written out for this model: `[{"object": noun, "id": c0, …} for c0, … in rows]`.

    A loop over fields and their turns costs five times as much for a page as the same written out.
    """
    fields = [(field.alias or name, field.annotation) for name, field in model.model_fields.items() if name != "object"]
    shown = [f"{alias!r}: {_shown(kind, f'c{number}')}" for number, (alias, kind) in enumerate(fields)]
    columns = "".join(f"c{number}, " for number in range(len(fields)))
    source = f"lambda rows: [{{'object': {model.noun!r}, {', '.join(shown)}}} for ({columns}) in rows]"
    encoder: Callable[[Sequence[Row]], list[dict[str, object]]] = eval(source, dict(_TURNS))
    return encoder


# Few prices are in use, and each stands in many rows.
_TURNS = {"price": lru_cache(4096)(price_text), "embed": orjson.Fragment}


def _shown(kind: Any, column: str) -> str:
    """The expression for a field: how what is kept in a column is shown."""
    nullable = type(None) in get_args(kind)
    if nullable:
        kind = get_args(kind)[0]
    if kind is PriceText:
        turned = f"price({column})"
    elif kind is bool:
        turned = f"{column} == 1"
    elif get_origin(kind) is list or (isinstance(kind, type) and issubclass(kind, BaseModel)):
        # Lists and records within a record are kept as JSON, and go out as they stand.
        turned = f"embed({column})"
    else:
        return column
    return f"None if {column} is None else {turned}" if nullable else turned
