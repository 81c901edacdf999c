"""From what is kept to JSON, with nothing worked out per request.

A list goes straight from rows to JSON: making a model of each row would cost ten times the query. The model stays the
one source: both ways are compiled from it once, and a test holds them equal.
"""

from collections.abc import Callable
from enum import EnumType
from functools import cache
from typing import Any, NewType, cast, get_args, get_origin

import orjson
from pydantic import BaseModel, TypeAdapter

from mainstay.backing.database import Row
from mainstay.kernel.shapes import Page, R, Shown
from mainstay.values.money import price_text

# How a price is shown: a decimal in text.
PriceText = NewType("PriceText", str)

_Turn = Callable[[Any], Any]


def shown(model: type[R], row: Row) -> R:
    """The record in a row whose columns are the fields of the model, in the model's order."""
    values: dict[str, Any] = dict(zip(model.model_fields, (model.noun, *row), strict=True))
    for name, turn in _reading_turns(model):
        if values[name] is not None:
            values[name] = turn(values[name])
    return cast("R", model.model_construct(**values))


def record_json(record: BaseModel) -> bytes:
    """One record as JSON."""
    return record.__pydantic_serializer__.to_json(record, by_alias=True)


def page_encoder(model: type[Shown]) -> Callable[[Page[Any]], bytes]:
    """What writes pages of such records."""
    aliases = {name: field.alias or name for name, field in model.model_fields.items()}
    names = [alias for name, alias in aliases.items() if name != "object"]
    turns = [(aliases[name], turn) for name, turn in _turns(model, from_json=_as_it_stands, from_text=lambda _: None)]
    noun = model.noun

    def encode_row(row: Row) -> dict[str, object]:
        record: dict[str, object] = {"object": noun}
        record.update(zip(names, row, strict=True))
        for name, turn in turns:
            kept = record[name]
            if kept is not None:
                record[name] = turn(kept)
        return record

    def encode(page: Page[Any]) -> bytes:
        return orjson.dumps({"object": "list", "data": [*map(encode_row, page.rows)], "hasMore": page.has_more})

    return encode


@cache
def _reading_turns(model: type[Shown]) -> list[tuple[str, _Turn]]:
    return _turns(model, from_json=lambda kind: TypeAdapter(kind).validate_json, from_text=lambda kind: kind)


def _turns(
    model: type[Shown], from_json: Callable[[Any], _Turn], from_text: Callable[[Any], _Turn | None]
) -> list[tuple[str, _Turn]]:
    """How kept values become shown ones, for those fields where the two differ."""
    turns: dict[str, _Turn | None] = {}
    for name, field in model.model_fields.items():
        kind: Any = field.annotation
        if type(None) in get_args(kind):
            kind = get_args(kind)[0]
        if kind is PriceText:
            turns[name] = price_text
        elif kind is bool:
            turns[name] = bool
        elif isinstance(kind, EnumType):
            turns[name] = from_text(kind)
        elif get_origin(kind) is list or (isinstance(kind, type) and issubclass(kind, BaseModel)):
            # Lists and records within a record are kept as JSON.
            turns[name] = from_json(kind)
    return [(name, turn) for name, turn in turns.items() if turn]


def _as_it_stands(_kind: object) -> _Turn:
    return orjson.Fragment
