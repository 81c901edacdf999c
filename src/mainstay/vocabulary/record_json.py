"""Convert rows to JSON with functions that are compiled once from the output models.

A row is converted directly, because making a model of each row would cost ten times as much as the query. The model is
still the only source: the conversion is compiled from it, and a test checks the result against the model's schema.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NewType, get_args, get_origin

import orjson
from pydantic import BaseModel

from mainstay.infrastructure.database import Row
from mainstay.values.money import amount_text, price_text
from mainstay.vocabulary.permissions import Permission, Permissions, find_withheld_values, is_hidden
from mainstay.vocabulary.schemas import Output, PageResult, RecordResult, StoredRecord

PriceText = NewType("PriceText", str)
# An amount in the currency that the record names, stored in its minor unit.
MoneyText = NewType("MoneyText", str)

# What an operation returns: records from the database, or an output model.
Result = StoredRecord | RecordResult[Any] | PageResult[Any] | Output
Encoder = Callable[[Sequence[Row]], list[dict[str, object]]]

# Events go to the organisation's own programs, so nothing is hidden in them.
ALL_PERMISSIONS: Permissions = frozenset(Permission)

_NO_FIELDS: Mapping[str, object] = MappingProxyType({})


def to_json(result: Result, permissions: Permissions = ALL_PERMISSIONS) -> bytes:
    """Return a result as JSON, as people with these permissions see it."""
    if isinstance(result, PageResult):
        model: type[Output] = result.model
        envelope: dict[str, object] = {"object": "list", "data": compile_encoder(model, permissions)(result.rows)}
        envelope |= {"hasMore": result.has_more} | make_totals_field(result)
        return orjson.dumps(envelope | make_hidden_field(model, permissions, result.rows))
    if isinstance(result, Output):
        return result.__pydantic_serializer__.to_json(result, by_alias=True)
    return orjson.dumps(to_dict(result, permissions))


def make_totals_field(page: PageResult[Any]) -> dict[str, object]:
    """Return the field `totals` of a list, if its sums were asked for."""
    return {} if page.totals is None else {"totals": page.totals.model_dump(by_alias=True)}


def to_dict(result: StoredRecord | RecordResult[Any], permissions: Permissions = ALL_PERMISSIONS) -> dict[str, object]:
    """Return one record as a dictionary for JSON, as people with these permissions see it."""
    model: type[Output] = result.output if isinstance(result, StoredRecord) else result.model
    return compile_encoder(model, permissions)([result.row])[0] | make_hidden_field(model, permissions, [result.row])


def to_answer(
    record: StoredRecord,
    permissions: Permissions,
    office_url: str,
    actions: Sequence[str],
    extra_fields: Mapping[str, object] = _NO_FIELDS,
) -> bytes:
    """Return one record as JSON, with the address of its office page, its available actions and extra fields.

    The extra fields are those that the answer to a change contains besides the record's own.
    """
    answer = _compile_answer_encoder(record.output, permissions)(office_url, actions, *record.row)
    hidden = make_hidden_field(record.output, permissions, [record.row])
    return orjson.dumps(answer | hidden | dict(extra_fields) if hidden or extra_fields else answer)


def make_hidden_field(model: type[Output], permissions: Permissions, rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the field `hidden`: the names of the fields that are null in these rows for lack of a permission."""
    always, sometimes = _find_hidden(model, permissions)
    if not always and not sometimes:
        return {}
    hidden = [name for name, position, values in sometimes if any(row[position] in values for row in rows)]
    return {"hidden": [*always, *hidden]} if always or hidden else {}


@cache
def _find_hidden(
    model: type[Output], permissions: Permissions
) -> tuple[tuple[str, ...], tuple[tuple[str, int, tuple[str, ...]], ...]]:
    """Return the fields that are always hidden, and those hidden for some values, with their columns."""
    always, sometimes = [], []
    for position, name in enumerate(column_names(model)):
        field = model.model_fields[name]
        if is_hidden(field.metadata, permissions):
            always.append(field.alias or name)
        elif values := find_withheld_values(field.metadata, permissions):
            sometimes.append((field.alias or name, position, values))
    return tuple(always), tuple(sometimes)


def find_changed_fields(before: StoredRecord, after: StoredRecord) -> list[str]:
    """Return the fields that differ between two versions of a record, except those that every change changes."""
    values = zip(_field_names(after.output), before.row, after.row, strict=True)
    return [name for name, was, is_now in values if was != is_now and name is not None]


@cache
def _field_names(model: type[Output]) -> tuple[str | None, ...]:
    """Return the JSON name of each column; None for those that every change changes."""
    fields = model.model_fields
    return tuple(None if name in _ALWAYS_CHANGED else fields[name].alias or name for name in column_names(model))


@cache
def compile_encoder(model: type[Output], permissions: Permissions) -> Encoder:
    """Compile the function that converts rows of a model to dictionaries for people with these permissions.

    It is generated as source: `[{"object": noun, "id": c0, …} for c0, … in rows]`. A loop over fields and their
    converters would cost five times as much for a page.
    """
    columns, record = _record_source(model, permissions)
    compiled: Encoder = eval(f"lambda rows: [{{{record}}} for ({columns}) in rows]", dict(_CONVERTERS))
    return compiled


@cache
def _compile_answer_encoder(model: type[Output], permissions: Permissions) -> Callable[..., dict[str, object]]:
    """Compile the function that converts a row to an answer: `lambda office, actions, c0, …: {"id": c0, …}`."""
    columns, record = _record_source(model, permissions)
    # A record with an address of its own, such as a webhook, keeps that.
    if model.office_path and "url" not in model.model_fields:
        record_id = f"c{column_names(model).index('id')}"
        record += ", 'url': office + " + f" + {record_id} + ".join(
            repr(part) for part in model.office_path.split("{id}")
        )
    source = f"lambda office, actions, {columns}: {{{record}, 'availableActions': actions}}"
    compiled: Callable[..., dict[str, object]] = eval(source, dict(_CONVERTERS))
    return compiled


def _record_source(model: type[Output], permissions: Permissions) -> tuple[str, str]:
    """Return the variables of a row, and the entries of the dictionary made of them, both as source."""
    names = column_names(model)
    currency = f"c{names.index('currency')}" if "currency" in names else ""
    entries = [f"'object': {model.noun!r}"]
    for number, name in enumerate(names):
        field = model.model_fields[name]
        expression = (
            "None"
            if is_hidden(field.metadata, permissions)
            else _value_expression(field.annotation, f"c{number}", currency)
        )
        if withheld_values := find_withheld_values(field.metadata, permissions):
            expression = f"None if c{number} in {withheld_values!r} else {expression}"
        entries.append(f"{(field.alias or name)!r}: {expression}")
    return "".join(f"c{number}, " for number in range(len(names))), ", ".join(entries)


@cache
def column_names(model: type[Output]) -> tuple[str, ...]:
    """Return the columns of a row in their order: the fields of the model after `object`."""
    return tuple(name for name in model.model_fields if name != "object")


# The fields that every change changes.
_ALWAYS_CHANGED = {"updated_at", "updated_by", "version"}
# Few different prices are in use, and each is in many rows.
_CONVERTERS = {"price": lru_cache(4096)(price_text), "money": lru_cache(4096)(amount_text), "embed": orjson.Fragment}


def _value_expression(kind: Any, column: str, currency: str) -> str:
    """Return the source that converts a stored column to its JSON value, in the currency of another column."""
    nullable = type(None) in get_args(kind)
    if nullable:
        kind = get_args(kind)[0]
    if kind is PriceText:
        expression = f"price({column})"
    elif kind is MoneyText:
        expression = f"money({column}, {currency})"
    elif kind is bool:
        expression = f"{column} == 1"
    elif get_origin(kind) in {list, dict} or (isinstance(kind, type) and issubclass(kind, BaseModel)):
        # Nested lists and records are stored as JSON, and are passed on unchanged.
        expression = f"embed({column})"
    else:
        return column
    return f"None if {column} is None else {expression}" if nullable else expression
