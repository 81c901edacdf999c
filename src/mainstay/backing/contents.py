"""What a file is: told by its content, never by its name. What is none of the kinds we take is refused in words."""

import re
from dataclasses import dataclass
from pathlib import Path
from unicodedata import category, normalize
from zipfile import BadZipFile

from mainstay.backing.archives import open_archive
from mainstay.backing.child import BadContent
from mainstay.backing.images import ACCEPTED, MOST_OF_PHOTOGRAPH, NotAPicture, redrawn

PDF = "application/pdf"
TEXT = "text/plain"
CSV = "text/csv"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
TAKEN = (*ACCEPTED, PDF, TEXT, CSV, DOCX, XLSX)

LONGEST_SIDE, SMALL_SIDE = 2400, 320
_LONGEST_NAME = 120
# How far from its end a PDF says that it ends.
_LAST = 2048
_MOST_PARTS = 5_000

_PNG, _JPEG = b"\x89PNG", b"\xff\xd8\xff"
# How photos of phones begin that few programs can show: a box of this kind, of one of these brands.
_PHONE_BOX = slice(4, 8)
_PHONE_BRANDS = {b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1", b"avif"}
# How the name of a file of each kind ends; the first is put where it ends otherwise.
_ENDINGS = {
    "image/png": ("png",),
    "image/jpeg": ("jpg", "jpeg"),
    PDF: ("pdf",),
    TEXT: ("txt", "md", "log"),
    CSV: ("csv",),
    DOCX: ("docx",),
    XLSX: ("xlsx",),
}
_OF_PICTURES = {"png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "tif", "tiff", "heic"}
_KNOWN_ENDINGS = {ending for endings in _ENDINGS.values() for ending in endings}


class NotTaken(BadContent):
    """A file is none of the kinds we take; the text says why, and what is taken, behind the name of the field."""


@dataclass(frozen=True, slots=True)
class Content:
    """What is kept of a file that was handed in: a photo is drawn anew, and small as well."""

    media_type: str
    content: bytes
    small: bytes | None = None


def examined(path: Path, called: str) -> Content:
    """What a file is, or that it is not taken."""
    with path.open("rb") as file:
        begins = file.read(16)
    if begins.startswith((_PNG, _JPEG)):
        return _photo(path)
    if begins[_PHONE_BOX] == b"ftyp" and begins[8:12] in _PHONE_BRANDS:
        raise NotTaken(
            "is a HEIC or AVIF photo, which not every program can show. Save it as JPEG first; an iPhone takes JPEG"
            " photos when its camera is set to Most Compatible"
        )
    content = path.read_bytes()
    if begins.startswith(b"%PDF-"):
        if b"%%EOF" not in content[-_LAST:]:
            raise NotTaken("is a PDF that does not end: it did not arrive whole. Save it again, then add it")
        return Content(PDF, content)
    if begins.startswith(b"PK\x03\x04"):
        return Content(_of_office(content), content)
    if (ending := called.rpartition(".")[2].lower()) in _OF_PICTURES:
        # Whoever sends one means a photo, and would look for it in vain.
        raise NotTaken(f"is called .{ending} and is no such picture. Open it in another program and save it anew")
    return Content(_of_text(content, called), content)


def plain_name(called: str) -> str:
    """What whoever handed in a file calls it: one line without folders."""
    name = normalize("NFC", called).replace("\\", "/").rpartition("/")[2]
    # Line breaks, marks that turn the direction of reading, and the like could make it look like another name.
    name = "".join(" " if category(letter) in _UNSEEN else letter for letter in name)
    return " ".join(name.split()).strip(". ")


def clean_name(called: str, media_type: str) -> str:
    """What a file is called from now on, with an ending that says what it is."""
    stem, _, ending = plain_name(called).rpartition(".")
    right = _ENDINGS[media_type]
    if not stem or ending.lower() not in _KNOWN_ENDINGS:
        stem, ending = f"{stem}.{ending}" if stem else ending, ""
    ending = ending if ending.lower() in right else right[0]
    return f"{stem[:_LONGEST_NAME].rstrip('. ') or _NAMELESS}.{ending}"


_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_NAMELESS = "File"
# Control characters, but for those of tabs, lines and pages.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_WHAT_IS_TAKEN = "Taken are PNG and JPEG photos, PDF, plain text, CSV, and Word and Excel files (docx, xlsx)"


def _photo(path: Path) -> Content:
    try:
        drawn = redrawn(path, LONGEST_SIDE, MOST_OF_PHOTOGRAPH)
        small = redrawn(drawn, SMALL_SIDE)
    except NotAPicture as fault:
        raise NotTaken(str(fault)) from None
    return Content("image/png" if drawn.startswith(_PNG) else "image/jpeg", drawn, small)


def _of_office(content: bytes) -> str:
    """Whether it is a text or a table of an office program, by the parts that its directory names."""
    try:
        with open_archive(content, _MOST_PARTS) as archive:
            names = {part.filename for part in archive.infolist()}
    except (BadZipFile, NotImplementedError, ValueError, OSError):
        names = set()
    if "[Content_Types].xml" in names and any(name.lower().endswith("vbaproject.bin") for name in names):
        raise NotTaken("has macros in it. Save it without them first")
    if "[Content_Types].xml" in names and "word/document.xml" in names:
        return DOCX
    if "[Content_Types].xml" in names and "xl/workbook.xml" in names:
        return XLSX
    raise NotTaken(f"is an archive of another kind. {_WHAT_IS_TAKEN}")


def _of_text(content: bytes, called: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = ""
    if not text.strip() or _CONTROL.search(text):
        raise NotTaken("is empty" if not content.strip() else f"is of a kind that is not taken. {_WHAT_IS_TAKEN}")
    # Both are text; which of the two it is called makes no difference to anyone but a spreadsheet.
    return CSV if called.lower().endswith(".csv") else TEXT
