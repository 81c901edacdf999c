"""Edit conflicts: changes by others while a form was open, merged with what was typed into it.

A form of a record carries a short hash, a mark, of each value that it showed. A value that still has its mark was not
edited, and is shown again as it is now. Any other value was typed. Marks need no script and do not reveal the values.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mainstay.doors.pages.form_fields import ROWS, FormField
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Conflict, join_messages

# The name of the hidden field with the marks.
MARKS_FIELD = "shown"
# The length of a mark in letters: enough to distinguish some thousand values of one form.
_MARK_LENGTH = 6

FormFields = Mapping[str, str]
# The fields of a form, grouped by what is edited as a unit: a text, a set of tick boxes, all rows of a list.
Parts = Mapping[str, FormFields]


class EditConflict(Conflict):
    """A conflict with someone else's change. The form is shown again with that change merged in."""

    def __init__(self, changed_by_both: Sequence[str], removed: Sequence[str] = ()) -> None:
        """Take the labels of what both people changed, and of what this person changed but the other removed."""
        sentences = [
            Message(
                "Someone else changed this after you opened it, so nothing was saved. Their changes are shown below. "
                "Check them, then save again."
            )
        ]
        if changed_by_both:
            sentences.append(
                Message(
                    "You both changed: {fields}. Your version is shown and replaces theirs if you save.",
                    fields=_join_names(changed_by_both),
                )
            )
        if removed:
            sentences.append(Message("Someone else removed what you edited: {fields}.", fields=_join_names(removed)))
        super().__init__(join_messages(sentences))


class MergedForm(NamedTuple):
    """The merged values of a form, and the names of the parts that both people changed."""

    parts: dict[str, FormFields]
    changed_by_both: list[str]

    @property
    def fields(self) -> dict[str, str]:
        """All fields of the form."""
        return {name: text for part in self.parts.values() for name, text in part.items()}


class ShownMarks:
    """What a form showed, known by its marks. Without marks, every value counts as typed."""

    def __init__(self, typed: FormFields) -> None:
        marks = typed.get(MARKS_FIELD, "")
        self._marks = {marks[position : position + _MARK_LENGTH] for position in range(0, len(marks), _MARK_LENGTH)}

    def has_shown(self, name: str, fields: FormFields) -> bool:
        """Return whether the form showed these values."""
        return _build_mark(name, fields) in self._marks

    def merge(self, typed: Parts, current: Parts) -> MergedForm:
        """Merge the typed parts with the current ones. Parts that were not on the form are taken as they are now."""
        parts: dict[str, FormFields] = {}
        changed_by_both = []
        for name, theirs in current.items():
            typed_fields = typed.get(name, theirs)
            is_typed = not self.has_shown(name, typed_fields)
            parts[name] = typed_fields if is_typed else theirs
            if (
                is_typed
                and not self.has_shown(name, theirs)
                and _build_mark(name, typed_fields) != _build_mark(name, theirs)
            ):
                changed_by_both.append(name)
        return MergedForm(parts, changed_by_both)


def build_marks(parts: Parts) -> str:
    """Return the marks of what a form shows."""
    return "".join(_build_mark(name, fields) for name, fields in parts.items())


def add_marks(form_fields: Sequence[FormField], fields: FormFields) -> dict[str, str]:
    """Return the initial fields of a form together with their marks."""
    return {**fields, MARKS_FIELD: build_marks(group_fields(form_fields, fields))}


def merge_changes(
    form_fields: Sequence[FormField], typed: FormFields, current: FormFields
) -> tuple[dict[str, str], EditConflict]:
    """Merge a form with the record's current values. Return its new fields, and the conflict to show."""
    typed_parts = group_fields(form_fields, typed)
    merged = ShownMarks(typed).merge(typed_parts, group_fields(form_fields, current))
    form_names = {name for part in typed_parts.values() for name in part}
    other_fields = {name: text for name, text in typed.items() if name not in form_names}
    fields = other_fields | merged.fields | {MARKS_FIELD: build_marks(group_fields(form_fields, current))}
    return fields, EditConflict(form_field_labels(form_fields, merged.changed_by_both))


def form_field_labels(form_fields: Sequence[FormField], names: Sequence[str]) -> list[str]:
    """Return the labels of the named form fields."""
    labels = {field.name: label for label, field in _walk_units(form_fields)}
    return [labels[name] for name in names if name in labels]


def group_fields(form_fields: Sequence[FormField], fields: FormFields) -> dict[str, FormFields]:
    """Group the fields of a form by the form field that they belong to."""
    return {
        field.name: {
            name: text
            for name, text in fields.items()
            if name == field.name or name.startswith((f"{field.name} ", f"{field.name}."))
        }
        for _, field in _walk_units(form_fields)
    }


def _walk_units(form_fields: Sequence[FormField]) -> Iterator[tuple[str, FormField]]:
    """Yield the form fields that are edited as a unit, with their labels. All rows of a list are one unit."""
    for field in form_fields:
        if field.parts and field.kind != ROWS:
            yield from ((field.label, part) for _, part in _walk_units(field.parts))
        else:
            yield field.label, field


def _build_mark(name: str, fields: FormFields) -> str:
    """Return the mark of some fields. An empty field counts as missing."""
    filled = sorted((field, text.strip()) for field, text in fields.items() if text.strip())
    digest = hashlib.sha256(repr((name, filled)).encode()).digest()
    return urlsafe_b64encode(digest)[:_MARK_LENGTH].decode()


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
