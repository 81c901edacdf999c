"""Texts of templates, in the language of the reader.

Templates write `_("New job")`, or with values `_("Last changed by {name}", name=…)`. Both the text and the values are
escaped. Where a text contains HTML, `html_` takes it as it is; its values are escaped. `n_` chooses by a number.
"""

from collections.abc import Callable
from gettext import NullTranslations
from typing import Any

from markupsafe import Markup, escape

from mainstay.doors.pages.message_format import problem_sentence


def make_text_functions(translations: NullTranslations) -> dict[str, Callable[..., str]]:
    """Return the functions with which templates write texts in one language, and what is wrong with a field."""

    def translate(text: str, /, **values: Any) -> Markup:
        # An empty text is no key: it stands for the description of the translations themselves.
        translated = escape(translations.gettext(text)) if text else Markup("")
        return translated.format(**values) if values else translated

    def translate_html(text: str, /, **values: Any) -> Markup:
        return Markup(translations.gettext(text)).format(**values)

    def translate_count(one: str, several: str, count: int, /, **values: Any) -> Markup:
        return escape(translations.ngettext(one, several, count)).format(count=count, **values)

    def explain_problem(label: str, problem: str) -> str:
        return problem_sentence(translations.gettext(label), problem)

    return {"_": translate, "html_": translate_html, "n_": translate_count, "problem_sentence": explain_problem}
