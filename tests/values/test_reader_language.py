from datetime import date
from pathlib import Path

import pytest

from mainstay.values.reader_language import ENGLISH, Languages

CATALOGUE = """\
msgid ""
msgstr "Plural-Forms: nplurals=2; plural=(n > 1);\\n"

msgid "Save"
msgstr "Enregistrer"

msgid "{count} visit"
msgid_plural "{count} visits"
msgstr[0] "{count} visite"
msgstr[1] "{count} visites"
"""
NOVEMBER = date(2026, 11, 16)


@pytest.fixture
def languages(tmp_path: Path) -> Languages:
    """English and French."""
    (tmp_path / "fr.po").write_text(CATALOGUE, "utf-8")
    return Languages.load(tmp_path)


def test_a_text_without_a_translation_stays_english(languages: Languages) -> None:
    french = languages.find("fr")
    assert [french.translate(text) for text in ("Save", "Send", "")] == ["Enregistrer", "Send", ""]
    assert [french.translate_count("{count} visit", "{count} visits", count) for count in (0, 1, 2)] == [
        "{count} visite",
        "{count} visite",
        "{count} visites",
    ]


def test_names_of_countries_currencies_zones_and_languages_are_translated(languages: Languages) -> None:
    names = ("Germany", "British Pound (GBP)", "London (Europe)", "German")
    french = ["Allemagne", "livre sterling (GBP)", "Londres (Europe)", "Allemand"]
    assert [languages.find("fr").translate(name) for name in names] == french


@pytest.mark.parametrize(
    ("accepted", "code"),
    [
        ("", "en"),
        ("fr", "fr"),
        ("fr-CH, en;q=0.9", "fr"),
        ("de, fr;q=0.5, en;q=0.4", "fr"),
        ("en-GB, fr;q=0.9", "en"),
        ("fr;q=0.2, en;q=0.8", "en"),
        ("fr;q=0, de", "en"),
        ("FR;q=0.8", "fr"),
        ("*", "en"),
        ("fr;q=much;;, ;q", "en"),
        ("fr;level=1", "en"),
    ],
)
def test_a_browser_gets_the_language_it_prefers_among_those_there_are(
    languages: Languages, accepted: str, code: str
) -> None:
    assert languages.choose(accepted).code == code


def test_an_installation_without_catalogues_has_english_only(tmp_path: Path) -> None:
    languages = Languages.load(tmp_path / "translations")
    assert len(languages) == 1
    assert languages.choose("fr") is languages.find("fr") is ENGLISH


def test_dates_are_written_as_usual_in_each_language(languages: Languages) -> None:
    written = [
        (
            language.format_date(NOVEMBER),
            language.format_date_range(NOVEMBER, date(2026, 12, 3)),
            language.format_month(NOVEMBER),
            language.format_long_date(NOVEMBER),
            language.format_weekday(NOVEMBER),
        )
        for language in (ENGLISH, languages.find("fr"))
    ]
    dash, thin = "\N{EN DASH}", "\N{THIN SPACE}"
    assert written == [
        ("16 Nov 2026", f"16 Nov{dash}3 Dec 2026", "Nov 2026", "Monday 16 November", "Monday"),
        ("16 nov. 2026", f"16 nov.{thin}{dash}{thin}3 déc. 2026", "nov. 2026", "lundi 16 novembre 2026", "lundi"),
    ]
