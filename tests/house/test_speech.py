"""Whatever an operation can be refused with is told to people without names of ours."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.doors.pages.speech import Speech
from mainstay.terms.faults import PROBLEMS
from mainstay.values.ids import new_id

SOURCE = Path(__file__).parents[2] / "src" / "mainstay"
RULES = [path for floor in ("business", "identity", "webhooks", "kernel") for path in (SOURCE / floor).rglob("*.py")]
REFUSING = {"Fault", "Reason", "Conflict", "Forbidden", "TooMany", "ValueError"}
SPEECH = Speech(CATALOGUE.operations)
# What looks like the name of an operation, of a field or of a value.
OURS = re.compile(r"`|\b[a-z]+(_[a-z]+)+\b|\b[a-z]+[A-Z]\w*|\bJSON\b")


def refusals() -> Iterator[tuple[str, str]]:
    """Every text that is refused with, and where; what is put into it is told as `X`."""
    for path in sorted(RULES):
        nodes = [*ast.walk(ast.parse(path.read_text()))]
        named = {
            target.id: node.value
            for node in nodes
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in REFUSING:
                (told,) = node.args[1 if node.func.id == "Fault" else 0 :][:1] or [ast.Constant("")]
                if text := _text(told, named):
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", text


def _text(node: ast.expr, named: dict[str, ast.expr], depth: int = 0) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, named, depth) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        inner = node.value
        known = isinstance(inner, ast.Name) and inner.id in named and depth < 3
        return (_text(named[inner.id], named, depth + 1) if known and isinstance(inner, ast.Name) else "") or "X"
    if isinstance(node, ast.Name) and node.id in named and depth < 3:
        return _text(named[node.id], named, depth + 1)
    return ""


def test_a_refusal_is_plain_to_people() -> None:
    texts = dict(refusals())
    assert len(texts) > 100
    assert any("allow the overlap" in text for text in texts.values())
    told = {place: SPEECH.text(text) for place, text in texts.items()}
    assert [place for place, text in told.items() if not text] == []
    assert {place: text for place, text in told.items() if OURS.search(text)} == {}


@pytest.mark.parametrize("problem", PROBLEMS.values())
def test_what_is_wrong_with_a_field_is_plain_to_people(problem: str) -> None:
    assert not OURS.search(SPEECH.text(re.sub(r"{\w+}", "X", problem)))


def test_an_id_in_brackets_is_left_out_and_other_brackets_stay() -> None:
    text = f"Calder (Halifax) was merged into Ryburn ({new_id('customer')}). Use that customer instead."
    assert SPEECH.text(text) == "Calder (Halifax) was merged into Ryburn. Use that customer instead."
