"""Forms ask at most six questions at first sight. The rest is behind "More options"."""

import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.layouts import LAYOUTS
from mainstay.doors.pages.form_fields import FormField, form_fields_of
from mainstay.doors.pages.form_sections import MAX_FIRST_FIELDS, count_inputs, split_fields
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission

# Forms that show more, and why.
LONG_FORMS = {
    "update_organisation": "The firm's own details are filled in once, from the first to the last.",
    "update_settings": "The settings of the firm are looked through, not filled in.",
}


def list_forms() -> list[tuple[RecordLayout, Operation]]:
    """Return the forms of the office, each with the layout whose pages have it."""
    own_forms = [(layout, layout.create_operation) for layout in LAYOUTS if layout.create_operation]
    return own_forms + [
        (layout, operation)
        for layout in LAYOUTS
        for operation in CATALOGUE.operations_on(layout.kind.output)
        if operation.changes and Door.OFFICE in operation.doors and (layout, operation) not in own_forms
    ]


FORMS = list_forms()


def form_fields(layout: RecordLayout, operation: Operation) -> list[FormField]:
    """Return the fields of a form for somebody who may do everything."""
    fields = form_fields_of(operation, frozenset(Permission))
    return [field for field in fields if field.name not in layout.skipped_fields]


@pytest.mark.parametrize(("layout", "operation"), FORMS, ids=[operation.name for _, operation in FORMS])
def test_a_form_asks_little_at_first_sight(layout: RecordLayout, operation: Operation) -> None:
    filled_in = {
        field.name: "1" for field in form_fields(layout, operation) if operation is not layout.create_operation
    }
    first, _more = split_fields(form_fields(layout, operation), layout.first_fields, filled_in)
    few = sum(map(count_inputs, first)) <= MAX_FIRST_FIELDS
    assert few != (operation.name in LONG_FORMS), [field.name for field in first]


@pytest.mark.parametrize("layout", LAYOUTS, ids=[layout.kind.prefix for layout in LAYOUTS])
def test_first_fields_are_fields_of_forms(layout: RecordLayout) -> None:
    names = {
        name
        for one, operation in FORMS
        if one is layout
        for field in form_fields_of(operation, frozenset(Permission))
        for name in (field.name, *(part.name for part in field.parts))
    }
    assert set(layout.first_fields) <= names
