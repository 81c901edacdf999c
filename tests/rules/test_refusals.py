"""No message shown to people has the names that only programs use."""

import ast
import re
from collections.abc import Iterator

import pytest

from mainstay.doors.pages.message_format import SENTENCES
from mainstay.vocabulary.validation import PROBLEMS
from rules.message_texts import SOURCE

RULES = [path for layer in ("business", "identity", "webhooks", "kernel") for path in (SOURCE / layer).rglob("*.py")]
# A word that looks like the name of an operation, a field or a value. Placeholders are no words.
INTERNAL_NAME = re.compile(r"`|\b[a-z]+(_[a-z]+)+\b|\b[a-z]+[A-Z]\w*|\bJSON\b")


def find_templates() -> Iterator[tuple[str, str]]:
    """Yield every template of a message with its place, without those that only programs get."""
    for path in sorted(RULES):
        nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
        for_programs = set(find_details(nodes))
        for node in nodes:
            if node in for_programs or not isinstance(node, ast.Call) or ast.unparse(node.func) != "Message":
                continue
            if isinstance(node.args[0], ast.Constant):
                template = re.sub(r"{\w+}", "X", str(node.args[0].value))
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", template


def find_details(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """Yield the messages that only programs get, also those that are assigned to a name first."""
    values = [node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "for_programs"]
    parts = [part for value in values for part in ast.walk(value)]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    yield from parts
    for node in nodes:
        if isinstance(node, ast.Assign) and any(ast.unparse(target) in names for target in node.targets):
            yield from ast.walk(node.value)


def test_a_message_is_plain_to_people() -> None:
    templates = dict(find_templates())
    assert len(templates) > 400
    assert {place: template for place, template in templates.items() if INTERNAL_NAME.search(template)} == {}


@pytest.mark.parametrize("problem", sorted({*PROBLEMS.values()} - SENTENCES.keys()))
def test_what_is_wrong_with_a_field_is_plain_to_people(problem: str) -> None:
    assert not INTERNAL_NAME.search(re.sub(r"{\w+}", "X", problem))
