"""In which state something is possible, and how a state is told, is known by the models: the office names no state."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.layouts import LAYOUTS
from mainstay.doors.pages.form_fields import form_fields_of
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Role
from mainstay.vocabulary.schemas import Output
from rules.test_source import SOURCE

OFFICE_FILES = sorted((SOURCE / "doors" / "office").rglob("*.py"))
OUTPUTS_WITH_STATES: list[type[Output]] = [
    operation.output for operation in CATALOGUE.operations if operation.output.states
]
STATES = {state for kind in OUTPUTS_WITH_STATES for state in kind.states}
# Words that are also a state's, and are none here, or say which records of a list are meant.
WORDS_THAT_ARE_NO_STATES = {
    # What a person decided about a card.
    "assistant_view.py": {"declined"},
    # The picture of a document beside the form that sends it.
    **{name: {"draft"} for name in ("draft_previews.py", "invoices.py", "orders.py", "quotes.py")},
    "invoice_public.py": {"void"},  # which copy of the PDF is asked for
    "charts.py": {"open"},  # a column of a report
    "report_tables.py": {"open"},  # the same
    "visit_lengths.py": {"accepted"},  # which quotes are asked for
    "customers.py": {"overdue", "paid"},  # the list that a number leads to; and names of facts
    "office_pages.py": {"done"},  # a word of an address: what was done before this page
    "hours.py": {"billed"},  # the name of a fact
    "record_list.py": {"done"},  # the same word of an address
    "selection_pages.py": {"done"},  # the same
    "view_pages.py": {"done"},  # the same
    "line_editor.py": {"done"},  # the same word of an address
    "reminders.py": {"overdue"},  # which invoices are asked for
    "visits.py": {"done", "planned"},  # the same; and which visits can be changed together
    "public_pages.py": {"done"},  # the same
    "running_timer.py": {"running"},  # which hours are asked for
    "to_bill.py": {"approved"},  # the list that a number leads to
}


def find_states(tree: ast.Module) -> Iterator[str]:
    """Yield the states that code compares with, passes on, or has a table of; tabs are allowed."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            skipped.add(id(node.value))
        if isinstance(node, ast.Subscript):
            skipped.add(id(node.slice))
        if isinstance(node, ast.keyword) and node.arg == "tabs":
            skipped |= {id(inner) for inner in ast.walk(node.value)}
        if isinstance(node, ast.Dict) and not is_state_table(node):
            skipped |= {id(key) for key in node.keys}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in STATES and id(node) not in skipped:
            yield str(node.value)


def is_state_table(node: ast.Dict) -> bool:
    """Whether a dict is keyed by state: its keys are states of one kind of record, and not field names."""
    keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
    return len(keys) > 1 and any(keys <= kind.states.keys() for kind in OUTPUTS_WITH_STATES)


@pytest.mark.parametrize("path", OFFICE_FILES, ids=lambda path: path.name)
def test_no_page_knows_a_state(path: Path) -> None:
    # What is excepted is there, so that the list does not outlive its reasons.
    assert set(find_states(ast.parse(path.read_text()))) == WORDS_THAT_ARE_NO_STATES.get(path.name, set())


def test_the_tabs_of_a_list_are_among_what_it_can_be_narrowed_to() -> None:
    for layout in LAYOUTS:
        if layout.tabs and layout.list_operation:
            form_fields = {one.name: one for one in form_fields_of(layout.list_operation, ROLE_PERMISSIONS[Role.OWNER])}
            known = {
                value
                for name in ("status", "archived")
                if name in form_fields
                for value, _ in form_fields[name].choices
            }
            assert layout.tabs.keys() - {"", "all"} <= known, layout.title
