"""Changes of the parts of a record, such as its address: merged field by field with what is there."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError, create_model

from mainstay.terms.faults import faults_of
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.shapes import Input, Kept
from mainstay.terms.wire import column_names
from mainstay.values.parts import MERGED, PartChange, change_of, described_as, find_part, is_nullable

G = TypeVar("G", bound=Input)


def make_change_input(model: type[G]) -> type[G]:
    """Return what a change of a record is given: the same input, of whose parts not every field has to be sent."""
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if part := find_part(field.annotation):
            kind: Any = change_of(part) | None if is_nullable(field.annotation) else change_of(part)
            words = f"{field.description} {MERGED}" if field.description else MERGED
            changed = described_as(field, description=words, default_factory=field.default_factory or _get_none)
            fields[name] = (Annotated[(kind, *field.metadata)] if field.metadata else kind, changed)
    if not fields:
        return model
    change: type[G] = create_model(
        model.__name__, __base__=model, __doc__=model.__doc__, __module__=model.__module__, **fields
    )
    return change


def merge_parts(given: G, record: Kept | None) -> tuple[G, list[str]]:
    """Return an input whose parts are whole, and warnings: what was not sent is as the record has it.

    Parts that the record does not show stay as they are.
    """
    merged: dict[str, Any] = {}
    warnings: list[str] = []
    faults: list[Fault] = []
    for name in sorted(given.model_fields_set):
        change = getattr(given, name)
        if not isinstance(change, PartChange) or (record and name not in column_names(record.shown)):
            continue
        alias = type(given).model_fields[name].alias or name
        sent = change.model_dump(mode="json", by_alias=True, exclude_unset=True)
        before = _read_part(record, name, sent)
        warnings += [f"{alias}.{doubt}" for doubt in change.part.find_doubts(before, sent)]
        try:
            merged[name] = _read_whole(type(given), name, _merge(before, sent))
        except ValidationError as error:
            faults += faults_of(error, alias)
    if faults:
        raise Invalid(faults)
    return (given.model_copy(update=merged) if merged else given), warnings


def _read_part(record: Kept | None, name: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a part that the record has, or else those that apply instead, if any change."""
    if record is None:
        return {}
    stored = record.row[column_names(record.shown).index(name)]
    if stored is None and sent:
        stored = record.find_usual_part(name)
    before: dict[str, Any] = {} if stored is None else orjson.loads(str(stored))
    return before


def _merge(before: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    whole = {name: value for name, value in before.items() if value is not None}
    for name, value in sent.items():
        if value is None:
            whole.pop(name, None)
        else:
            whole[name] = _merge(whole.get(name, {}), value) if isinstance(value, dict) else value
    return whole


def _read_whole(model: type[Input], name: str, fields: Mapping[str, Any]) -> Any:
    """Return a whole part, checked; None where all of it was cleared and nothing has to be there."""
    if not fields and is_nullable(model.model_fields[name].annotation):
        return None
    return _make_reader(model, name).validate_json(orjson.dumps(fields), strict=True)


@cache
def _make_reader(model: type[Input], name: str) -> TypeAdapter[Any]:
    # The model of a change derives from that of the whole, which `make_change_input` was given.
    whole: Any = model.__base__
    field = whole.model_fields[name]
    kind: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return TypeAdapter(kind)


def _get_none() -> None:
    return None
