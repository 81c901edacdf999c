"""Sentences are messages: literal templates with values, which can be translated. None is built anywhere else."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from mainstay.doors.pages.rendering import TEMPLATES
from rules.message_texts import MESSAGE_MAKERS, SOURCE, find_calls, find_template_texts, read_template

# Commands of the operator are in English only.
CODE = [path for path in sorted(SOURCE.rglob("*.py")) if path.relative_to(SOURCE).parts[0] != "maintenance"]
# What takes a message as its first argument; a fault takes the field before it.
MESSAGE_TAKERS = {"Conflict": 0, "Forbidden": 0, "Reason": 0, "Fault": 1, "TooManyRequests": 0, "Unauthenticated": 0}
OPTIONS = {"plural", "for_programs"}
_COUNT_POSITION = 2
TEMPLATE_NAMES = TEMPLATES.list_templates(extensions=["html"])


def test_a_template_is_a_literal_and_names_its_values() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in CODE
        for call in find_calls(path, MESSAGE_MAKERS)
        if not names_its_values(call)
    ]
    assert wrong == []


def names_its_values(call: ast.Call) -> bool:
    """Return whether a message has a literal template whose placeholders are the names of its values."""
    texts = [*call.args[:2], *(keyword.value for keyword in call.keywords if keyword.arg == "plural")]
    templates = [text.value for text in texts if isinstance(text, ast.Constant) and isinstance(text.value, str)]
    if len(templates) < len(texts):
        # A constant of the module, by which doors recognise the message.
        return isinstance(call.args[0], ast.Name) and call.args[0].id.isupper()
    names = {name for template in templates for _, name, _, _ in Formatter().parse(template) if name is not None}
    # A count is given by position.
    counted = {"count"} if len(call.args) > _COUNT_POSITION else set()
    return names | counted == {keyword.arg for keyword in call.keywords if keyword.arg not in OPTIONS} | counted


def test_no_sentence_is_built_outside_a_message() -> None:
    assert [place for path in CODE for place in find_built_sentences(path)] == []


def find_built_sentences(path: Path) -> Iterator[str]:
    """Yield where a text, not a message, is raised, given as a reason, or added to a preview."""
    for call in find_calls(path, MESSAGE_TAKERS.keys() | {"append"}):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name == "append" and not ast.unparse(call.func).endswith(("effects.append", "warnings.append")):
            continue
        position = MESSAGE_TAKERS.get(name, 0)
        if len(call.args) > position and isinstance(call.args[position], (ast.JoinedStr, ast.Constant, ast.BinOp)):
            yield f"{path.relative_to(SOURCE)}:{call.lineno}"


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_a_text_of_a_template_names_its_values(name: str) -> None:
    for text in find_template_texts(name):
        names = {field for _, field, _, _ in Formatter().parse(text.template) if field is not None}
        # A script fills in the values of a text that it is given as an attribute.
        for_script = re.search(rf'data-[a-z-]+="{{{{ n?_\("{re.escape(text.template)}"', read_template(name))
        assert for_script or text.values is None or names - {"count"} <= text.values
