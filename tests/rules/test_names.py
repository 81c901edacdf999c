"""One name has one meaning across the whole source, and one thing has one name."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from jinja2 import nodes

import mainstay
from mainstay.doors.pages.rendering import TEMPLATES
from rules.message_texts import read_template

SOURCE = Path(mainstay.__file__).parent
# These functions share a name because they do the same, for another kind of record or another kind of stored data.
SAME_FOR_ANOTHER_KIND = {
    "fetch": "return a record, or refuse",
    "find": "return a record, or None",
    "page": "return a page of records",
    "insert": "store a new record",
    "save": "store a changed record",
    "delete_old": "delete data that is kept for a limited time only",
    "find_by_name": "return the ids of records with this name",
    "find_organisation": "return the organisation of a record",
    "mark_billed": "note that the work was billed",
}


def find_public_definitions() -> Iterator[tuple[type[ast.AST], str, str]]:
    """Return the kind, the name and the file of each public class and function of a module."""
    for file in SOURCE.rglob("*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name[0] != "_":
                kind = ast.ClassDef if isinstance(node, ast.ClassDef) else ast.FunctionDef
                yield kind, node.name, str(file.relative_to(SOURCE))


def find_shared_names(kind: type[ast.AST]) -> dict[str, list[str]]:
    """Return the names that several files define, with these files."""
    files = defaultdict(list)
    for defined_kind, name, file in find_public_definitions():
        if defined_kind is kind:
            files[name].append(file)
    assert len(files) > 500
    return {name: places for name, places in files.items() if len(places) > 1}


def test_no_public_class_is_defined_twice() -> None:
    assert find_shared_names(ast.ClassDef) == {}


def test_functions_share_a_name_only_if_they_do_the_same() -> None:
    shared = find_shared_names(ast.FunctionDef)
    assert {name: files for name, files in shared.items() if name not in SAME_FOR_ANOTHER_KIND} == {}


def test_no_type_is_defined_twice_or_called_like_a_class() -> None:
    """A type alias too, such as `Clock = Callable[[], datetime]`, has one meaning."""
    files = defaultdict(set)
    for file in SOURCE.rglob("*.py"):
        for node in ast.parse(file.read_text()).body:
            name = ""
            if isinstance(node, ast.ClassDef):
                name = node.name
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
            if name[:1].isupper() and not name.isupper():
                files[name].add(str(file.relative_to(SOURCE)))
    assert {name: places for name, places in files.items() if len(places) > 1} == {}


# Words that say what happened to something or where it is, but not what it is.
RIDDLES = {"told", "kept", "shown", "asked", "said", "led", "held", "among", "beside", "above", "below", "left"}


def test_functions_are_not_named_by_what_happened_to_something() -> None:
    """A function is a verb and its object, or a noun for what it returns; not `told`, `kept` or `beside`."""
    named = [
        (node.name, str(file.relative_to(SOURCE)))
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.strip("_").split("_")[0] in RIDDLES
    ]
    assert named == []


def test_variables_and_macros_of_templates_are_not_either() -> None:
    named = set()
    for template in TEMPLATES.list_templates(extensions=["html"]):
        tree = TEMPLATES.parse(read_template(template))
        names = {node.name for node in tree.find_all(nodes.Name)} | {node.name for node in tree.find_all(nodes.Macro)}
        named |= {(name, template) for name in names & {*RIDDLES, "apart", "called", "ways"}}
    assert named == set()
