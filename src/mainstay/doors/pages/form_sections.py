"""The sections of a form: the fields that the work needs first, and the rest behind "More options"."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.form_fields import ROWS, FormField, default_values

# A form with no more fields than this shows all of them.
MAX_FIRST_FIELDS = 6


class FormSections(NamedTuple):
    """The fields of a form as it is shown."""

    first: Sequence[FormField]
    more: Sequence[FormField] = ()
    # Whether the second section is open: one of its fields is filled in, or has a fault.
    is_open: bool = False


def order_fields(form_fields: Sequence[FormField], first_names: Sequence[str]) -> list[FormField]:
    """Return the form fields, those with the first names first and in that order."""
    positions = {name.partition(".")[0]: position for position, name in reversed([*enumerate(first_names)])}
    return sorted(form_fields, key=lambda field: positions.get(field.name, len(positions)))


def adopt_defaults(form_fields: Sequence[FormField], new_fields: Sequence[FormField]) -> list[FormField]:
    """Return the fields of a record's form with the defaults that the form for a new record has."""
    defaults = {field.name: field.default for field in new_fields}
    return [replace(field, default=defaults.get(field.name, field.default)) for field in form_fields]


def arrange_fields(
    form_fields: Sequence[FormField],
    first_names: Sequence[str],
    fields: Mapping[str, str],
    faults: Mapping[str, str],
    display: DisplaySettings,
) -> FormSections:
    """Return the sections of a form. The second is open if one of its fields has a fault, or not its default value."""
    first, more = split_fields(form_fields, first_names, fields)
    is_open = any(has_fault(field, faults) or _is_changed(field, fields, display) for field in more)
    return FormSections(first, more, is_open)


def split_fields(
    form_fields: Sequence[FormField], first_names: Sequence[str], fields: Mapping[str, str]
) -> tuple[Sequence[FormField], Sequence[FormField]]:
    """Return the fields with the first names, and the rest. A name such as `address.city` means a part of a field.

    What must be filled in and is empty comes first as well. Without names, or with few fields, there is no rest.
    """
    if not first_names or sum(map(count_inputs, form_fields)) <= MAX_FIRST_FIELDS:
        return form_fields, ()
    first, more = [], []
    for field in form_fields:
        is_needed = field.required and field.kind in _TYPED_KINDS and not fields.get(field.name, field.default)
        parts = () if field.kind == ROWS else field.parts
        first_parts = tuple(part for part in parts if part.name in first_names)
        if field.name in first_names or is_needed:
            first.append(field)
        elif first_parts:
            first.append(replace(field, parts=first_parts))
            more += [
                replace(part, required=part.required and field.required)
                for part in field.parts
                if part not in first_parts
            ]
        else:
            more.append(field)
    return first, more


def count_inputs(field: FormField) -> int:
    """Return how many questions a field asks. The rows of a list, and the boxes of a choice, are one."""
    return sum(map(count_inputs, field.parts)) if field.parts and field.kind != ROWS else 1


def has_fault(field: FormField, faults: Mapping[str, str]) -> bool:
    """Return whether a field, a part of it or one of its rows has a fault."""
    return (
        field.name in faults
        or any(has_fault(part, faults) for part in field.parts)
        or any(name.startswith(f"{field.name}.") for name in faults)
    )


def _is_changed(field: FormField, fields: Mapping[str, str], display: DisplaySettings) -> bool:
    """Return whether the value of a field is not its default."""
    if field.parts and field.kind != ROWS:
        return any(_is_changed(part, fields, display) for part in field.parts)
    return not field.upload and field.to_input(fields, display) != field.to_input(default_values([field]), display)


# Kinds that somebody has to fill in. The others always have a value, which may be empty.
_TYPED_KINDS = {"text", "email", "password", "reference", "choice", "price", "date", "wall", "moment", "area", "number"}
