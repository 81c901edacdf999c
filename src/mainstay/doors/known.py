"""What is told to whoever sends a field that there is not: the ones there are."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, get_args

from pydantic import BaseModel

from mainstay.terms.faults import UNKNOWN
from mainstay.terms.refusal import Fault, Invalid


def naming_known(faults: Sequence[Fault], model: type[BaseModel], elsewhere: Collection[str] = ()) -> Invalid:
    """The faults as a refusal, with the known fields beside the first that is not known.

    Beside one only: whoever sends a thousand wrong names is not sent the right ones a thousand times. What stands
    elsewhere, such as in a path, cannot be sent as a field.
    """
    told = list(faults)
    for place, fault in enumerate(faults):
        if fault.problem == UNKNOWN:
            *within, _ = fault.field.split(".")
            if names := [name for name in _names(model, within) if name not in elsewhere]:
                told[place] = replace(fault, problem=f"{UNKNOWN} (known: {', '.join(names)})")
            break
    return Invalid(told)


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
