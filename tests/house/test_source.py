"""Rules that are kept by reading the source: who may do what is known in one place, and where SQL stands is known."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mainstay.terms.rights import Role

SOURCE = Path(__file__).parents[2] / "src" / "mainstay"
CODE = sorted(SOURCE.rglob("*.py"))
# Where a word that is also a role's is none, or is only an example of what people are.
NO_ROLES = {
    "terms/actor.py": {"office"},  # the name of a door
    "business/records/model.py": {"office"},  # who reads a note
    "business/purchasing/model.py": {"office"},  # where goods are delivered to
    "doors/office/beside.py": {"office"},  # who reads a note
    "doors/oauth/redirects.py": {"admin"},  # the scheme of a desktop's handler
    "doors/cli/demo.py": {role.value for role in Role},  # the people of the demo, told as data
}
ROOMS = sorted({path.relative_to(SOURCE).parent for path in CODE})


def place(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def texts(tree: ast.Module) -> Iterator[str]:
    """Every text that code works with: no docstrings, no names of fields in an answer, no examples for documents."""
    passed_over: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            passed_over.add(id(node.value))
        if isinstance(node, ast.Dict):
            passed_over |= {id(key) for key in node.keys}
        if isinstance(node, ast.keyword) and node.arg == "examples":
            passed_over |= {id(inner) for inner in ast.walk(node.value)}
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            passed_over.add(id(node.slice))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed_over:
            yield node.value


def roles_in(path: Path) -> set[str]:
    """The roles that a file names, but for words that are none there."""
    return words_of_roles(path) - NO_ROLES.get(place(path), set())


def words_of_roles(path: Path) -> set[str]:
    """What is called like a role in a file: as a word by itself, in a statement, or as a member of the enum."""
    tree = ast.parse(path.read_text())
    names = {role.value for role in Role}
    found = {word for text in texts(tree) for word in {text, *re.findall(r"'(\w+)'", text)} & names}
    found |= {
        node.attr.lower()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Role"
    }
    return found


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_no_role_is_named_outside_the_table_of_rights(room: Path) -> None:
    paths = [path for path in (SOURCE / room).glob("*.py") if place(path) != "terms/rights.py"]
    assert {place(path): found for path in paths if (found := roles_in(path))} == {}


@pytest.mark.parametrize("path", NO_ROLES)
def test_a_file_is_excused_for_words_that_stand_in_it(path: str) -> None:
    assert words_of_roles(SOURCE / path) >= NO_ROLES[path]


def test_the_table_of_rights_names_them_all() -> None:
    assert roles_in(SOURCE / "terms" / "rights.py") == {role.value for role in Role}


STATEMENT = re.compile(r"\b(?:SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b", re.DOTALL)


def statements_in(path: Path) -> list[str]:
    return [text for text in texts(ast.parse(path.read_text())) if STATEMENT.search(text)]


# The floors on which something is kept; in a room, not where rules, operations and what follows them are told.
KEEPING_FLOORS = {"backing", "ledger", "identity", "webhooks", "business", "safekeeping"}
TELLING_FILES = {"business": {"model", "operations", "events", "reactions"}, "webhooks": {"model", "endpoints"}}
# Says how statements about any list begin, in parts that are no whole statement.
PARTS_OF_STATEMENTS = {"terms/listed.py"}


def may_hold_statements(path: Path) -> bool:
    floor = path.relative_to(SOURCE).parts[0]
    return floor in KEEPING_FLOORS and path.stem not in TELLING_FILES.get(floor, set())


def test_statements_stand_where_something_is_kept() -> None:
    others = [path for path in CODE if not may_hold_statements(path)]
    assert {place(path) for path in others if statements_in(path)} == PARTS_OF_STATEMENTS
    # Doors, rules and what runs the house are looked through, and what keeps it would be found.
    assert {"doors/office/room.py", "business/people/model.py", "worker/worker.py"} <= {place(path) for path in others}
    assert statements_in(SOURCE / "business" / "organisation" / "store.py")


def test_nothing_is_found_out_by_who_inherits_from_what() -> None:
    assert [place(path) for path in CODE if "__subclasses__" in path.read_text()] == []
