"""From rows to JSON, with nothing worked out per request.

A record goes straight from its row to JSON: making a model of each row would cost ten times the query. The model stays
the one source: what encodes its rows is compiled from it once, and a test holds the outcome to the model's schema.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NewType, get_args, get_origin

import orjson
from pydantic import BaseModel

from mainstay.backing.database import Row
from mainstay.kernel.shapes import One, Page, Shown
from mainstay.values.money import price_text

# How a price is shown: a decimal in text.
PriceText = NewType("PriceText", str)

# What an operation answers with: a record or page out of the database, or a model made by hand.
Result = One[Any] | Page[Any] | Shown


def to_json(result: Result) -> bytes:
    """The result as every door shows it."""
    if isinstance(result, Shown):
        return result.__pydantic_serializer__.to_json(result, by_alias=True)
    model: type[Shown] = result.model
    encode = _row_encoder(model)
    if isinstance(result, One):
        return orjson.dumps(encode(result.row))
    return orjson.dumps({"object": "list", "data": [*map(encode, result.rows)], "hasMore": result.has_more})


@cache
def _row_encoder(model: type[Shown]) -> Callable[[Row], dict[str, object]]:
    names = [field.alias or name for name, field in model.model_fields.items() if name != "object"]
    turns = _turns(model)
    noun = model.noun

    def encode(row: Row) -> dict[str, object]:
        record: dict[str, object] = {"object": noun}
        record.update(zip(names, row, strict=True))
        for name, turn in turns:
            kept = record[name]
            if kept is not None:
                record[name] = turn(kept)
        return record

    return encode


def _turns(model: type[Shown]) -> list[tuple[str, Callable[[Any], object]]]:
    """How kept values become shown ones, for those fields where the two differ."""
    turns: list[tuple[str, Callable[[Any], object]]] = []
    for name, field in model.model_fields.items():
        kind: Any = field.annotation
        if type(None) in get_args(kind):
            kind = get_args(kind)[0]
        alias = field.alias or name
        if kind is PriceText:
            turns.append((alias, price_text))
        elif kind is bool:
            turns.append((alias, bool))
        elif get_origin(kind) is list or (isinstance(kind, type) and issubclass(kind, BaseModel)):
            # Lists and records within a record are kept as JSON, and go out as they stand.
            turns.append((alias, orjson.Fragment))
    return turns
