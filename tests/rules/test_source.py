"""Rules about the source: roles are named in one place, and SQL stands only in known files."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mainstay.vocabulary.permissions import Role

SOURCE = Path(__file__).parents[2] / "src" / "mainstay"
CODE = sorted(SOURCE.rglob("*.py"))
# Files in which a word that is also a role means something else.
WORDS_THAT_ARE_NO_ROLES = {
    "vocabulary/actor.py": {"office"},  # the name of a door
    "business/records/model.py": {"office"},  # who reads a note
    "business/purchasing/model.py": {"office"},  # where goods are delivered to
    "doors/office/kit/record_panels.py": {"office"},  # who reads a note
    "doors/oauth/redirect_uris.py": {"admin"},  # the scheme of a desktop's handler
    "demo/firm.py": {role.value for role in Role},  # the people of the demo, told as data
}
FOLDERS = sorted({path.relative_to(SOURCE).parent for path in CODE})


def path_in_source(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def find_texts(tree: ast.Module) -> Iterator[str]:
    """Yield every text of the code, without docstrings, field names of answers and examples for documents."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            skipped.add(id(node.value))
        if isinstance(node, ast.Dict):
            skipped |= {id(key) for key in node.keys}
        if isinstance(node, ast.keyword) and node.arg == "examples":
            skipped |= {id(inner) for inner in ast.walk(node.value)}
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            skipped.add(id(node.slice))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def find_roles(path: Path) -> set[str]:
    """Return the roles that a file names, without words that mean something else there."""
    return find_role_words(path) - WORDS_THAT_ARE_NO_ROLES.get(path_in_source(path), set())


def find_role_words(path: Path) -> set[str]:
    """Return the names of roles in a file: as a word, in SQL, or as a member of the enum."""
    tree = ast.parse(path.read_text())
    names = {role.value for role in Role}
    found = {word for text in find_texts(tree) for word in {text, *re.findall(r"'(\w+)'", text)} & names}
    found |= {
        node.attr.lower()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Role"
    }
    return found


@pytest.mark.parametrize("room", FOLDERS, ids=str)
def test_no_role_is_named_outside_the_table_of_rights(room: Path) -> None:
    paths = [path for path in (SOURCE / room).glob("*.py") if path_in_source(path) != "vocabulary/permissions.py"]
    assert {path_in_source(path): found for path in paths if (found := find_roles(path))} == {}


@pytest.mark.parametrize("path", WORDS_THAT_ARE_NO_ROLES)
def test_a_file_is_excused_for_words_that_stand_in_it(path: str) -> None:
    assert find_role_words(SOURCE / path) >= WORDS_THAT_ARE_NO_ROLES[path]


def test_the_table_of_rights_names_them_all() -> None:
    assert find_roles(SOURCE / "vocabulary" / "permissions.py") == {role.value for role in Role}


STATEMENT = re.compile(r"\b(?:SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b", re.DOTALL)


def find_statements(path: Path) -> list[str]:
    return [text for text in find_texts(ast.parse(path.read_text())) if STATEMENT.search(text)]


# The packages that may contain SQL, and the files in them that may not, such as models and operations.
PACKAGES_WITH_SQL = {"infrastructure", "changes", "identity", "webhooks", "business", "maintenance"}
FILES_WITHOUT_SQL = {"business": {"model", "operations", "events"}, "webhooks": {"model", "endpoints"}}
# Says how statements about any list begin, in parts that are no whole statement.
FILES_WITH_SQL_PARTS = {"vocabulary/list_queries.py"}


def may_contain_sql(path: Path) -> bool:
    package = path.relative_to(SOURCE).parts[0]
    return package in PACKAGES_WITH_SQL and path.stem not in FILES_WITHOUT_SQL.get(package, set())


def test_statements_stand_where_something_is_kept() -> None:
    others = [path for path in CODE if not may_contain_sql(path)]
    assert {path_in_source(path) for path in others if find_statements(path)} == FILES_WITH_SQL_PARTS
    # Doors, models and the worker are checked, and SQL in a store would be found.
    assert {"doors/office/kit/record_pages.py", "business/people/model.py", "worker/worker.py"} <= {
        path_in_source(path) for path in others
    }
    assert find_statements(SOURCE / "business" / "organisation" / "store.py")


def test_nothing_is_found_out_by_who_inherits_from_what() -> None:
    assert [path_in_source(path) for path in CODE if "__subclasses__" in path.read_text()] == []
