"""Hints in refusals: which fields are known when an unknown field, or something other than an object, was sent."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel

from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Fault, Invalid, template_of
from mainstay.vocabulary.validation import NOT_AN_OBJECT, UNKNOWN_FIELD

# Wrong names that are often sent, and the fields that are probably meant.
_PROBABLE_FIELDS = {
    "hours": ("minutes", "durationMinutes"),
    "duration": ("minutes", "durationMinutes"),
    "date": ("on",),
    "start": ("startsAt", "startedAt"),
    "end": ("endsAt", "endedAt"),
    "query": ("text",),
    "search": ("text",),
}


def add_field_hints(
    faults: Sequence[Fault],
    model: type[BaseModel],
    path_fields: Collection[str] = (),
    more_fields: Sequence[str] = (),
) -> Invalid:
    """Return a refusal of the faults that lists the known fields at the first unknown one.

    Only the first unknown field gets the list, so that a request with a thousand wrong names gets it once. The names
    in `path_fields` are left out, because they cannot be sent as fields; those in `more_fields` are added, because the
    door takes them itself. If an object was expected and something else was sent, the fault names the object's fields.
    """
    hinted = list(faults)
    for index, fault in enumerate(faults):
        *path, name = fault.field.split(".")
        if template_of(fault) == NOT_AN_OBJECT and (parts := _field_names(model, [*path, name])):
            hint = Message("is not an object (with {fields})", fields=", ".join(parts))
            hinted[index] = replace(fault, message=hint)
        if template_of(fault) == UNKNOWN_FIELD:
            own_names = [known for known in _field_names(model, path) if known not in path_fields]
            if names := [*own_names, *(() if path else more_fields)]:
                hint = Message(
                    "is not known here ({suggestion}known: {fields})",
                    suggestion=_suggest_field(name, names),
                    fields=", ".join(names),
                )
                hinted[index] = replace(fault, message=hint)
            break
    return Invalid(hinted)


def _suggest_field(name: str, known_fields: Sequence[str]) -> Message | str:
    """Return a hint at the field that an unknown name may mean, or no text if none is close."""
    candidates = [field for field in _PROBABLE_FIELDS.get(name, ()) if field in known_fields] or get_close_matches(
        name, known_fields, 1, _MIN_SIMILARITY
    )
    return Message("perhaps {field}, ", field=candidates[0]) if candidates else ""


_MIN_SIMILARITY = 0.75


def _field_names(model: type[BaseModel] | None, path: Sequence[str]) -> list[str]:
    """Return the field names of a model, or of the model at a path within it."""
    if model is None:
        return []
    fields = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    if not path:
        return list(fields)
    first, *others = path
    # A number in the path is a position in a list, not a field name.
    return _field_names(_find_model(fields.get(first)), [name for name in others if not name.isdecimal()])


def _find_model(annotation: Any) -> type[BaseModel] | None:
    """Return the model in a field's annotation, which may be a list of it or optional; None if there is none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_find_model, get_args(annotation))), None)
