"""From rows to JSON, with nothing worked out per request.

A record goes straight from its row to JSON: making a model of each row would cost ten times the query. The model stays
the one source: what encodes its rows is compiled from it once, and a test holds the outcome to the model's schema.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NewType, get_args, get_origin

import orjson
from pydantic import BaseModel

from mainstay.backing.database import Row
from mainstay.terms.rights import Right, Rights, is_hidden, withheld
from mainstay.terms.shapes import Kept, One, Page, Shown
from mainstay.values.money import amount_text, price_text

PriceText = NewType("PriceText", str)
# An amount of the currency that the record names; kept in its minor unit.
MoneyText = NewType("MoneyText", str)

# What an operation answers with: records out of the database, or a model made by hand.
Result = Kept | One[Any] | Page[Any] | Shown
Encoder = Callable[[Sequence[Row]], list[dict[str, object]]]

# Events are told to programs of the organisation itself: nothing is hidden from them.
ALL: Rights = frozenset(Right)

_NOTHING: Mapping[str, object] = MappingProxyType({})


def to_json(result: Result, rights: Rights = ALL) -> bytes:
    """The result as someone with these rights is shown it."""
    if isinstance(result, Page):
        model: type[Shown] = result.model
        listed: dict[str, object] = {"object": "list", "data": encoder(model, rights)(result.rows)}
        listed |= {"hasMore": result.has_more} | totals_of(result)
        return orjson.dumps(listed | name_hidden(model, rights, result.rows))
    if isinstance(result, Shown):
        return result.__pydantic_serializer__.to_json(result, by_alias=True)
    return orjson.dumps(to_record(result, rights))


def totals_of(page: Page[Any]) -> dict[str, object]:
    """Return the sums of a list as its envelope has them: only if they were asked for, so that it is else as always."""
    return {} if page.totals is None else {"totals": page.totals.model_dump(by_alias=True)}


def to_record(result: Kept | One[Any], rights: Rights = ALL) -> dict[str, object]:
    """One record, likewise, before it is written out."""
    model: type[Shown] = result.shown if isinstance(result, Kept) else result.model
    return encoder(model, rights)([result.row])[0] | name_hidden(model, rights, [result.row])


def to_answer(
    record: Kept, rights: Rights, office: str, actions: Sequence[str], more: Mapping[str, object] = _NOTHING
) -> bytes:
    """One record, likewise, with where it is seen in the office at this address, and with what can be done to it.

    And with what else is to be said after a change, by names of its own.
    """
    answer = _answer_encoder(record.shown, rights)(office, actions, *record.row)
    hidden = name_hidden(record.shown, rights, [record.row])
    return orjson.dumps(answer | hidden | dict(more) if hidden or more else answer)


def name_hidden(model: type[Shown], rights: Rights, rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return, as `hidden`, the names of the fields that are null in these rows because of rights that are missing."""
    always, sometimes = _find_hidden(model, rights)
    if not always and not sometimes:
        return {}
    hidden = [name for name, place, values in sometimes if any(row[place] in values for row in rows)]
    return {"hidden": [*always, *hidden]} if always or hidden else {}


@cache
def _find_hidden(
    model: type[Shown], rights: Rights
) -> tuple[tuple[str, ...], tuple[tuple[str, int, tuple[str, ...]], ...]]:
    """The fields that are hidden whatever they say, and those that are for some values, with their columns."""
    always, sometimes = [], []
    for place, name in enumerate(column_names(model)):
        field = model.model_fields[name]
        if is_hidden(field.metadata, rights):
            always.append(field.alias or name)
        elif values := withheld(field.metadata, rights):
            sometimes.append((field.alias or name, place, values))
    return tuple(always), tuple(sometimes)


def different(before: Kept, after: Kept) -> list[str]:
    """The fields in which a record differs from what it was, but for what every change changes."""
    values = zip(_told_columns(after.shown), before.row, after.row, strict=True)
    return [name for name, was, is_now in values if was != is_now and name is not None]


@cache
def _told_columns(model: type[Shown]) -> tuple[str | None, ...]:
    """What the fields are called, column by column; None for what every change changes."""
    fields = model.model_fields
    return tuple(None if name in _ALWAYS else fields[name].alias or name for name in column_names(model))


@cache
def encoder(model: type[Shown], rights: Rights) -> Encoder:
    """What turns rows of a model into records for those who have these rights.

    It is written out for them: `[{"object": noun, "id": c0, …} for c0, … in rows]`. A loop over fields and their turns
    costs five times as much for a page.
    """
    columns, record = _written_out(model, rights)
    compiled: Encoder = eval(f"lambda rows: [{{{record}}} for ({columns}) in rows]", dict(_TURNS))
    return compiled


@cache
def _answer_encoder(model: type[Shown], rights: Rights) -> Callable[..., dict[str, object]]:
    """What turns one row into an answer, likewise: `lambda office, actions, c0, …: {"object": noun, "id": c0, …}`."""
    columns, record = _written_out(model, rights)
    # A record with an address of its own, such as a webhook's, keeps it.
    if model.place and "url" not in model.model_fields:
        identity = f"c{column_names(model).index('id')}"
        record += ", 'url': office + " + f" + {identity} + ".join(repr(part) for part in model.place.split("{id}"))
    source = f"lambda office, actions, {columns}: {{{record}, 'availableActions': actions}}"
    compiled: Callable[..., dict[str, object]] = eval(source, dict(_TURNS))
    return compiled


def _written_out(model: type[Shown], rights: Rights) -> tuple[str, str]:
    """The names of a row's columns, and the inside of the record that is made of them, as source."""
    names = column_names(model)
    currency = f"c{names.index('currency')}" if "currency" in names else ""
    shown = [f"'object': {model.noun!r}"]
    for number, name in enumerate(names):
        field = model.model_fields[name]
        turned = "None" if is_hidden(field.metadata, rights) else _shown(field.annotation, f"c{number}", currency)
        if untold := withheld(field.metadata, rights):
            turned = f"None if c{number} in {untold!r} else {turned}"
        shown.append(f"{(field.alias or name)!r}: {turned}")
    return "".join(f"c{number}, " for number in range(len(names))), ", ".join(shown)


@cache
def column_names(model: type[Shown]) -> tuple[str, ...]:
    """The columns of a row, in their order: the fields of the model behind `object`."""
    return tuple(name for name in model.model_fields if name != "object")


# What every change changes.
_ALWAYS = {"updated_at", "updated_by", "version"}
# Few prices are in use, and each stands in many rows.
_TURNS = {"price": lru_cache(4096)(price_text), "money": lru_cache(4096)(amount_text), "embed": orjson.Fragment}


def _shown(kind: Any, column: str, currency: str) -> str:
    """The expression for a field: how what is kept in a column is shown, in the currency of another."""
    nullable = type(None) in get_args(kind)
    if nullable:
        kind = get_args(kind)[0]
    if kind is PriceText:
        turned = f"price({column})"
    elif kind is MoneyText:
        turned = f"money({column}, {currency})"
    elif kind is bool:
        turned = f"{column} == 1"
    elif get_origin(kind) in {list, dict} or (isinstance(kind, type) and issubclass(kind, BaseModel)):
        # Lists and records within a record are kept as JSON, and go out as they stand.
        turned = f"embed({column})"
    else:
        return column
    return f"None if {column} is None else {turned}" if nullable else turned
