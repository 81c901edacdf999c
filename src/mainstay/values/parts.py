"""Parts of a record that have fields of their own, such as an address, and the changes of such a part."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, get_args, get_origin

from pydantic import BaseModel, Field, create_model
from pydantic.fields import FieldInfo

from mainstay.values.models import GIVEN

# What every field says that is a part.
MERGED = "Merged with what is there; null clears."


class Part(BaseModel):
    """A part of a record. A change of the record changes only the fields of it that are sent."""

    model_config = GIVEN

    @classmethod
    def find_doubts(cls, _before: Mapping[str, Any], _sent: Mapping[str, Any]) -> list[str]:
        """Return what is worth a look after a change, one sentence each that begins with the name of a field."""
        return []


class PartChange(BaseModel):
    """The fields of a part that a change sends. A field that can be empty takes null, which clears it."""

    model_config = GIVEN

    part: ClassVar[type[Part]]


def find_part(kind: Any) -> type[Part] | None:
    """Return the part that a field is, if it is one: `Annotated[Address, …] | None` is an Address."""
    if isinstance(kind, type):
        return kind if issubclass(kind, Part) else None
    if get_origin(kind) in {list, dict}:
        return None
    return next(filter(None, map(find_part, get_args(kind))), None)


def is_nullable(kind: Any) -> bool:
    """Return whether a field takes null."""
    if get_origin(kind) is Annotated:
        return is_nullable(get_args(kind)[0])
    return type(None) in get_args(kind)


@cache
def change_of(part: type[Part]) -> type[PartChange]:
    """Return the model of a change of a part: the same fields, none of which has to be sent."""
    fields: dict[str, Any] = {name: _changeable(field) for name, field in part.model_fields.items()}
    name = f"{part.__name__}Change"
    change = create_model(name, __base__=PartChange, __doc__=part.__doc__, __module__=part.__module__, **fields)
    change.part = part
    return change


def _changeable(field: FieldInfo) -> tuple[Any, Any]:
    inner = find_part(field.annotation)
    kind: Any = change_of(inner) if inner else field.annotation
    if field.metadata and not inner:
        kind = Annotated[(kind, *field.metadata)]
    # Null clears what may be null in the whole part, and what has a value of its own when nothing is sent.
    if is_nullable(field.annotation) or not (field.is_required() or field.default_factory):
        return kind | None, described_as(field, default=None)
    return kind, described_as(field, default_factory=_get_none)


def described_as(field: FieldInfo, **other: Any) -> Any:
    """Return a field that is named and described as another one, but for these facts."""
    names = ("alias", "title", "description", "examples", "json_schema_extra")
    return Field(**{name: getattr(field, name) for name in names} | other)


def _get_none() -> None:
    return None
