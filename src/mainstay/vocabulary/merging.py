"""Changes of nested parts of a record, such as its address: merged field by field with the stored part."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError, create_model

from mainstay.values.descriptions import add_for_programs
from mainstay.values.message import Message
from mainstay.values.part_changes import MERGE_NOTE, PartChange, copy_field, find_part, is_nullable, make_change_model
from mainstay.vocabulary.record_json import column_names
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input, StoredRecord
from mainstay.vocabulary.validation import faults_of

G = TypeVar("G", bound=Input)


def make_change_input(model: type[G]) -> type[G]:
    """Return the input model for changing a record: the same, but fields of nested parts can be left out."""
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if part := find_part(field.annotation):
            kind: Any = make_change_model(part) | None if is_nullable(field.annotation) else make_change_model(part)
            description = add_for_programs(field.description, MERGE_NOTE)
            change_field = copy_field(
                field, description=description, default_factory=field.default_factory or _get_none
            )
            fields[name] = (Annotated[(kind, *field.metadata)] if field.metadata else kind, change_field)
    if not fields:
        return model
    change: type[G] = create_model(
        model.__name__, __base__=model, __doc__=model.__doc__, __module__=model.__module__, **fields
    )
    return change


def merge_parts(given: G, record: StoredRecord | None) -> tuple[G, list[Message]]:
    """Fill the parts of an input with the stored fields that were not sent; return it, and warnings.

    Parts that are not in the output of the record stay as they are.
    """
    merged: dict[str, Any] = {}
    warnings: list[Message] = []
    faults: list[Fault] = []
    for name in sorted(given.model_fields_set):
        change = getattr(given, name)
        if not isinstance(change, PartChange) or (record and name not in column_names(record.output)):
            continue
        alias = type(given).model_fields[name].alias or name
        sent = change.model_dump(mode="json", by_alias=True, exclude_unset=True)
        before = _read_part(record, name, sent)
        warnings += change.part.find_warnings(alias, before, sent)
        try:
            merged[name] = _validate_part(type(given), name, _merge_fields(before, sent))
        except ValidationError as error:
            faults += faults_of(error, alias)
    if faults:
        raise Invalid(faults)
    return (given.model_copy(update=merged) if merged else given), warnings


def _read_part(record: StoredRecord | None, name: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored fields of a part; if it is empty and fields are sent, those of its default."""
    if record is None:
        return {}
    stored = record.row[column_names(record.output).index(name)]
    if stored is None and sent:
        stored = record.find_default_part(name)
    before: dict[str, Any] = {} if stored is None else orjson.loads(str(stored))
    return before


def _merge_fields(before: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    merged = {name: value for name, value in before.items() if value is not None}
    for name, value in sent.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merge_fields(merged.get(name, {}), value) if isinstance(value, dict) else value
    return merged


def _validate_part(model: type[Input], name: str, fields: Mapping[str, Any]) -> Any:
    """Validate and return a complete part; None if all of it was cleared and the field can be null."""
    if not fields and is_nullable(model.model_fields[name].annotation):
        return None
    return _part_adapter(model, name).validate_json(orjson.dumps(fields), strict=True)


@cache
def _part_adapter(model: type[Input], name: str) -> TypeAdapter[Any]:
    # The input model for changes derives from the full model that `make_change_input` was given.
    full_model: Any = model.__base__
    field = full_model.model_fields[name]
    kind: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return TypeAdapter(kind)


def _get_none() -> None:
    return None
