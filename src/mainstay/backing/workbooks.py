"""Read the first sheet of an Excel workbook, after checking what it becomes."""

import posixpath
import zlib
from collections.abc import Iterator
from datetime import date, datetime
from io import BytesIO
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from mainstay.backing.archives import open_archive
from mainstay.backing.sheets import SHARED_STRINGS, STYLES, WORKBOOK, WORKSHEET, PartReader
from mainstay.backing.table_limits import NotATable, damaged_workbook, oversized_workbook
from mainstay.late import late
from mainstay.values.panics import is_panic

# What the parts that are read may unpack to. A few bytes can unfold into as much as there is memory.
_MOST_UNPACKED = 40_000_000
_MOST_PARTS = 1_000
# Of the name of a sheet; Excel's have 31 characters.
_LONGEST_NAME = 100


def read_workbook(content: bytes, remarks: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Read the rows of the first visible sheet, each with its number; of a formula, its result."""
    library = late("python_calamine")
    checked = _check_workbook(content, remarks)
    try:
        with library.load_workbook(checked) as book:
            sheet = book.get_sheet_by_index(0)
            first = sheet.start[0] if sheet.start else 0
            for number, cells in enumerate(sheet.to_python(), first + 1):
                yield number, [_text_of(cell) for cell in cells]
    except library.CalamineError:
        raise damaged_workbook() from None
    except BaseException as fault:
        if is_panic(fault):
            raise damaged_workbook() from None
        raise


def _check_workbook(content: bytes, remarks: list[str]) -> BytesIO:
    """Check the first visible sheet and what belongs to it, and make a workbook of nothing but these parts."""
    reader = PartReader()
    try:
        with open_archive(content, _MOST_PARTS) as archive:
            parts = _Parts(archive)
            [place] = reader.list_relationships(parts.read("_rels/.rels"), "")[WORKBOOK].values()
            folder, name = posixpath.split(place)
            related = reader.list_relationships(parts.read(f"{folder}/_rels/{name}.rels"), folder)
            sheets = reader.list_sheets(parts.read(place), related[WORKSHEET])
            if not sheets.visible:
                raise damaged_workbook()
            called, place = sheets.visible[0]
            sheet = parts.read(place)
            strings = parts.find(next(iter(related[SHARED_STRINGS].values()), _STRINGS_AT))
            styles = parts.find(next(iter(related[STYLES].values()), _STYLES_AT))
    except (BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError, KeyError, RuntimeError):
        raise damaged_workbook() from None
    if len(sheets.visible) > 1:
        remarks.append(f"The workbook has several sheets; only the first, {called[:_LONGEST_NAME]}, was read.")
    if styles:
        reader.check_styles(styles)
    reader.check_sheet(sheet, reader.measure_strings(strings) if strings else [])
    made = {
        "_rels/.rels": _related(WORKBOOK, "xl/workbook.xml"),
        "xl/workbook.xml": _WORKBOOK.format(from_1904=int(sheets.from_1904)),
        "xl/_rels/workbook.xml.rels": _related(WORKSHEET, "worksheets/sheet1.xml"),
        _STRINGS_AT: strings,
        _STYLES_AT: styles,
        "xl/worksheets/sheet1.xml": sheet,
    }
    return _pack({place: part for place, part in made.items() if part})


def _pack(parts: dict[str, str | bytes]) -> BytesIO:
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_STORED) as archive:
        for place, part in parts.items():
            archive.writestr(place, part)
    packed.seek(0)
    return packed


class _Parts:
    """The parts of a workbook by their places, which some programs write in capitals or with backslashes."""

    def __init__(self, archive: ZipFile) -> None:
        self.archive = archive
        self.bytes_left = _MOST_UNPACKED
        self.named = {part.filename.replace("\\", "/").lower(): part for part in archive.infolist()}

    def find(self, place: str) -> bytes | None:
        """Unpack the part at this place, if there is one."""
        return self.read(place) if place.lower() in self.named else None

    def read(self, place: str) -> bytes:
        """Unpack the part at this place within bounds."""
        part = self.named[place.lower()]
        if part.flag_bits & 1:
            raise NotATable("The workbook is protected by a password. Save it without one.")
        self.bytes_left -= part.file_size
        if self.bytes_left < 0:
            raise oversized_workbook()
        # So much and no more is unpacked, whatever there is.
        return self.archive.open(part).read(part.file_size)


_STRINGS_AT, _STYLES_AT = "xl/sharedStrings.xml", "xl/styles.xml"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_WORKBOOK = (
    f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><workbookPr date1904="{{from_1904}}"/>'
    '<sheets><sheet name="Sheet" sheetId="1" r:id="rId1"/></sheets></workbook>'
)


def _related(kind: str, place: str) -> str:
    related = f'<Relationship Id="rId1" Type="{_OFFICE}/{kind}" Target="{place}"/>'
    return f'<Relationships xmlns="{_PACKAGE}">{related}</Relationships>'


def _text_of(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT:
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == _MIDNIGHT else cell.isoformat(sep=" ", timespec="minutes")
    return cell.isoformat() if isinstance(cell, date) else str(cell)


_EXACT = 1e15
_MIDNIGHT = datetime.min.time()
