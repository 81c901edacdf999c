"""Tables that people bring along, as CSV or XLSX: read into texts within bounds, or refused in words."""

import csv
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from mainstay.backing.child import BadContent
from mainstay.backing.sheets import check_extent
from mainstay.late import late
from mainstay.values.panics import is_panic

MOST_ROWS = 2_000
MOST_COLUMNS = 100
MOST_BYTES = 10_000_000
# What a workbook may unpack to. A few bytes can unfold into as much as there is memory.
_MOST_UNPACKED = 80_000_000
_MOST_PARTS = 1_000
_SEPARATORS = ",;\t|"

_ZIP, _COMPOUND = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
# What looks like text, and is no table.
_OTHERS = {b"%PDF", b"<!do", b"<htm"}
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class NotATable(BadContent):
    """What was brought along cannot be read; the text says why, and what to do, as a sentence."""


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a table as text: its headings, and behind each row's number in the file its cells."""

    headings: list[str]
    rows: list[tuple[int, list[str]]]
    # What whoever brought it should know of how it was read.
    remarks: list[str]


def read_table(path: Path) -> Table:
    """The table of a file, known by its content."""
    with path.open("rb") as file:
        begins = file.read(4)
    if begins in _OTHERS:
        raise _neither()
    if begins == _COMPOUND:
        raise NotATable(
            "The file is protected by a password, or of an old kind (xls). Save it as an Excel workbook (xlsx) without"
            " a password, or as CSV."
        )
    remarks: list[str] = []
    rows = _of_workbook(path, remarks) if begins == _ZIP else _of_text(path.read_bytes(), remarks)
    return _table(rows, remarks)


def _table(rows: Iterator[tuple[int, list[str]]], remarks: list[str]) -> Table:
    filled = ((number, cells) for number, cells in rows if any(cells))
    _, headings = next(filled, (0, []))
    if not headings:
        raise NotATable("The file is empty. Its first row should say what is in each column.")
    if len(headings) > MOST_COLUMNS:
        raise NotATable(f"The file has more than {MOST_COLUMNS} columns. Leave out what is not to be brought over.")
    kept: list[tuple[int, list[str]]] = []
    for number, cells in filled:
        if len(kept) == MOST_ROWS:
            raise _too_many_rows()
        if any(cells[len(headings) :]):
            raise NotATable(f"Row {number} has more cells than there are headings. Give each column a heading.")
        kept.append((number, (cells + [""] * len(headings))[: len(headings)]))
    if not kept:
        raise NotATable("The file has headings and no rows below them.")
    return Table(headings, kept, remarks)


def _neither() -> NotATable:
    return NotATable("The file is neither CSV nor an Excel workbook (xlsx). Save it as one of these.")


def _too_many_rows() -> NotATable:
    return NotATable(
        f"The file has more than {MOST_ROWS:,} rows. Split it, and bring the parts over one after another."
    )


def _of_text(content: bytes, remarks: list[str]) -> Iterator[tuple[int, list[str]]]:
    text = _decoded(content, remarks)
    if "\0" in text:
        raise _neither()
    first, _, rest = text.partition("\n")
    # Excel writes the separator on a line of its own, if it is asked to.
    told = re.fullmatch(r"sep=(.)\r?", first)
    separator = told[1] if told else _separator(text)
    lines = csv.reader(StringIO(rest if told else text, newline=""), delimiter=separator, strict=True)
    # As a spreadsheet counts them: a cell of several lines makes no more rows.
    number = 1 if told else 0
    try:
        for cells in lines:
            number += 1
            yield number, [_one_line(cell) for cell in cells]
    except csv.Error:
        raise NotATable(
            f"Row {number + 1} cannot be read: its quotes do not fit together, or a cell is far too long. Save the file"
            " anew as CSV."
        ) from None


def _decoded(content: bytes, remarks: list[str]) -> str:
    encoding = next((name for mark, name in _MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise NotATable("The file is damaged: its text does not fit its encoding. Save it anew as CSV.") from None
    remarks.append(
        "The file is not in UTF-8 and was read as Windows-1252. Look whether letters such as é and ü are right; if not,"
        " save it as CSV UTF-8."
    )
    return content.decode("cp1252", "replace")


def _separator(text: str) -> str:
    """What stands between the cells: of what may, that which the headings have most of."""
    headings = next((line for line in text.splitlines() if line.strip()), "")
    outside = re.sub(r'"[^"]*"', "", headings)
    return max(_SEPARATORS, key=outside.count)


def _one_line(cell: str) -> str:
    return cell.replace("\r\n", "\n").strip()


def _of_workbook(path: Path, remarks: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The rows of the first sheet that is shown; of a formula, what it came to."""
    library = late("python_calamine")
    try:
        with library.load_workbook(_repacked(path)) as book:
            shown = [one for one in book.sheets_metadata if one.visible == library.SheetVisibleEnum.Visible]
            # A workbook always shows at least one.
            if len(shown) > 1:
                remarks.append(f"The workbook has several sheets; only the first, {shown[0].name}, was read.")
            sheet = book.get_sheet_by_name(shown[0].name if shown else "")
            first = sheet.start[0] if sheet.start else 0
            for number, cells in enumerate(sheet.to_python(), first + 1):
                yield number, [_text_of(cell) for cell in cells]
    except library.PasswordError:
        raise NotATable("The workbook is protected by a password. Save it without one.") from None
    except library.CalamineError:
        raise _damaged() from None
    except BaseException as fault:
        if is_panic(fault):
            raise _damaged() from None
        raise


def _damaged() -> NotATable:
    return NotATable("The workbook is damaged, or is no Excel workbook (xlsx). Open it and save it anew, or as CSV.")


def _repacked(path: Path) -> BytesIO:
    """A workbook whose every part was unpacked within bounds: what is read then is as large as it was counted."""
    packed = BytesIO()
    try:
        with ZipFile(path) as archive, ZipFile(packed, "w", ZIP_STORED) as anew:
            parts = archive.infolist()
            if len(parts) > _MOST_PARTS or sum(part.file_size for part in parts) > _MOST_UNPACKED:
                raise NotATable("The workbook unpacks to far more than it should. Save the sheet by itself, or as CSV.")
            if any(part.flag_bits & 1 for part in parts):
                raise NotATable("The workbook is protected by a password. Save it without one.")
            for name in dict.fromkeys(part.filename for part in parts if part.filename.endswith((".xml", ".rels"))):
                # So much and no more is unpacked, whatever there is.
                content = archive.open(name).read(archive.getinfo(name).file_size)
                if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                    _check_sheet(content)
                anew.writestr(name, content)
    except (BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError, KeyError, RuntimeError):
        raise _damaged() from None
    packed.seek(0)
    return packed


def _check_sheet(content: bytes) -> None:
    """Refuse a sheet whose cells are so far apart that a table of them would not fit into memory."""
    rows, columns, sound = check_extent(content, MOST_ROWS + 100, MOST_COLUMNS)
    if not sound:
        raise _damaged()
    if rows:
        raise _too_many_rows()
    if columns:
        raise NotATable(f"The sheet has cells behind column {MOST_COLUMNS}. Leave out what is not to be brought over.")


def _text_of(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT:
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == _MIDNIGHT else cell.isoformat(sep=" ", timespec="minutes")
    return cell.isoformat() if isinstance(cell, date) else _one_line(str(cell))


_EXACT = 1e15
_MIDNIGHT = datetime.min.time()
