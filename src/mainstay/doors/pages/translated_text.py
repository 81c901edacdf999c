"""Texts of templates, in the language of the reader.

Templates write `_("New job")`, or with values `_("Last changed by {name}", name=…)`. Both the text and the values are
escaped. A text that was chosen in code is a `Message`. Where a text contains HTML, `html_` takes it as it is; its
values are escaped. `n_` chooses by a number.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape

from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.message_format import PageFormat, problem_sentence
from mainstay.values.message import Message
from mainstay.values.reader_language import ReaderLanguage

# Of each language.
_MOST_TEXTS = 4096


def make_text_functions(language: ReaderLanguage) -> dict[str, Callable[..., str]]:
    """Return the functions with which templates write texts in one language, and what is wrong with a field."""
    # For messages without amounts and moments; those are rendered for the person before.
    page_format = PageFormat(DisplaySettings("UTC", language=language))

    # Each page has some two hundred of these texts, and nearly all are the same on the next one.
    @lru_cache(_MOST_TEXTS)
    def translate_plain(text: str) -> Markup:
        return escape(language.translate(text))

    def translate(text: str | Message, /, **values: Any) -> Markup:
        if isinstance(text, Message):
            return escape(page_format.render(text))
        translated = translate_plain(text)
        return translated.format(**values) if values else translated

    def translate_html(text: str, /, **values: Any) -> Markup:
        return Markup(language.translate(text)).format(**values)

    def translate_count(one: str, several: str, count: int, /, **values: Any) -> Markup:
        return escape(language.translate_count(one, several, count)).format(count=count, **values)

    def explain_problem(label: str, problem: str) -> str:
        return problem_sentence(language.translate(label), problem)

    return {"_": translate, "html_": translate_html, "n_": translate_count, "problem_sentence": explain_problem}
