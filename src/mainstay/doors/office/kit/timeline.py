"""The history of a record in words, made of the past-tense texts of operations."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from mainstay.business.importing.undo import UNDO_IMPORT
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.infrastructure.rehashing import HASH_ROWS
from mainstay.kernel.catalogue import Catalogue
from mainstay.kernel.operation import Operation
from mainstay.values.choices import label_in_text, to_label
from mainstay.values.message import Message

_MAX_LENGTH = 120

# What is neither an operation nor done by the system on its own: an import undone from its page, and migrations.
_OTHER_PAST_TEXTS = {
    UNDO_IMPORT: Message("Removed when its import was undone").template,
    HASH_ROWS: Message("Stored rows hashed").template,
}
# Endings of texts to which the changed fields are added, and how many fields at most.
_ENDINGS_WITH_FIELDS, _MAX_FIELDS = ("edited", "changed", "saved"), 5


def describe_action(
    catalogue: Catalogue, name: str, action_input: Mapping[str, Any], fields: Sequence[str] = ()
) -> str:
    """Return the text of an action: `Visit planned`, `Job: in progress`, `Hours rejected: Which job was it?`.

    If a form was saved, the text names the changed fields: `Details edited: due date`.
    """
    outcome = _OTHER_PAST_TEXTS.get(name) or catalogue.find_past_text(name, action_input) or to_label(name)
    text, reason = current_language().translate(outcome), action_input.get("reason")
    if fields and outcome.endswith(_ENDINGS_WITH_FIELDS):
        text = translate_text("{action}: {details}", action=text, details=_join_some(fields))
    return translate_text("{action}: {details}", action=text, details=_shorten(str(reason))) if reason else text


def changed_field_labels(operation: Operation, changed: Collection[str]) -> list[str]:
    """Return the labels of the input fields that an operation changed, as in a sentence, without derived changes."""
    return [
        label_in_text(current_language().translate(label))
        for name, label in _input_labels(operation).items()
        if name in changed
    ]


@cache
def _input_labels(operation: Operation) -> dict[str, str]:
    model_fields = operation.input.model_fields.items()
    fields = {field.alias or name: field.title or to_label(name) for name, field in model_fields}
    # Lines are changed by the input field `edits`.
    return fields | ({"lines": "Lines"} if "edits" in fields else {})


def _join_some(labels: Sequence[str]) -> str:
    """Join the first labels in the language of the page, followed by the number of the others."""
    named = ", ".join(labels[:_MAX_FIELDS])
    rest = len(labels) - _MAX_FIELDS
    return translate_text("{fields} and {count} more", fields=named, count=rest) if rest > 0 else named


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_LENGTH else f"{line[:_MAX_LENGTH]}\N{HORIZONTAL ELLIPSIS}"
