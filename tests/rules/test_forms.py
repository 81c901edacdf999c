"""Help texts of form fields help: each says more than the label of its field."""

import re

import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.doors.pages.form_fields import ROWS, FormField, form_fields_of
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission

# Words without a meaning of their own.
SMALL_WORDS = re.compile(
    r"\b(?:a|all|an|and|any|are|as|at|be|by|called?|can|do|does|each|for|from|has|have|how|in|is|its?|no|not|of|on|one|"
    r"or|out|so|such|than|that|the|their|them|there|they|this|to|was|what|when|where|which|who|whom|whose|why|with|"
    r"without|you|your)\b"
)
FORMS = [one for one in CATALOGUE.operations if one.changes and Door.OFFICE in one.doors]


def list_fields(form_fields: tuple[FormField, ...]) -> list[FormField]:
    """Return all form fields with their parts; of a table of rows only the field itself."""
    return [field for one in form_fields for field in (one, *(one.parts if one.kind != ROWS else ()))]


def meaningful_words(text: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"[a-z0-9.]+", SMALL_WORDS.sub("", text.lower())) if word != "."}


FIELDS_WITH_HELP = [
    (f"{form.name}: {one.label}", one.label, one.help)
    for form in FORMS
    for one in list_fields(form_fields_of(form, frozenset(Permission)))
    if one.help
]


def test_there_is_help_to_look_at() -> None:
    assert len(FIELDS_WITH_HELP) > 100


@pytest.mark.parametrize(
    ("label", "text"), [one[1:] for one in FIELDS_WITH_HELP], ids=[one[0] for one in FIELDS_WITH_HELP]
)
def test_what_stands_below_a_field_says_more_than_its_label(label: str, text: str) -> None:
    assert meaningful_words(text) - meaningful_words(label), text
