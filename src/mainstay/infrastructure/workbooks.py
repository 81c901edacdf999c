"""Read the first sheet of an Excel workbook, after checking what it unpacks to."""

import posixpath
import zlib
from collections.abc import Iterator
from datetime import date, datetime
from io import BytesIO
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from mainstay.infrastructure.table_limits import UnreadableTable, damaged_workbook, oversized_workbook
from mainstay.infrastructure.workbook_checks import (
    SHARED_STRINGS,
    STYLES,
    WORKBOOK,
    WORKSHEET,
    PartReader,
    open_archive,
)
from mainstay.lazy_import import import_lazily
from mainstay.values.message import Message, ShownMessage
from mainstay.values.rust_panics import is_panic

# The most bytes that the parts may unpack to. A few bytes can unpack to more than the memory.
_MAX_UNPACKED_BYTES = 40_000_000
_MAX_PARTS = 1_000
# The longest sheet name in a message; Excel's have at most 31 characters.
_LONGEST_NAME = 100


def read_workbook(content: bytes, remarks: list[ShownMessage]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of the first visible sheet, each with its number; formulas give their results."""
    library = import_lazily("python_calamine")
    checked = _check_workbook(content, remarks)
    try:
        with library.load_workbook(checked) as book:
            sheet = book.get_sheet_by_index(0)
            first = sheet.start[0] if sheet.start else 0
            for number, cells in enumerate(sheet.to_python(), first + 1):
                yield number, [_cell_to_text(cell) for cell in cells]
    except library.CalamineError:
        raise damaged_workbook() from None
    except BaseException as error:
        if is_panic(error):
            raise damaged_workbook() from None
        raise


def _check_workbook(content: bytes, remarks: list[ShownMessage]) -> BytesIO:
    """Check the first visible sheet and its related parts, and build a workbook of only these parts."""
    reader = PartReader()
    try:
        with open_archive(content, _MAX_PARTS) as archive:
            parts = _WorkbookParts(archive)
            [path] = reader.list_relationships(parts.read("_rels/.rels"), "")[WORKBOOK].values()
            folder, name = posixpath.split(path)
            related = reader.list_relationships(parts.read(f"{folder}/_rels/{name}.rels"), folder)
            sheets = reader.list_sheets(parts.read(path), related[WORKSHEET])
            if not sheets.visible:
                raise damaged_workbook()
            sheet_name, path = sheets.visible[0]
            sheet = parts.read(path)
            strings = parts.find(next(iter(related[SHARED_STRINGS].values()), _STRINGS_AT))
            styles = parts.find(next(iter(related[STYLES].values()), _STYLES_AT))
    except (BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError, KeyError, RuntimeError):
        raise damaged_workbook() from None
    if len(sheets.visible) > 1:
        remarks.append(
            Message(
                "The workbook has several sheets; only the first, {sheet}, was read.", sheet=sheet_name[:_LONGEST_NAME]
            )
        )
    if styles:
        reader.check_styles(styles)
    reader.check_sheet(sheet, reader.measure_strings(strings) if strings else [])
    kept_parts = {
        "_rels/.rels": _relationships_xml(WORKBOOK, "xl/workbook.xml"),
        "xl/workbook.xml": _WORKBOOK.format(from_1904=int(sheets.from_1904)),
        "xl/_rels/workbook.xml.rels": _relationships_xml(WORKSHEET, "worksheets/sheet1.xml"),
        _STRINGS_AT: strings,
        _STYLES_AT: styles,
        "xl/worksheets/sheet1.xml": sheet,
    }
    return _pack_workbook({path: part for path, part in kept_parts.items() if part})


def _pack_workbook(parts: dict[str, str | bytes]) -> BytesIO:
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_STORED) as archive:
        for path, part in parts.items():
            archive.writestr(path, part)
    packed.seek(0)
    return packed


class _WorkbookParts:
    """The parts of a workbook by their paths, which some programs write in capitals or with backslashes."""

    def __init__(self, archive: ZipFile) -> None:
        self.archive = archive
        self.bytes_left = _MAX_UNPACKED_BYTES
        self.by_path = {part.filename.replace("\\", "/").lower(): part for part in archive.infolist()}

    def find(self, path: str) -> bytes | None:
        """Unpack the part at this path, if there is one."""
        return self.read(path) if path.lower() in self.by_path else None

    def read(self, path: str) -> bytes:
        """Unpack the part at this path within limits."""
        part = self.by_path[path.lower()]
        if part.flag_bits & 1:
            raise UnreadableTable(Message("The workbook is protected by a password. Save it without one."))
        self.bytes_left -= part.file_size
        if self.bytes_left < 0:
            raise oversized_workbook()
        # Unpack no more than the declared size, whatever the file contains.
        return self.archive.open(part).read(part.file_size)


_STRINGS_AT, _STYLES_AT = "xl/sharedStrings.xml", "xl/styles.xml"
_MAIN_NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE_NAMESPACE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE_NAMESPACE = "http://schemas.openxmlformats.org/package/2006/relationships"
_WORKBOOK = (
    f'<workbook xmlns="{_MAIN_NAMESPACE}" xmlns:r="{_OFFICE_NAMESPACE}"><workbookPr date1904="{{from_1904}}"/>'
    '<sheets><sheet name="Sheet" sheetId="1" r:id="rId1"/></sheets></workbook>'
)


def _relationships_xml(kind: str, path: str) -> str:
    relationship = f'<Relationship Id="rId1" Type="{_OFFICE_NAMESPACE}/{kind}" Target="{path}"/>'
    return f'<Relationships xmlns="{_PACKAGE_NAMESPACE}">{relationship}</Relationships>'


def _cell_to_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _LARGEST_EXACT:
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == _MIDNIGHT else cell.isoformat(sep=" ", timespec="minutes")
    return cell.isoformat() if isinstance(cell, date) else str(cell)


_LARGEST_EXACT = 1e15
_MIDNIGHT = datetime.min.time()
