"""Functions are short, and words that name nothing are not used."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "mainstay"
FUNCTION_LINES = 50
EMPTY_WORDS = {"util", "utils", "helper", "helpers", "manager", "service", "handler", "base", "common", "misc"}
CODE = sorted(SOURCE.rglob("*.py"))

Function, Class = ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef


class Defined(NamedTuple):
    """A function or a class of the source."""

    path: str
    name: str
    lines: int
    is_class: bool


@cache
def defined() -> list[Defined]:
    """Each, read once; the trees that they stand in are not kept, for they are large."""
    return [
        Defined(
            str(path.relative_to(ROOT)), node.name, (node.end_lineno or 0) - node.lineno + 1, isinstance(node, Class)
        )
        for path in CODE
        for node in ast.walk(ast.parse(path.read_text(), str(path)))
        if isinstance(node, Function | Class)
    ]


def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def test_there_is_something_to_measure() -> None:
    assert len(CODE) > 50
    assert len(defined()) > 1000


def test_no_function_is_longer_than_50_lines() -> None:
    long = {f"{one.path}: {one.name}" for one in defined() if not one.is_class and one.lines > FUNCTION_LINES}
    assert long == set()


def test_words_that_name_nothing_name_no_file_and_no_class() -> None:
    files = {str(path.relative_to(ROOT)) for path in CODE if words(path.stem) & EMPTY_WORDS}
    folders = {folder.name for folder in SOURCE.rglob("*") if folder.is_dir() and words(folder.name) & EMPTY_WORDS}
    classes = {f"{one.path}: {one.name}" for one in defined() if one.is_class and words(one.name) & EMPTY_WORDS}
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
