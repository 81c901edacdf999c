"""What a file is, by its content alone; and what it is called from then on."""

from pathlib import Path

import pytest
from PIL import Image

from mainstay.infrastructure.file_types import (
    CSV,
    DOCX,
    TEXT,
    XLSX,
    ExaminedFile,
    UnacceptedFile,
    examine_file,
    to_stored_name,
)
from mainstay.infrastructure.file_types import PDF as PDF_TYPE
from support import hostile
from support.attachments import PDF, make_office_file, make_zip
from support.images import NOT_IMAGES, draw_image, open_image


def identify_content(tmp_path: Path, content: bytes, called: str = "file") -> ExaminedFile:
    path = tmp_path / "handed in"
    path.write_bytes(content)
    return examine_file(path, called)


def test_a_photo_is_drawn_anew_and_small_as_well(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "where it was taken"
    found = identify_content(tmp_path, draw_image("JPEG", (5000, 2500), exif=exif.tobytes()))
    assert found.media_type == "image/jpeg"
    assert open_image(found.content).size == (2400, 1200)
    assert open_image(found.small or b"").size == (320, 160)
    assert b"where" not in found.content
    assert identify_content(tmp_path, draw_image("PNG"), "photo.jpg").media_type == "image/png"


def test_a_photo_may_be_as_large_as_phones_take_them_and_no_larger(tmp_path: Path) -> None:
    assert open_image(identify_content(tmp_path, draw_image("JPEG", (8160, 6144), "L")).content).size == (2400, 1807)
    with pytest.raises(UnacceptedFile, match="more than 52 million pixels"):
        identify_content(tmp_path, draw_image("JPEG", (8200, 6400), "L"))
    with pytest.raises(UnacceptedFile, match="more than 16 million pixels"):
        identify_content(tmp_path, draw_image("PNG", (4100, 4000), "L"))


@pytest.mark.parametrize(
    ("content", "called", "kind"),
    [
        (PDF, "photo.jpg", PDF_TYPE),
        (b"Gr\xc3\xbc\xc3\x9fe\nfrom us", "letter.exe", TEXT),
        (b"\xef\xbb\xbfName;City\r\nA;B\r\n", "list.CSV", CSV),
        (make_office_file("word/document.xml"), "x", DOCX),
        (make_office_file("xl/workbook.xml"), "x", XLSX),
    ],
)
def test_other_files_are_known_by_what_is_in_them_and_stay_as_they_are(
    tmp_path: Path, content: bytes, called: str, kind: str
) -> None:
    assert identify_content(tmp_path, content, called) == ExaminedFile(kind, content)


REFUSED_FILES = {
    "nothing": (b"", "is empty"),
    "blanks": (b" \n\t", "is empty"),
    "a program": (b"\x7fELF\x02\x01\x01\0\0", "not an accepted type of file. You can upload PNG"),
    "text of an older kind": ("Grüße".encode("latin-1"), "not an accepted type of file"),
    "text with control characters": (b"a\x1b[31mb", "not an accepted type of file"),
    "text with a vertical tab": (b"a\x0bb", "not an accepted type of file"),
    "text with a control character of ISO 6429": ("a\x85b".encode(), "not an accepted type of file"),
    "a PDF that does not end": (PDF[:-7], "is an incomplete PDF"),
    "a PDF behind something else": (b"\0\0\0" + PDF, "not an accepted type of file"),
    "an archive": (make_zip(a_txt=b"a"), "not an accepted type of archive"),
    "an archive that is none": (b"PK\x03\x04 and no more", "not an accepted type of archive"),
    "a table with macros": (make_office_file("xl/workbook.xml", xl__vbaProject_bin=b"x"), "macros"),
    "a photo of a phone": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "HEIC"),
    "an archive of many parts": (hostile.make_archive_with_entries(6_000), "not an accepted type of archive"),
    "an archive with much beside the names": (
        hostile.make_archive_with_entries(10, added=16_000),
        "not an accepted type of archive",
    ),
    "a photo with a scan that is there 200 times": (
        hostile.make_jpeg_with_repeated_scan(80, 60, 200),
        "takes too long",
    ),
    "a photo cut short": (draw_image("JPEG", (400, 400))[:700], "PNG or JPEG"),
}


@pytest.mark.parametrize("what", REFUSED_FILES)
def test_what_is_not_taken_is_told_in_words(tmp_path: Path, what: str) -> None:
    content, message = REFUSED_FILES[what]
    with pytest.raises(UnacceptedFile, match=message):
        identify_content(tmp_path, content)


@pytest.mark.parametrize("called", ["x.png", "x.JPEG", "x.svg"])
def test_text_that_is_called_a_picture_is_told_to_be_none(tmp_path: Path, called: str) -> None:
    with pytest.raises(UnacceptedFile, match="but is not that kind of picture"):
        identify_content(tmp_path, b"<svg/>", called)


@pytest.mark.parametrize("what", sorted(NOT_IMAGES.keys() - {"PDF"}))
def test_nothing_that_only_says_it_is_a_picture_is_taken(tmp_path: Path, what: str) -> None:
    with pytest.raises(UnacceptedFile):
        identify_content(tmp_path, NOT_IMAGES[what], "photo.png")


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
    assert to_stored_name(called, media_type) == name
