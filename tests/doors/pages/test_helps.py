import copy
import re

from mainstay.catalogue import CATALOGUE
from mainstay.doors.pages.form_fields import form_fields_of
from mainstay.values.descriptions import add_for_programs, describe, help_of
from mainstay.vocabulary.permissions import Permission

TECHNICAL = re.compile(r"\b[Nn]ull\b|\bids?\b|`|\b[a-z]+_[a-z]+\b|\b[a-z]+[A-Z]\w*")


def test_no_help_in_a_form_names_what_only_programs_know() -> None:
    helped = [
        (operation.name, field.name, field.help)
        for operation in CATALOGUE.operations
        for one in form_fields_of(operation, frozenset(Permission))
        for field in (one, *one.parts)
        if field.help
    ]
    assert len(helped) > 200
    assert [names for names in helped if TECHNICAL.search(names[2])] == []


def test_no_text_above_a_form_names_what_only_programs_know() -> None:
    helps = {operation.name: operation.description.help for operation in CATALOGUE.operations}
    assert {name: text for name, text in helps.items() if TECHNICAL.search(text)} == {}


def test_programs_read_all_of_a_description_and_people_their_part() -> None:
    description = describe("Where you work. [[Required for a new `site`.]] Printed on quotes.")
    assert description == "Where you work. Required for a new `site`. Printed on quotes."
    assert help_of(description) == "Where you work. Printed on quotes."
    noted = add_for_programs(description, "Null clears.")
    assert (noted.endswith(". Null clears."), help_of(noted)) == (True, help_of(description))
    assert (help_of("A plain one."), help_of(None), help_of(copy.deepcopy(noted))) == (
        "A plain one.",
        "",
        help_of(description),
    )
