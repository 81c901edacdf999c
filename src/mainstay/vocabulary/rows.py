"""Convert rows to the records that rules use, and values to their stored form."""

from collections.abc import Callable
from dataclasses import fields
from enum import Enum
from typing import Any, Literal, TypeGuard, TypeVar, get_args, get_origin, get_type_hints

import orjson
from pydantic import BaseModel

from mainstay.infrastructure.database import Row, Value
from mainstay.values.part_changes import PartChange
from mainstay.vocabulary.record_json import column_names
from mainstay.vocabulary.schemas import StoredRecord

K = TypeVar("K", bound=StoredRecord)


def rule_column_names(record_type: type[StoredRecord]) -> list[str]:
    """Return the names of the columns that only rules need: they are no fields of the output model."""
    shown = set(column_names(record_type.output))
    return [one.name for one in fields(record_type)[1:] if one.name not in shown]


def compile_row_reader(record_type: type[K]) -> Callable[[Row], K]:
    """Compile the function that makes a record of a row: `lambda row: kept(row[:9], row[0], turn5(row[5]))`.

    A row has the columns of the output model, followed by the columns that only rules need.
    """
    output_columns = column_names(record_type.output)
    columns = [*output_columns, *rule_column_names(record_type)]
    hints = get_type_hints(record_type)
    names: dict[str, Any] = {"kept": record_type}
    arguments = [f"row[:{len(output_columns)}]"]
    for record_field in fields(record_type)[1:]:
        position, converter = columns.index(record_field.name), _find_converter(hints[record_field.name])
        names[f"turn{position}"] = converter
        arguments.append(f"turn{position}(row[{position}])" if converter else f"row[{position}]")
    compiled: Callable[[Row], K] = eval(f"lambda row: kept({', '.join(arguments)})", names)
    return compiled


def to_stored(value: Any) -> Value:
    """Return a value in its stored form; nested lists and records become JSON."""
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, BaseModel) and not isinstance(value, PartChange):
        return value.model_dump_json(by_alias=True)
    if isinstance(value, (list, dict)):
        return orjson.dumps(value).decode()
    raise TypeError(f"A {type(value).__name__} is not kept.")


def _find_converter(kind: Any) -> Callable[[Any], Any] | None:
    """Return the function that converts a stored value to a Python value, if it must be converted."""
    inner = [part for part in get_args(kind) if part is not type(None)]
    if len(inner) == 1 and get_origin(kind) not in {list, dict, Literal}:
        converter = _find_converter(inner[0])
        return converter and (lambda value: None if value is None else converter(value))
    if kind is bool:
        return bool
    if get_origin(kind) in {list, dict}:
        return orjson.loads
    # By a table: calling the enum costs ten times as much.
    return {member.value: member for member in kind}.__getitem__ if _is_enum(kind) else None


def _is_enum(kind: Any) -> TypeGuard[type[Enum]]:
    return isinstance(kind, type) and issubclass(kind, Enum)
