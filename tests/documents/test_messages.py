"""What customers and suppliers are told: everything in every language, and nothing that nobody says."""

import re
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

import mainstay
from mainstay.documents.messages import load_messages, translate
from mainstay.documents.snapshot import Language

LANGUAGES = get_args(Language)
SOURCE = Path(mainstay.__file__).parent


def placeholders_of(text: str) -> set[str]:
    """The names in a message for which something is put in."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_message_is_missing_and_each_takes_the_same_values(language: str) -> None:
    english, other = load_messages("en"), load_messages(language)
    assert other.keys() == english.keys()
    assert {key: placeholders_of(text) for key, text in other.items()} == {
        key: placeholders_of(text) for key, text in english.items()
    }
    assert all(text.strip() == text and text for text in other.values())


def test_there_is_a_catalogue_for_each_language_and_no_other() -> None:
    assert {path.stem for path in (SOURCE / "documents" / "languages").glob("*.toml")} == set(LANGUAGES)


def test_every_message_is_said_somewhere() -> None:
    code = "\n".join(path.read_text() for path in SOURCE.rglob("*") if path.suffix in {".py", ".html", ".txt"})
    said = set(re.findall(r"""["']([a-z][A-Za-z]*\.[a-z][A-Za-z]*)["']""", code))
    assert {key for key in load_messages("en") if key not in said} == set()


def test_what_is_put_in_is_never_read_as_a_message() -> None:
    assert translate("en", "party.attention", name="{number} {0.__class__}") == "Attn {number} {0.__class__}"


def test_a_message_that_nobody_wrote_is_a_fault() -> None:
    with pytest.raises(KeyError):
        translate("en", "party.nobody")
