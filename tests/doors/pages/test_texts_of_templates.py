"""Every visible text of a template goes through the translations, and HTML is only taken from literals."""

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

FOLDER = files("mainstay.doors.pages").joinpath("templates")
TEMPLATES = {file.name: file.read_text("utf-8") for file in FOLDER.iterdir()}
# Parts that hold no text: the template language, drawings, scripts, and the tags of HTML.
_EXPRESSION = r"\{\{(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|.)*?\}\}"
_NO_TEXT = re.compile(
    # The tab of a settings page is the name of its area, which the navigation translates.
    r"\{% block tab %\}.*?\{% endblock %\}|\{#.*?#\}|\{%.*?%\}"
    r"|<script.*?</script>|<pre.*?</pre>|<svg.*?</svg>|<!doctype[^>]*>"
    rf"|{_EXPRESSION}|<(?:[^>{{]|{_EXPRESSION}|\{{%.*?%\}})*>",
    re.DOTALL,
)
_WORD = re.compile(r"[^\W\d_]{2}")
_ATTRIBUTE = re.compile(r'\b(?:aria-label|placeholder|title|alt|data-label)="([^"{]*)"')
# What a macro writes within a tag, such as an attribute or the end of an id.
_PART_OF_TAG = re.compile(r"[\s\"-]*[a-z-]+(=\"|\"|$)")
_NO_LETTERS = " \n\t.,:;·()/-\N{EN DASH}…→←✓✕!%+=\"'#?&"
# Names that are the same in every language, and units.
NO_WORDS = {"Mainstay", "CSV", "GB", "ms", "URL", "PDF"}


def find_untranslated(template: str) -> Iterator[str]:
    """Yield the texts that do not go through the translations."""
    for text in (*_NO_TEXT.split(template), *_ATTRIBUTE.findall(template)):
        plain = text.strip(_NO_LETTERS)
        if _WORD.search(plain) and plain not in NO_WORDS and not _PART_OF_TAG.match(text.strip(" ")):
            yield plain


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_every_visible_text_is_translated(name: str) -> None:
    assert list(find_untranslated(TEMPLATES[name])) == []


@pytest.mark.parametrize(
    "text", ["<p>Hello</p>", '<input placeholder="Type to find">', "{% if x %}Yes please{% endif %}"]
)
def test_such_a_text_would_be_found(text: str) -> None:
    assert list(find_untranslated(text))


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_html_comes_from_literals_only(name: str) -> None:
    assert re.findall(r"\bhtml_\((?![\"'])", TEMPLATES[name]) == []
