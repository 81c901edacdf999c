import re

from mainstay.catalogue import CATALOGUE
from mainstay.doors.pages.form_fields import form_fields_of
from mainstay.vocabulary.permissions import Permission


def test_no_help_in_a_form_names_what_only_programs_know() -> None:
    helped = [
        (operation.name, field.name, field.help)
        for operation in CATALOGUE.operations
        for one in form_fields_of(operation, frozenset(Permission))
        for field in (one, *one.parts)
        if field.help
    ]
    assert len(helped) > 200
    assert [names for names in helped if re.search(r"\b[Nn]ull\b|`|\b[a-z]+_[a-z]+\b|\b[a-z]+[A-Z]\w*", names[2])] == []
