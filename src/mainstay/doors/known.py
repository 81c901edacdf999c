"""What is told to whoever sends a field that there is not, or something else than what a field is made of."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel

from mainstay.terms.faults import NO_OBJECT, UNKNOWN
from mainstay.terms.refusal import Fault, Invalid

# Names that are often sent, and the fields that are meant by them.
_MEANT = {
    "hours": ("minutes", "durationMinutes"),
    "duration": ("minutes", "durationMinutes"),
    "date": ("on",),
    "start": ("startsAt", "startedAt"),
    "end": ("endsAt", "endedAt"),
    "query": ("text",),
    "search": ("text",),
}


def naming_known(faults: Sequence[Fault], model: type[BaseModel], elsewhere: Collection[str] = ()) -> Invalid:
    """The faults as a refusal, with the known fields beside the first that is not known.

    Beside one only: whoever sends a thousand wrong names is not sent the right ones a thousand times. What stands
    elsewhere, such as in a path, cannot be sent as a field. What is made of parts names them.
    """
    told = list(faults)
    for place, fault in enumerate(faults):
        *within, name = fault.field.split(".")
        if fault.problem == NO_OBJECT and (parts := _names(model, [*within, name])):
            told[place] = replace(fault, problem=f"{NO_OBJECT} (with {', '.join(parts)})")
        if fault.problem == UNKNOWN:
            if names := [known for known in _names(model, within) if known not in elsewhere]:
                told[place] = replace(fault, problem=f"{UNKNOWN} ({_meant(name, names)}known: {', '.join(names)})")
            break
    return Invalid(told)


def _meant(name: str, known: Sequence[str]) -> str:
    """Which field may be meant by a name that is not known, where one is close."""
    meant = [field for field in _MEANT.get(name, ()) if field in known] or get_close_matches(name, known, 1, _CLOSE)
    return f"perhaps {meant[0]}, " if meant else ""


_CLOSE = 0.75


def _names(model: type[BaseModel] | None, within: Sequence[str]) -> list[str]:
    """The names of the fields of a model, or of what lies within it."""
    if model is None:
        return []
    fields = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    if not within:
        return list(fields)
    first, *others = within
    # The place in a list is no name of a field.
    return _names(_model(fields.get(first)), [name for name in others if not name.isdecimal()])


def _model(kind: Any) -> type[BaseModel] | None:
    """The model that a field is made of, perhaps a list of them, or null."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    return next(filter(None, map(_model, get_args(kind))), None)
