"""What stands below the fields of forms helps: it says more than the label does, and all of it is meant for people."""

import re

import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.doors.pages.asking import ROWS, Asked, asked_of
from mainstay.terms.actor import Door
from mainstay.terms.rights import Right

# What carries no meaning of its own.
SMALL = re.compile(
    r"\b(?:a|all|an|and|any|are|as|at|be|by|called?|can|do|does|each|for|from|has|have|how|in|is|its?|no|not|of|on|one|"
    r"or|out|so|such|than|that|the|their|them|there|they|this|to|was|what|when|where|which|who|whom|whose|why|with|"
    r"without|you|your)\b"
)
FORMS = [one for one in CATALOGUE.operations if one.changes and Door.OFFICE in one.offered]


def fields(asked: tuple[Asked, ...]) -> list[Asked]:
    """Those that have a place of their own on a form; of a short list, only the whole is helped with."""
    return [field for one in asked for field in (one, *(one.parts if one.kind != ROWS else ()))]


def meant(text: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"[a-z0-9.]+", SMALL.sub("", text.lower())) if word != "."}


HELPED = [
    (f"{form.name}: {one.label}", one.label, one.help)
    for form in FORMS
    for one in fields(asked_of(form, frozenset(Right)))
    if one.help
]


def test_there_is_help_to_look_at() -> None:
    assert len(HELPED) > 100


@pytest.mark.parametrize(("label", "text"), [one[1:] for one in HELPED], ids=[one[0] for one in HELPED])
def test_what_stands_below_a_field_says_more_than_its_label(label: str, text: str) -> None:
    assert meant(text) - meant(label), text
