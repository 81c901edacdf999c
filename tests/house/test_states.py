"""In which state something is possible, and how a state is told, is known by the models: the office names no state."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from arranged import ARRANGED
from house.test_source import SOURCE
from mainstay.catalogue import CATALOGUE
from mainstay.doors.pages.asking import asked_of
from mainstay.terms.rights import RIGHTS, Role
from mainstay.terms.shapes import Shown

OFFICE = sorted((SOURCE / "doors" / "office").glob("*.py"))
KINDS: list[type[Shown]] = [operation.output for operation in CATALOGUE.operations if operation.output.states]
STATES = {state for kind in KINDS for state in kind.states}
# Words that are also a state's, and are none here, or say which records of a list are meant.
NO_STATES = {
    "billed.py": {"void"},  # which copy of the PDF is asked for
    "customers.py": {"overdue", "paid"},  # the list that a number leads to; and names of facts
    "desk.py": {"done"},  # a word of an address: what was done before this page
    "hours.py": {"billed"},  # the name of a fact
    "line_pages.py": {"done"},  # the same word of an address
    "reminders.py": {"overdue"},  # which invoices are asked for
    "schedule.py": {"done", "planned"},  # the same; and which visits can be changed together
    "threshold.py": {"done"},  # the same
    "timeline.py": {"accepted", "declined", "approved", "paid", "draft"},  # what someone decided, as they sent it
    "timer.py": {"running"},  # which hours are asked for
    "to_bill.py": {"approved"},  # the list that a number leads to
}


def named(tree: ast.Module) -> Iterator[str]:
    """The states that code compares with, hands on, or keeps a table of. Which of them have a tab is no rule."""
    passed_over: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            passed_over.add(id(node.value))
        if isinstance(node, ast.Subscript):
            passed_over.add(id(node.slice))
        if isinstance(node, ast.keyword) and node.arg == "tabs":
            passed_over |= {id(inner) for inner in ast.walk(node.value)}
        if isinstance(node, ast.Dict) and not is_table(node):
            passed_over |= {id(key) for key in node.keys}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in STATES and id(node) not in passed_over:
            yield str(node.value)


def is_table(node: ast.Dict) -> bool:
    """Whether something is told by state: its keys are states of one kind of record, and not names of fields."""
    keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
    return len(keys) > 1 and any(keys <= kind.states.keys() for kind in KINDS)


@pytest.mark.parametrize("path", OFFICE, ids=lambda path: path.name)
def test_no_page_knows_a_state(path: Path) -> None:
    # What is excepted is there, so that the list does not outlive its reasons.
    assert set(named(ast.parse(path.read_text()))) == NO_STATES.get(path.name, set())


def test_the_tabs_of_a_list_are_among_what_it_can_be_narrowed_to() -> None:
    for arranged in ARRANGED:
        if arranged.tabs and arranged.lists:
            asked = {one.name: one for one in asked_of(arranged.lists, RIGHTS[Role.OWNER])}
            known = {value for name in ("status", "archived") if name in asked for value, _ in asked[name].choices}
            assert arranged.tabs.keys() - {"", "all"} <= known, arranged.title
