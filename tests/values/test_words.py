import pytest

from mainstay.values.choices import fold_text, remove_accents


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("  Calder   Property ", "calder property"),
        ("Zoë ÉCOLE", "zoe ecole"),
        ("Straße STRAẞE", "strasse strasse"),
        ("Łódź", "lodz"),
        ("Søren Ørsted", "soren orsted"),
        ("Ǿ ǽ", "o ae"),
        ("Đorđević Guðrún", "dordevic gudrun"),
        ("Ærø Æbeltoft", "aero aebeltoft"),
        ("Œuvre cœur", "oeuvre coeur"),
        ("Þór", "thor"),
        ("Ħal Għaxaq", "hal ghaxaq"),
        ("Kapal\N{LATIN SMALL LETTER DOTLESS I} İstanbul", "kapali istanbul"),
        ("Kárášjohka Ŧáŋŋa", "karasjohka tanna"),
        ("Əliyev", "eliyev"),
        ("王伟 Ивано́в", "王伟 иванов"),
    ],
)
def test_a_text_is_looked_for_without_what_few_have_on_their_keys(text: str, plain: str) -> None:
    assert fold_text(text) == fold_text(plain) == plain


def test_what_is_told_apart_for_good_keeps_its_letters() -> None:
    assert remove_accents("  Søren  ÉCOLE Straße") == "søren ecole strasse"
    assert remove_accents(" Calder  Property") == "calder property"
