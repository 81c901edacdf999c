"""Nested parts of a record that have fields of their own, such as an address, and the input models that change them."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, get_args, get_origin

from pydantic import BaseModel, Field, create_model
from pydantic.fields import FieldInfo

from mainstay.values.fields import none_if_omitted
from mainstay.values.message import Message
from mainstay.values.model_config import INPUT_CONFIG

# Added to the description of every field that is a nested part.
MERGE_NOTE = "Only the fields you send change; null clears."


class RecordPart(BaseModel):
    """A part of a record. A change to the record that sends a part changes only the fields it sends."""

    model_config = INPUT_CONFIG

    @classmethod
    def find_warnings(cls, _path: str, _before: Mapping[str, Any], _sent: Mapping[str, Any]) -> list[Message]:
        """Return warnings about a change of the part at this path."""
        return []


class PartChange(BaseModel):
    """The fields of a part to change; null clears."""

    model_config = INPUT_CONFIG

    part: ClassVar[type[RecordPart]]


def find_part(kind: Any) -> type[RecordPart] | None:
    """Return the nested part that a field holds, if any.

    For `Annotated[Address, …] | None` it returns `Address`.
    """
    if isinstance(kind, type):
        return kind if issubclass(kind, RecordPart) else None
    if get_origin(kind) in {list, dict}:
        return None
    return next(filter(None, map(find_part, get_args(kind))), None)


def is_nullable(kind: Any) -> bool:
    """Return whether a field accepts null."""
    if get_origin(kind) is Annotated:
        return is_nullable(get_args(kind)[0])
    return type(None) in get_args(kind)


@cache
def make_change_model(part: type[RecordPart]) -> type[PartChange]:
    """Return the input model for a change of a part: the same fields, all of them optional."""
    fields: dict[str, Any] = {name: _make_change_field(field) for name, field in part.model_fields.items()}
    name = f"{part.__name__}Change"
    change = create_model(name, __base__=PartChange, __doc__=part.__doc__, __module__=part.__module__, **fields)
    change.part = part
    return change


def _make_change_field(field: FieldInfo) -> tuple[Any, Any]:
    nested = find_part(field.annotation)
    kind: Any = make_change_model(nested) if nested else field.annotation
    if field.metadata and not nested:
        kind = Annotated[(kind, *field.metadata)]
    # Null clears a field that is nullable in the part, or that has a default value. A default factory marks a field
    # that may be left out but not be null (see `omittable_field`).
    if is_nullable(field.annotation) or not (field.is_required() or field.default_factory):
        return kind | None, copy_field(field, default=None)
    return kind, copy_field(field, default_factory=none_if_omitted)


def copy_field(field: FieldInfo, **overrides: Any) -> Any:
    """Return a field with the name and description of another one, except for these arguments."""
    names = ("alias", "title", "description", "examples", "json_schema_extra")
    return Field(**{name: getattr(field, name) for name in names} | overrides)
