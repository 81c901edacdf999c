import pytest
from markupsafe import Markup

from mainstay.doors.pages.translated_text import make_text_functions
from mainstay.values.reader_language import ENGLISH, ReaderLanguage


class French(ReaderLanguage):
    """Translations of the texts of these tests."""

    def translate(self, text: str) -> str:
        return {"By {name} & others": "Par {name} & autres", "<b>Hello</b> {name}": "<b>Salut</b> {name}"}[text]

    def translate_count(self, one: str, several: str, count: int) -> str:
        return (one if count < 2 else several).replace("visit", "visite")


@pytest.mark.parametrize(
    ("language", "text"),
    [(ENGLISH, "By &lt;Kim {}&gt; &amp; others"), (French(), "Par &lt;Kim {}&gt; &amp; autres")],
)
def test_a_text_and_its_values_are_escaped(language: ReaderLanguage, text: str) -> None:
    assert make_text_functions(language)["_"]("By {name} & others", name="<Kim {}>") == Markup(text)


def test_html_of_a_text_stays_and_its_values_are_escaped() -> None:
    assert make_text_functions(French())["html_"]("<b>Hello</b> {name}", name="<i>") == Markup("<b>Salut</b> &lt;i&gt;")


def test_a_number_chooses_the_text() -> None:
    count = make_text_functions(French())["n_"]
    assert [count("{count} visit", "{count} visits", number) for number in (0, 1, 2)] == [
        "0 visite",
        "1 visite",
        "2 visites",
    ]
