"""Every refusal is shown to people without internal names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.doors.pages.speech import TextRewriter
from mainstay.values.ids import new_id
from mainstay.vocabulary.validation import PROBLEMS

SOURCE = Path(__file__).parents[2] / "src" / "mainstay"
RULES = [path for floor in ("business", "identity", "webhooks", "kernel") for path in (SOURCE / floor).rglob("*.py")]
REFUSAL_CLASSES = {"Fault", "Reason", "Conflict", "Forbidden", "TooMany", "ValueError"}
SPEECH = TextRewriter(CATALOGUE.operations)
# A word that looks like the name of an operation, a field or a value.
INTERNAL_NAME = re.compile(r"`|\b[a-z]+(_[a-z]+)+\b|\b[a-z]+[A-Z]\w*|\bJSON\b")


def find_refusal_texts() -> Iterator[tuple[str, str]]:
    """Yield every refusal text with its place; values in it are replaced by `X`."""
    for path in sorted(RULES):
        nodes = [*ast.walk(ast.parse(path.read_text()))]
        constants = {
            target.id: node.value
            for node in nodes
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in REFUSAL_CLASSES:
                (argument,) = node.args[1 if node.func.id == "Fault" else 0 :][:1] or [ast.Constant("")]
                if text := _text_of(argument, constants):
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", text


def _text_of(node: ast.expr, constants: dict[str, ast.expr], depth: int = 0) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part, constants, depth) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        inner = node.value
        known = isinstance(inner, ast.Name) and inner.id in constants and depth < 3
        return (
            _text_of(constants[inner.id], constants, depth + 1) if known and isinstance(inner, ast.Name) else ""
        ) or "X"
    if isinstance(node, ast.Name) and node.id in constants and depth < 3:
        return _text_of(constants[node.id], constants, depth + 1)
    return ""


def test_a_refusal_is_plain_to_people() -> None:
    texts = dict(find_refusal_texts())
    assert len(texts) > 100
    assert any("allow the overlap" in text for text in texts.values())
    plain_texts = {place: SPEECH.rewrite(text) for place, text in texts.items()}
    assert [place for place, text in plain_texts.items() if not text] == []
    assert {place: text for place, text in plain_texts.items() if INTERNAL_NAME.search(text)} == {}


@pytest.mark.parametrize("problem", PROBLEMS.values())
def test_what_is_wrong_with_a_field_is_plain_to_people(problem: str) -> None:
    assert not INTERNAL_NAME.search(SPEECH.rewrite(re.sub(r"{\w+}", "X", problem)))


def test_an_id_in_brackets_is_left_out_and_other_brackets_stay() -> None:
    text = f"Calder (Halifax) was merged into Ryburn ({new_id('customer')}). Use that customer instead."
    assert SPEECH.rewrite(text) == "Calder (Halifax) was merged into Ryburn. Use that customer instead."
