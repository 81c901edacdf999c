"""Functions are short, and words that name nothing are not used."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "mainstay"
MAX_FUNCTION_LINES = 50
EMPTY_WORDS = {"util", "utils", "helper", "helpers", "manager", "service", "handler", "base", "common", "misc"}
CODE = sorted(SOURCE.rglob("*.py"))

Function, Class = ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef


class Definition(NamedTuple):
    """A function or a class of the source."""

    path: str
    name: str
    lines: int
    is_class: bool


@cache
def read_definitions() -> list[Definition]:
    """Return every function and class, read once; the large syntax trees are not kept."""
    return [
        Definition(
            str(path.relative_to(ROOT)), node.name, (node.end_lineno or 0) - node.lineno + 1, isinstance(node, Class)
        )
        for path in CODE
        for node in ast.walk(ast.parse(path.read_text(), str(path)))
        if isinstance(node, Function | Class)
    ]


def split_words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def test_there_is_something_to_measure() -> None:
    assert len(CODE) > 50
    assert len(read_definitions()) > 1000


def test_no_function_is_longer_than_50_lines() -> None:
    long = {
        f"{one.path}: {one.name}" for one in read_definitions() if not one.is_class and one.lines > MAX_FUNCTION_LINES
    }
    assert long == set()


def test_words_that_name_nothing_name_no_file_and_no_class() -> None:
    files = {str(path.relative_to(ROOT)) for path in CODE if split_words(path.stem) & EMPTY_WORDS}
    folders = {
        folder.name for folder in SOURCE.rglob("*") if folder.is_dir() and split_words(folder.name) & EMPTY_WORDS
    }
    classes = {
        f"{one.path}: {one.name}" for one in read_definitions() if one.is_class and split_words(one.name) & EMPTY_WORDS
    }
    assert files | folders | classes == set()


def test_a_package_s_first_file_holds_one_docstring_and_nothing_else() -> None:
    for path in SOURCE.rglob("__init__.py"):
        (only,) = ast.parse(path.read_text()).body
        assert isinstance(only, ast.Expr), path
        assert isinstance(only.value, ast.Constant), path


def test_no_mark_is_left_for_later_and_no_check_is_silenced() -> None:
    marks = re.compile("TO" + r"DO|FIX" + r"ME|XXX\b|# no" + "qa|type: " + "ignore")
    # A form of number in a currency's name is no mark.
    found = {str(path.relative_to(ROOT)) for path in CODE if marks.search(path.read_text())}
    assert found == set()
