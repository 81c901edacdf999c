"""What a file is, by its content alone; and what it is called from then on."""

from pathlib import Path

import pytest
from PIL import Image

from filing import PDF, archive, office_file
from mainstay.backing.contents import CSV, DOCX, TEXT, XLSX, Content, NotTaken, clean_name, examined
from mainstay.backing.contents import PDF as PDF_TYPE
from pictures import NOT_PICTURES, drawn, opened
from support import hostile


def look(tmp_path: Path, content: bytes, called: str = "file") -> Content:
    path = tmp_path / "handed in"
    path.write_bytes(content)
    return examined(path, called)


def test_a_photo_is_drawn_anew_and_small_as_well(tmp_path: Path) -> None:
    told = Image.Exif()
    told[0x010E] = "where it was taken"
    found = look(tmp_path, drawn("JPEG", (5000, 2500), exif=told.tobytes()))
    assert found.media_type == "image/jpeg"
    assert opened(found.content).size == (2400, 1200)
    assert opened(found.small or b"").size == (320, 160)
    assert b"where" not in found.content
    assert look(tmp_path, drawn("PNG"), "photo.jpg").media_type == "image/png"


def test_a_photo_may_be_as_large_as_phones_take_them_and_no_larger(tmp_path: Path) -> None:
    assert opened(look(tmp_path, drawn("JPEG", (8160, 6144), "L")).content).size == (2400, 1807)
    with pytest.raises(NotTaken, match="more than 52 million dots"):
        look(tmp_path, drawn("JPEG", (8200, 6400), "L"))
    with pytest.raises(NotTaken, match="more than 16 million dots"):
        look(tmp_path, drawn("PNG", (4100, 4000), "L"))


@pytest.mark.parametrize(
    ("content", "called", "kind"),
    [
        (PDF, "photo.jpg", PDF_TYPE),
        (b"Gr\xc3\xbc\xc3\x9fe\nfrom us", "letter.exe", TEXT),
        (b"\xef\xbb\xbfName;City\r\nA;B\r\n", "list.CSV", CSV),
        (office_file("word/document.xml"), "x", DOCX),
        (office_file("xl/workbook.xml"), "x", XLSX),
    ],
)
def test_other_files_are_known_by_what_is_in_them_and_stay_as_they_are(
    tmp_path: Path, content: bytes, called: str, kind: str
) -> None:
    assert look(tmp_path, content, called) == Content(kind, content)


NOT_TAKEN = {
    "nothing": (b"", "is empty"),
    "blanks": (b" \n\t", "is empty"),
    "a program": (b"\x7fELF\x02\x01\x01\0\0", "not taken. Taken are PNG"),
    "text of an older kind": ("Grüße".encode("latin-1"), "not taken"),
    "text with control characters": (b"a\x1b[31mb", "not taken"),
    "text with a vertical tab": (b"a\x0bb", "not taken"),
    "text with a control character of ISO 6429": ("a\x85b".encode(), "not taken"),
    "a PDF that does not end": (PDF[:-7], "does not end"),
    "a PDF behind something else": (b"\0\0\0" + PDF, "not taken"),
    "an archive": (archive(a_txt=b"a"), "another kind"),
    "an archive that is none": (b"PK\x03\x04 and no more", "another kind"),
    "a table with macros": (office_file("xl/workbook.xml", xl__vbaProject_bin=b"x"), "macros"),
    "a photo of a phone": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "HEIC"),
    "an archive of many parts": (hostile.archive_with_entries(6_000), "another kind"),
    "an archive with much beside the names": (hostile.archive_with_entries(10, added=16_000), "another kind"),
    "a photo with a scan that is there 200 times": (hostile.jpeg_with_repeated_scan(80, 60, 200), "takes too long"),
    "a photo cut short": (drawn("JPEG", (400, 400))[:700], "PNG or JPEG"),
}


@pytest.mark.parametrize("what", NOT_TAKEN)
def test_what_is_not_taken_is_told_in_words(tmp_path: Path, what: str) -> None:
    content, told = NOT_TAKEN[what]
    with pytest.raises(NotTaken, match=told):
        look(tmp_path, content)


@pytest.mark.parametrize("called", ["x.png", "x.JPEG", "x.svg"])
def test_text_that_is_called_a_picture_is_told_to_be_none(tmp_path: Path, called: str) -> None:
    with pytest.raises(NotTaken, match="and is no such picture"):
        look(tmp_path, b"<svg/>", called)


@pytest.mark.parametrize("what", sorted(NOT_PICTURES.keys() - {"PDF"}))
def test_nothing_that_only_says_it_is_a_picture_is_taken(tmp_path: Path, what: str) -> None:
    with pytest.raises(NotTaken):
        look(tmp_path, NOT_PICTURES[what], "photo.png")


@pytest.mark.parametrize(
    ("called", "media_type", "name"),
    [
        ("Plan.pdf", PDF_TYPE, "Plan.pdf"),
        ("C:\\Users\\me\\Plan.PDF", PDF_TYPE, "Plan.PDF"),
        ("../../etc/passwd", TEXT, "passwd.txt"),
        ("page.html", TEXT, "page.html.txt"),
        ("photo.jpg", "image/png", "photo.png"),
        ("photo.jpeg", "image/jpeg", "photo.jpeg"),
        ("No. 5", "image/jpeg", "No. 5.jpg"),
        ("a\r\nb\u202egpj.exe", PDF_TYPE, "a b gpj.exe.pdf"),
        ("u\u0308ber.pdf", PDF_TYPE, "über.pdf"),
        ("", PDF_TYPE, "File.pdf"),
        (".pdf", PDF_TYPE, "pdf.pdf"),
        ("///", PDF_TYPE, "File.pdf"),
        ("x" * 300 + ".pdf", PDF_TYPE, "x" * 120 + ".pdf"),
    ],
)
def test_a_name_is_one_line_and_says_what_the_file_is(called: str, media_type: str, name: str) -> None:
    assert clean_name(called, media_type) == name
