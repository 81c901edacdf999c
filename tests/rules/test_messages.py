"""Sentences are messages: literal templates with values, which can be translated. None is built anywhere else."""

import ast
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from string import Formatter

import pytest
from babel.messages import Message as CatalogueEntry
from babel.messages.pofile import read_po

from mainstay.doors.pages.rendering import TEMPLATES
from rules.message_texts import (
    MESSAGE_MAKERS,
    SOURCE,
    build_message_catalogue,
    find_calls,
    find_template_texts,
    read_template,
)

CODE = sorted(SOURCE.rglob("*.py"))
OPTIONS = {"plural", "for_programs"}
_COUNT_POSITION = 2
# Exports are in English, and so are the examples of values and of programs.
ENGLISH = {"Ann Boyle", "New bathroom", "Mac OS X", "Bearer YOUR_API_KEY"}
ENGLISH_FILES = {"full_export.py", "spreadsheet_rows.py"}
# Labels that are made of the names of operations: the catalogue has each of them.
DERIVED_LABELS = {"See {}", "Edit {}", "New {}", "Review and {}"}
PAGE_FOLDERS = {("doors", "office"), ("doors", "pages")}
# A text with values that begins like a sentence, ends like one, or joins values with a word.
_HAS_WORDS = re.compile(r"^[A-Z][a-z]+ |[a-z]\.$|\} (and|at|by|for|from|in|is|of|on|or|to|until|was|with) ")
# Markup, addresses, headers, SQL, and patterns.
_IS_CODE = re.compile(r"[<>\\\\=]|SELECT|https?:|attachment;|--|Bearer")
TEMPLATE_NAMES = TEMPLATES.list_templates(extensions=["html"])


def test_a_template_is_a_literal_and_names_its_values() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in CODE
        for call in find_calls(path, MESSAGE_MAKERS)
        if not names_its_values(call)
    ]
    assert wrong == []


def test_texts_in_the_code_of_pages_can_be_translated() -> None:
    known = {text for message in read_po(BytesIO(build_message_catalogue().encode())) for text in _texts_of(message)}
    pages = [path for path in CODE if path.relative_to(SOURCE).parts[:2] in PAGE_FOLDERS]
    pages = [path for path in pages if path.name not in ENGLISH_FILES]
    unknown = [
        (path.name, text)
        for path in pages
        for text in _find_texts(path)
        if text not in known | ENGLISH | DERIVED_LABELS
    ]
    assert unknown == []


def _texts_of(message: CatalogueEntry) -> tuple[str, ...]:
    return tuple(map(str, message.id)) if isinstance(message.id, tuple) else (str(message.id),)


def _find_texts(path: Path) -> Iterator[str]:
    """Yield the texts in a file that are sentences or several words, and the f-strings with words between values."""
    nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
    others: set[ast.AST] = {node.value for node in nodes if isinstance(node, ast.Expr)}
    built = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    others |= {part for node in built for part in ast.walk(node) if part is not node}
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and node not in others)
    yield from (text for text in texts if isinstance(text, str) and re.match(r"[A-Z][a-z]+( [a-zA-Z]+)+", text))
    for node in built:
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        if _HAS_WORDS.search(text) and not _IS_CODE.search(text):
            yield text


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


def test_no_value_of_a_message_is_a_text_in_english() -> None:
    assert [place for path in CODE for place in find_english_values(path)] == []


def find_english_values(path: Path) -> Iterator[str]:
    """Yield where a value of a message is several words that are written in code."""
    for call in find_calls(path, MESSAGE_MAKERS):
        values = [keyword.value for keyword in call.keywords if keyword.arg not in OPTIONS]
        if any(is_english(part) for value in values for part in parts_of(value)):
            yield f"{path.relative_to(SOURCE)}:{call.lineno}"


def test_paragraphs_of_emails_are_messages() -> None:
    assert [place for path in CODE for place in find_english_paragraphs(path)] == []


def find_english_paragraphs(path: Path) -> Iterator[str]:
    """Yield where a text that is written in code stands beside messages, where an email to people is written."""
    is_email = any(find_calls(path, {"PersonEmail", "email_person"}))
    for node in ast.walk(ast.parse(path.read_text("utf-8"))) if is_email else ():
        if isinstance(node, (ast.Tuple, ast.List)) and any(map(is_message, node.elts)):
            parts = [part for element in node.elts for part in parts_of(element)]
            yield from (f"{path.relative_to(SOURCE)}:{part.lineno}" for part in parts if is_english(part))


def is_message(node: ast.expr) -> bool:
    """Return whether this makes a message."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Message"


def parts_of(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression, or the alternatives and elements that it is made of."""
    if isinstance(node, ast.IfExp):
        yield from (*parts_of(node.body), *parts_of(node.orelse))
    elif isinstance(node, ast.Starred):
        yield from parts_of(node.value)
    elif isinstance(node, ast.BoolOp):
        yield from (part for value in node.values for part in parts_of(value))
    elif isinstance(node, (ast.Tuple, ast.List)):
        yield from (part for element in node.elts for part in parts_of(element))
    else:
        yield node


def is_english(node: ast.expr) -> bool:
    """Return whether this is a text with several words, or with values and a word."""
    texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    literal = isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp))
    return literal and re.search(r"[A-Za-z]{2} | [A-Za-z]{2}", "\0".join(texts)) is not None


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('"all of you"', True),
        ('f"up to {when}"', True),
        ('name + " and others"', True),
        ('f"{address}/quotes/{quote}"', False),
        ('"active"', False),
        ("note", False),
    ],
)
def test_english_is_told_from_data(code: str, *, expected: bool) -> None:
    assert is_english(ast.parse(code, mode="eval").body) is expected


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_a_text_of_a_template_names_its_values(name: str) -> None:
    for text in find_template_texts(name):
        names = {field for _, field, _, _ in Formatter().parse(text.template) if field is not None}
        # A script fills in the values of a text that it is given as an attribute.
        for_script = re.search(rf'data-[a-z-]+="{{{{ n?_\("{re.escape(text.template)}"', read_template(name))
        assert for_script or text.values is None or names - {"count"} <= text.values
