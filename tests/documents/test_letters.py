"""No letter stops a document: what no font has is replaced before."""

import re
from random import Random

import pytest

from mainstay.documents.characters import FONTS, _covered_codes, to_printable
from mainstay.documents.pdf import TEMPLATE, render_document
from support.snapshots import SnapshotItem, make_snapshot


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("Plain", "Plain"),
        ("Grüße, Ελλάδα, Київ, Đà Nẵng, ₹ € £", "Grüße, Ελλάδα, Київ, Đà Nẵng, ₹ € £"),
        ("שלום العربية", "שלום العربية"),
        ("🔧 Repair", "□ Repair"),
        ("漢字", "□□"),
        ("ไทย", "□□□"),
        ("㎡ ㎏ \N{FULLWIDTH LATIN CAPITAL LETTER A}", "m2 kg A"),
        ("a\x00b\x07c\x7fd\x85e", "abcde"),
        ("\ud83d half", " half"),
        ("a\u202eb\u2066c\ufeffd", "abcd"),
        ("a\r\nb\rc\u2028d\te", "a\nb\nc\nd e"),
        ("e\u0301", "é"),
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),
        ("\U000f0000\ue000", "□□"),
    ],
)
def test_what_cannot_be_printed_is_replaced(given: str, printed: str) -> None:
    assert to_printable(given) == printed


def test_every_letter_that_is_kept_can_be_printed() -> None:
    """Typst refuses a document with a letter it has no font for, so this would fail."""
    letters = [chr(code) for code in sorted(_covered_codes())]
    chance = Random(1)
    mixed = ["".join(chance.choices(letters, k=12)) for _ in range(400)]
    kept = to_printable(" ".join(letters))
    assert len(set(kept)) > 4500
    render_document(make_snapshot(SnapshotItem(), notes=kept, terms=" ".join(mixed)))


def test_each_family_is_there_with_its_licence() -> None:
    files = {path.name for path in FONTS.glob("*.ttf")}
    said = re.search(r"^#let families = \((.+)\)$", TEMPLATE.read_text(), re.MULTILINE)
    families = re.findall(r'"([^"]+)"', said[1] if said else "")
    assert len(families) == 4
    for family in families:
        assert f"{family.replace(' ', '')}-Regular.ttf" in files
        licence = FONTS / f"OFL-{family.replace(' ', '-').lower()}.txt"
        assert "SIL OPEN FONT LICENSE Version 1.1" in licence.read_text()
    assert sum(path.stat().st_size for path in FONTS.iterdir()) < 3_000_000
