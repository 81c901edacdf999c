"""Form fields, derived from the input model of an operation, and the conversion of what people typed."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.field_labels import field_label
from mainstay.doors.pages.field_values import CONVERTERS, LIST_KINDS, explain_unreadable
from mainstay.doors.pages.message_format import PageFormat, Problem, problem_sentence
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.kernel.operation import Operation
from mainstay.values.choices import TextEnum, fold_text, to_label
from mainstay.values.colours import COLOURS
from mainstay.values.descriptions import help_of
from mainstay.values.fields import DefaultValue, IdValidator, InputKind, RecordReference, Upload
from mainstay.values.message import Message
from mainstay.values.names import country_names, currency_names, current_zone_names, language_names
from mainstay.values.part_changes import PartChange
from mainstay.vocabulary.permissions import Permissions, RequiresPermission, find_withheld_values
from mainstay.vocabulary.validation import REQUIRED

Choices = Sequence[tuple[str, str]]

# The kinds that hold a date with a time.
_KINDS_WITH_TIME = {"moment", "wall"}
# The kind of a list whose rows all have the same fields.
ROWS = "rows"
# Suffix of the hidden field next to a typed record: it remembers which record was shown, and its title.
SHOWN_SUFFIX = " as shown"
# Suffix of the field for the time of day, next to that for its date.
_TIME_SUFFIX = " time"
_DAY_AND_TIME = re.compile(r"(\S+)[ T](\d{1,2}:\d{2})")
# The values of fields in an empty row.
_EMPTY_VALUES = (None, "", False)
# Input fields that are not form fields.
_NOT_IN_FORMS = {"confirmed", "preview_token"}
# Kinds with a fixed list of choices: values and their labels.
_CODE_CHOICES: dict[str, Callable[[], Choices]] = {
    "country": lambda: _sort_by_name(country_names()),
    "currency": lambda: _sort_by_name(currency_names()),
    "zone": lambda: _sort_by_name(current_zone_names()),
    # In the order in which they are displayed.
    "colour": lambda: tuple(COLOURS.items()),
}


class NewRecordLink(NamedTuple):
    """Where a record can be added that a field refers to: the form, its title, and its field for the name."""

    path: str
    label: str
    name_field: str


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of a form."""

    name: str
    label: str
    help: str | None
    kind: str
    required: bool
    choices: Choices = ()
    # The fields of a nested model such as an address, with qualified names; or the fields of each row of a list.
    parts: tuple["FormField", ...] = ()
    # The rows of a list as the form shows them, and how many are allowed.
    rows: tuple[tuple["FormField", ...], ...] = ()
    max_items: int | None = None
    # For a file field, what may be uploaded. For a reference, the id prefix of the records, and their status.
    upload: Upload | None = None
    refers_to: str | None = None
    status: str | None = None
    new_record: NewRecordLink | None = None
    # The default value, and whether the field holds a whole number.
    default: str = ""
    is_whole_number: bool = False
    # The placeholder of a date.
    example: str = ""

    @property
    def hidden_name(self) -> str:
        """The name of the hidden field that remembers which record was shown."""
        return f"{self.name}{SHOWN_SUFFIX}"

    @property
    def time_example(self) -> str:
        """The placeholder of the field for the time."""
        return "hh:mm"

    @property
    def time_name(self) -> str:
        """The name of the field for the time beside that for the date. Empty if it has none."""
        return f"{self.name}{_TIME_SUFFIX}" if self.kind in _KINDS_WITH_TIME else ""

    def split_time(self, fields: Mapping[str, str]) -> tuple[str, str]:
        """Return the date and the time as the form shows them."""
        typed = fields.get(self.name, "")
        both = _DAY_AND_TIME.fullmatch(typed.strip())
        return (both[1], both[2]) if both else (typed, fields.get(self.time_name, ""))

    def to_input(self, fields: Mapping[str, str], display: DisplaySettings) -> object:
        """Return the typed value as the operation takes it. An empty field is None if it is optional."""
        if self.kind == ROWS:
            rows = [{_last_part(part.name): part.to_input(fields, display) for part in row} for row in self.rows]
            return [row for row in rows if any(value not in _EMPTY_VALUES for value in row.values())]
        if self.parts:
            parts = {_last_part(part.name): part.to_input(fields, display) for part in self.parts}
            # An unticked box counts as a value. A required part exists even if it only consists of empty lists or of
            # such parts.
            filled_in = any(part not in (None, "", []) for part in parts.values())
            is_container = all(part.parts or part.kind in LIST_KINDS for part in self.parts)
            return parts if filled_in or (self.required and is_container) else None
        if self.kind == "flag":
            return self.name in fields
        if self.kind in {"checks", "references"}:
            chosen = [value for value, _ in self.choices if f"{self.name} {value}" in fields]
            return chosen if chosen or self.kind == "references" else None
        text = fields.get(self.name, "").strip()
        if not text and not self.required and self.kind not in LIST_KINDS:
            return None
        return CONVERTERS["whole" if self.is_whole_number else self.kind].parse(text, display)

    def to_form_values(self, value: Any, display: DisplaySettings) -> dict[str, str]:
        """Return the form values with which the field shows a record's value."""
        if self.kind == ROWS:
            rows = [(self.row_fields(number), row) for number, row in enumerate(value or ())]
            filled_in = [
                part.to_form_values(row.get(_last_part(part.name)), display) for line, row in rows for part in line
            ]
            return {name: text for part in filled_in for name, text in part.items()}
        if self.parts:
            parts = value or {}
            return {
                name: text
                for part in self.parts
                for name, text in part.to_form_values(parts.get(_last_part(part.name)), display).items()
            }
        if self.kind in {"checks", "references"}:
            return {f"{self.name} {chosen}": "on" for chosen in value or ()}
        if self.kind == "flag":
            return {self.name: "on"} if value else {}
        return {self.name: "" if value is None else CONVERTERS[self.kind].format(value, display)}

    def with_examples(self, display: DisplaySettings) -> "FormField":
        """Return the field, and the fields within it, with placeholders for dates."""
        return replace(
            self,
            example=display.date_example if self.kind == "date" or self.kind in _KINDS_WITH_TIME else "",
            parts=tuple(part.with_examples(display) for part in self.parts),
            rows=tuple(tuple(part.with_examples(display) for part in row) for row in self.rows),
        )

    def limit_choices(self, possible: Sequence[str]) -> "FormField":
        """Return the field with only the possible choices, in the given order."""
        labels = dict(self.choices)
        return replace(self, choices=[(value, labels[value]) for value in possible if value in labels])

    def row_fields(self, number: int) -> tuple["FormField", ...]:
        """Return the fields of one row, each with a name that contains the row's number."""
        return tuple(replace(part, name=f"{self.name}.{number}.{part.name}", help=None) for part in self.parts)


@cache
def form_fields_of(operation: Operation, rights: Permissions) -> tuple[FormField, ...]:
    """Return the form fields of an operation for someone with these permissions.

    The field of the record itself is left out, because the page knows the record.
    """
    id_fields = {id_field_of(operation)}
    form_fields = (
        _remove_choices(_build_field(name, field, ""), find_withheld_values(field.metadata, rights))
        for name, field in operation.input.model_fields.items()
        if name not in id_fields | _NOT_IN_FORMS and _can_send(field, rights)
    )
    return tuple(form_field for form_field in form_fields if form_field.kind)


def id_field_of(operation: Operation) -> str | None:
    """Return the input field that names the record, or records, to which an operation is done."""
    store = operation.on or operation.offered_on
    name = store.id_field if store else None
    return name if name is None or name in operation.input.model_fields else f"{name}s"


def to_operation_input(
    form_fields: Sequence[FormField], fields: Mapping[str, str], display: DisplaySettings
) -> dict[str, object]:
    """Convert the fields of a form to the input of its operation, without files."""
    return {field.name: field.to_input(fields, display) for field in form_fields if not field.upload}


def form_values_of(
    form_fields: Sequence[FormField], record: Mapping[str, Any], display: DisplaySettings
) -> dict[str, str]:
    """Return the form values of a record, with times in the record's own time zone, and defaults for the rest."""
    values: dict[str, str] = {}
    display = display._replace(zone=record.get("timeZone") or display.zone)
    for field in form_fields:
        values |= field.to_form_values(record[field.name], display) if field.name in record else default_values([field])
    return values


def default_values(form_fields: Sequence[FormField]) -> dict[str, str]:
    """Return the default values of a form."""
    return {field.name: field.default for field in form_fields if field.default not in {"", "False"}}


def order_faults(form_fields: Sequence[FormField], faults: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the faults in the order of the form, each with the name of its field if the form has that field."""
    fields = dict(_walk_labelled(form_fields))
    known = [(name, problem_sentence(label, faults[name])) for name, label in fields.items() if name in faults]
    return known + [
        ("", problem_sentence(field_label(name, fields), problem))
        for name, problem in faults.items()
        if name not in fields
    ]


def join_times(form_fields: Sequence[FormField], fields: Mapping[str, str]) -> dict[str, str]:
    """Return the sent fields with each date and its time as one text, as the operation takes them."""
    joined = {name: text for name, text in fields.items() if not name.endswith(_TIME_SUFFIX)}
    for field in form_fields:
        day, time = field.split_time(fields) if field.time_name else ("", "")
        if time.strip():
            joined[field.name] = f"{day} {time.strip()}".strip()
    return joined


def explain_faults(
    form_fields: Sequence[FormField], fields: Mapping[str, str], faults: Mapping[str, str]
) -> dict[str, str]:
    """Replace faults of fields that were left empty, or of text that could not be read, with what helps a person."""
    page_format = PageFormat(DisplaySettings("UTC", language=current_language()))
    explained = dict(faults)
    for field in form_fields:
        if field.name not in faults:
            continue
        text = fields.get(field.name, "").strip()
        if text and (message := explain_unreadable(field.kind, text)):
            explained[field.name] = page_format.render(message)
        elif not text and field.name in fields and field.required and not field.choices and not field.parts:
            # A file that was sent is not among the fields.
            sentence = translate_text("Choose {a_label}.", a_label="{a_label}") if field.refers_to else ""
            required = page_format.render_problem(Message(REQUIRED))
            explained[field.name] = Problem(required, sentence or required.sentence)
    return explained


def _walk_labelled(form_fields: Sequence[FormField]) -> Iterator[tuple[str, str]]:
    """Yield the name and label of each field, including the fields within it."""
    for field in form_fields:
        yield field.name, field.label
        yield from ((part.name, part.label) for part in field.parts if field.kind != ROWS)
        for number, row in enumerate(field.rows, 1):
            yield from (
                (part.name, f"{_row_label(field, number)}: {current_language().translate(part.label)}") for part in row
            )


def _row_label(field: FormField, number: int) -> str:
    return translate_text("{label}, row {number}", label=current_language().translate(field.label), number=number)


def _last_part(name: str) -> str:
    """Return the last part of a qualified field name."""
    return name.rpartition(".")[2]


def _build_field(name: str, field: FieldInfo, prefix: str) -> FormField:
    kind, choices, parts = _kind_of(field)
    reference = _reference_of(field)
    alias = prefix + (field.alias or name)
    return FormField(
        name=alias,
        label=field.title or to_label(name),
        # People who pick a code from a list do not need to know how it is written.
        help=None if kind in _CODE_CHOICES else help_of(field.description) or None,
        kind=kind,
        required=kind not in LIST_KINDS and (field.is_required() or not _is_nullable(field.annotation)),
        choices=choices,
        parts=tuple(
            _build_field(part, part_field, "" if kind == ROWS else f"{alias}.") for part, part_field in parts.items()
        ),
        max_items=next((most for mark in field.metadata if (most := getattr(mark, "max_length", None))), None),
        upload=next((mark for mark in field.metadata if isinstance(mark, Upload)), None),
        refers_to=reference.prefix if reference else None,
        status=reference.status if reference else None,
        default=next(
            (mark.value for mark in field.metadata if isinstance(mark, DefaultValue)),
            str(field.default) if isinstance(field.default, (str, int)) else "",
        ),
        is_whole_number=_is_whole_number(field) and kind in _WHOLE_NUMBER_KINDS,
    )


def _remove_choices(field: FormField, hidden: Sequence[str]) -> FormField:
    """Return the field without the choices that need a permission the person lacks."""
    return replace(field, choices=[choice for choice in field.choices if choice[0] not in hidden]) if hidden else field


def _is_whole_number(field: FieldInfo) -> bool:
    plain, _ = _unwrap_type(field.annotation)
    return plain is int or (get_origin(plain) is Literal and all(type(value) is int for value in get_args(plain)))


def _reference_of(field: FieldInfo) -> RecordReference | None:
    """Return which kind of record a field refers to, or None."""
    plain, annotations = _unwrap_type(field.annotation)
    inner = get_args(plain)[0] if get_origin(plain) is list else None
    for mark in (*field.metadata, *annotations, *(_unwrap_type(inner)[1] if inner else ())):
        if isinstance(mark, (IdValidator, RecordReference)):
            return RecordReference(prefix=mark.prefix) if isinstance(mark, IdValidator) else mark
    return None


def _kind_of(field: FieldInfo) -> tuple[str, Choices, dict[str, FieldInfo]]:
    """Return the kind of a form field, its choices, and the fields within it."""
    plain, metadata = _unwrap_type(field.annotation)
    for mark in (*field.metadata, *metadata):
        if isinstance(mark, InputKind):
            return mark.kind, _CODE_CHOICES[mark.kind]() if mark.kind in _CODE_CHOICES else (), {}
    if isinstance(plain, type) and issubclass(plain, BaseModel):
        # A form always sends the whole part, so an emptied field is cleared.
        model = plain.part if issubclass(plain, PartChange) else plain
        return "parts", (), model.model_fields
    if choices := _choices_of(plain):
        return "choice", choices, {}
    reference = _reference_of(field)
    if get_origin(plain) is list:
        inner, _ = _unwrap_type(get_args(plain)[0])
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            return ROWS, (), inner.model_fields
        return ("references" if reference else "list"), (), {}
    return ("reference" if reference else _KIND_OF_TYPE.get(plain, "text")), (), {}


# Kinds of a plain whole number. Prices and durations are integers too, but have kinds of their own.
_WHOLE_NUMBER_KINDS = {"number", "choice", "text"}
_KIND_OF_TYPE: dict[Any, str] = {bool: "flag", int: "number", SecretStr: "password"}


def _sort_by_name(names: Mapping[str, str]) -> Choices:
    """Return codes with their names, sorted by name regardless of case and accents."""
    return sorted(names.items(), key=lambda code: fold_text(code[1]))


def _choices_of(kind: Any) -> Choices:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [(value.value, value.label if isinstance(value, TextEnum) else to_label(value.value)) for value in kind]
    if get_origin(kind) is not Literal:
        return ()
    values, names = [str(value) for value in get_args(kind)], language_names()
    return [(value, names[value] if names.keys() >= {*values} else to_label(value)) for value in values]


def _unwrap_type(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """Split a type into itself without None and annotations, and those annotations."""
    marks: list[Any] = []
    while True:
        options = [part for part in get_args(kind) if part is not type(None)]
        if get_origin(kind) is Annotated:
            kind, *annotations = get_args(kind)
            marks += annotations
        elif _is_nullable(kind) and len(options) == 1:
            kind = options[0]
        else:
            return kind, tuple(marks)


def _is_nullable(kind: Any) -> bool:
    return type(None) in get_args(kind)


def _can_send(field: FieldInfo, rights: Permissions) -> bool:
    return all(requirement.permission in rights for requirement in _requirements_of(field))


def _requirements_of(field: FieldInfo) -> Iterator[RequiresPermission]:
    return (mark for mark in field.metadata if isinstance(mark, RequiresPermission))
