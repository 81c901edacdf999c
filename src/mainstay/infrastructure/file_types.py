"""Find the type of a file from its content, never from its name, and refuse types that are not accepted."""

import re
from dataclasses import dataclass
from pathlib import Path
from unicodedata import category, normalize
from zipfile import BadZipFile

from mainstay.infrastructure.child_process import BadContent
from mainstay.infrastructure.images import MAX_PHOTO_PIXELS, PICTURE_TYPES, UnacceptedPicture, redraw_picture
from mainstay.infrastructure.workbook_checks import open_archive
from mainstay.values.message import Message

PDF = "application/pdf"
TEXT = "text/plain"
CSV = "text/csv"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ACCEPTED_TYPES = (*PICTURE_TYPES, PDF, TEXT, CSV, DOCX, XLSX)

# The most pixels on a side of a stored photo, and of its small version.
_PHOTO_SIDE, _SMALL_PHOTO_SIDE = 2400, 320
_LONGEST_NAME = 120
# How close to the end of a PDF its end mark must be.
_END_MARK_BYTES = 2048
_MAX_ARCHIVE_PARTS = 5_000

_PNG, _JPEG = b"\x89PNG", b"\xff\xd8\xff"
# HEIC and AVIF photos begin with a box: its type and brand are at these places, and the brand is one of these.
_BOX_TYPE, _BOX_BRAND = slice(4, 8), slice(8, 12)
_HEIC_AND_AVIF_BRANDS = {b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1", b"avif"}
# The file name endings of each type; the first one replaces a wrong ending.
_ENDINGS = {
    "image/png": ("png",),
    "image/jpeg": ("jpg", "jpeg"),
    PDF: ("pdf",),
    TEXT: ("txt", "md", "log"),
    CSV: ("csv",),
    DOCX: ("docx",),
    XLSX: ("xlsx",),
}
_PICTURE_ENDINGS = {"png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "tif", "tiff", "heic"}
_KNOWN_ENDINGS = {ending for endings in _ENDINGS.values() for ending in endings}


class UnacceptedFile(BadContent):
    """The file is not accepted; the message says why, and follows the name of the field."""


@dataclass(frozen=True, slots=True)
class ExaminedFile:
    """What is stored of an uploaded file: a photo is redrawn, and also stored as a small version."""

    media_type: str
    content: bytes
    small: bytes | None = None


def examine_file(path: Path, file_name: str) -> ExaminedFile:
    """Return the type of a file and the content to store. Raise UnacceptedFile if its type is not accepted."""
    with path.open("rb") as file:
        header = file.read(16)
    if header.startswith((_PNG, _JPEG)):
        return _redraw_photo(path)
    if header[_BOX_TYPE] == b"ftyp" and header[_BOX_BRAND] in _HEIC_AND_AVIF_BRANDS:
        raise UnacceptedFile(
            Message(
                "is a HEIC or AVIF photo, which many programs can't show. Save it as JPEG first. On an iPhone, set the"
                " camera format to Most Compatible"
            )
        )
    content = path.read_bytes()
    if header.startswith(b"%PDF-"):
        if b"%%EOF" not in content[-_END_MARK_BYTES:]:
            raise UnacceptedFile(Message("is an incomplete PDF. Save it again, then upload it"))
        return ExaminedFile(PDF, content)
    if header.startswith(b"PK\x03\x04"):
        return ExaminedFile(_find_office_type(content), content)
    if (ending := file_name.rpartition(".")[2].lower()) in _PICTURE_ENDINGS:
        # The sender expects a photo, so the content is not stored as text.
        raise UnacceptedFile(
            Message(
                "ends in .{ending} but is not that kind of picture. Open it in another program and save it again",
                ending=ending,
            )
        )
    return ExaminedFile(_find_text_type(content, file_name), content)


def to_single_line_name(file_name: str) -> str:
    """Return the sender's name of a file as one line without folders."""
    name = normalize("NFC", file_name).replace("\\", "/").rpartition("/")[2]
    # Line breaks, marks that reverse the text direction, and similar could make it look like another name.
    name = "".join(" " if category(letter) in _INVISIBLE_CATEGORIES else letter for letter in name)
    return " ".join(name.split()).strip(". ")


def to_stored_name(file_name: str, media_type: str) -> str:
    """Return the name under which a file is stored, with an ending that fits its type."""
    stem, _, ending = to_single_line_name(file_name).rpartition(".")
    allowed = _ENDINGS[media_type]
    if not stem or ending.lower() not in _KNOWN_ENDINGS:
        # What follows the last dot belongs to the name itself.
        stem, ending = f"{stem}.{ending}" if stem else ending, ""
    ending = ending if ending.lower() in allowed else allowed[0]
    return f"{stem[:_LONGEST_NAME].rstrip('. ') or _DEFAULT_NAME}.{ending}"


# The Unicode categories of letters that cannot be seen.
_INVISIBLE_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_DEFAULT_NAME = "File"
# Control characters, except tabs, line breaks and page breaks.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_ACCEPTED_IN_WORDS = Message(
    "You can upload PNG and JPEG photos, PDF, plain text, CSV, Word and Excel files (docx, xlsx)"
)


def _redraw_photo(path: Path) -> ExaminedFile:
    try:
        redrawn_photo = redraw_picture(path, _PHOTO_SIDE, MAX_PHOTO_PIXELS)
        small = redraw_picture(redrawn_photo, _SMALL_PHOTO_SIDE)
    except UnacceptedPicture as error:
        raise UnacceptedFile(error.message) from None
    return ExaminedFile("image/png" if redrawn_photo.startswith(_PNG) else "image/jpeg", redrawn_photo, small)


def _find_office_type(content: bytes) -> str:
    """Return the type of an archive if it is a Word or an Excel file, which the names of its parts tell."""
    try:
        with open_archive(content, _MAX_ARCHIVE_PARTS) as archive:
            names = {part.filename for part in archive.infolist()}
    except (BadZipFile, NotImplementedError, ValueError, OSError):
        names = set()
    if "[Content_Types].xml" in names and any(name.lower().endswith("vbaproject.bin") for name in names):
        raise UnacceptedFile(Message("has macros. Save it without macros first"))
    if "[Content_Types].xml" in names and "word/document.xml" in names:
        return DOCX
    if "[Content_Types].xml" in names and "xl/workbook.xml" in names:
        return XLSX
    raise UnacceptedFile(Message("is not an accepted type of archive. {accepted}", accepted=_ACCEPTED_IN_WORDS))


def _find_text_type(content: bytes, file_name: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = ""
    if not text.strip() or _CONTROL.search(text):
        raise UnacceptedFile(
            Message("is not an accepted type of file. {accepted}", accepted=_ACCEPTED_IN_WORDS)
            if content.strip()
            else Message("is empty")
        )
    # Both are text; the difference matters only to spreadsheets.
    return CSV if file_name.lower().endswith(".csv") else TEXT
