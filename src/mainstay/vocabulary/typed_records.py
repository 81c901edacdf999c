"""Answers as typed records: output models made of the JSON that programs get, without checking it again."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from operator import itemgetter
from types import MappingProxyType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


def to_record(model: type[M], values: Mapping[str, Any]) -> M:
    """Return the record that an answer describes. Values that belong to no field are its extra values."""
    record: M = _compile_reader(model)(values)
    names = _alias_names(model)
    if len(values) > len(names):
        extra_values = {name: values[name] for name in values.keys() - names.keys()}
        _set_extra_values(record, extra_values)
    return record


def extend_record(model: type[M], record: BaseModel, **values: object) -> M:
    """Return a record with further fields, those of a model that extends the record's own."""
    extended: M = _make_constructor(model)({**vars(record), **values})
    _set_extra_values(extended, record.__pydantic_extra__)
    return extended


_NO_VALUES: Mapping[str, Any] = MappingProxyType({})
_PLAIN_TYPES = {str, int, bool, type(None)}


class RecordFields(Mapping[str, Any]):
    """The fields of a record by their names in JSON, for code that walks any record as a layout or a form says."""

    __slots__ = ("_extra_values", "_names", "_values")

    def __init__(self, record: BaseModel) -> None:
        self._names, self._values = _alias_names(type(record)), vars(record)
        self._extra_values = record.__pydantic_extra__ or _NO_VALUES

    def __getitem__(self, name: str) -> Any:
        """Return the value of a field or an extra value; records within it are such mappings as well."""
        if name not in self._names:
            return self._extra_values[name]
        value = self._values[self._names[name]]
        return value if value.__class__ in _PLAIN_TYPES else _to_fields(value)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a field or an extra value, if there is one."""
        return self[name] if name in self._names or name in self._extra_values else default

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter((*self._names, *self._extra_values))

    def __len__(self) -> int:
        """Return the number of fields."""
        return len(self._names) + len(self._extra_values)


def _to_fields(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return RecordFields(value)
    if isinstance(value, list):
        return [_to_fields(part) for part in value]
    return value


@cache
def _alias_names(model: type[BaseModel]) -> dict[str, str]:
    """Return the name of each field by its name in JSON."""
    return {field.alias or name: name for name, field in model.model_fields.items()}


@cache
def _compile_reader(model: type[BaseModel]) -> Callable[[Mapping[str, Any]], Any]:
    """Compile the function that makes a record: `lambda values: make({"id": values.get("id"), …})`.

    It is generated as source, because a loop over the fields would cost several times as much for a page.
    """
    names: dict[str, Any] = {}
    entries = [
        f"{name!r}: {_value_expression(field.annotation, f'values.get({(field.alias or name)!r})', names)}"
        for name, field in model.model_fields.items()
    ]
    names["make"] = _make_constructor(model)
    reader: Callable[[Mapping[str, Any]], Any] = eval(f"lambda values: make({{{', '.join(entries)}}})", names)
    return reader


def _make_constructor(model: type[M]) -> Callable[[dict[str, Any]], M]:
    new, fields_set = model.__new__, set(model.model_fields)

    def make(fields: dict[str, Any]) -> M:
        record = new(model)
        _set_fields(record, fields)
        _set_fields_set(record, fields_set)
        _set_extra_values(record, None)
        _set_private_values(record, None)
        return record

    return make


# What a model consists of. Records are frozen, so their own `__setattr__` refuses.
_set_fields, _set_fields_set, _set_extra_values, _set_private_values = (
    BaseModel.__dict__[name].__set__
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


def _value_expression(kind: Any, value: str, names: dict[str, Any]) -> str:
    """Return the source that converts a JSON value to the type of a field, and add what it needs to the names."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _value_expression(arguments[0], value, names)
    if origin in {Union, UnionType}:
        kinds = [one for one in arguments if one is not type(None)]
        return _value_expression(kinds[0], value, names) if len(kinds) == 1 else value
    if origin in {list, dict}:
        part = _value_expression(arguments[-1], "part", names)
        if part == "part":
            return value
        each = f"[{part} for part in it]" if origin is list else f"{{key: {part} for key, part in it.items()}}"
        return f"(None if (it := {value}) is None else {each})"
    converter = _find_converter(kind)
    if converter is None:
        return value
    name = f"c{len(names)}"
    names[name] = converter
    return f"(None if (it{name} := {value}) is None else {name}(it{name}))"


def _find_converter(kind: Any) -> Callable[[Any], Any] | None:
    if not isinstance(kind, type):
        return None
    if issubclass(kind, BaseModel):
        return _compile_reader(kind)
    if issubclass(kind, Enum):
        return {member.value: member for member in kind}.__getitem__
    if not is_dataclass(kind):
        return None
    values_of = itemgetter(*(field.name for field in fields(kind)))
    return lambda values: kind(*values_of(values))
