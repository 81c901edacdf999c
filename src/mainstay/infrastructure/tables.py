"""Read uploaded tables (CSV or XLSX) into texts within limits, or refuse them with a message."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from mainstay.infrastructure.table_limits import (
    LONGEST_CELL,
    MAX_COLUMNS,
    MAX_ROWS,
    UnreadableTable,
    cell_too_long,
    too_many_rows,
)
from mainstay.infrastructure.workbooks import read_workbook
from mainstay.values.message import DecimalNumber, Message, ShownMessage

__all__ = ["MAX_BYTES", "MAX_COLUMNS", "MAX_ROWS", "UnreadableTable", "UploadedTable", "read_table"]

MAX_BYTES = 10_000_000
# The most lines of a text file, including empty ones.
_MAX_LINES = 100_000
_SEPARATORS = ",;\t|"

_ZIP, _COMPOUND = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
# Beginnings of files that are not tables.
_OTHER_FILE_HEADERS = {b"%PDF", b"<!do", b"<htm"}
_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True, slots=True)
class UploadedTable:
    """The cells of a table as text: its headings, and its rows, each with its number in the file."""

    headings: list[str]
    rows: list[tuple[int, list[str]]]
    # What the uploader should know about how it was read.
    remarks: list[ShownMessage]


def read_table(path: Path) -> UploadedTable:
    """Read the table of a file, whose type is found from its content."""
    with path.open("rb") as file:
        header = file.read(4)
    if header in _OTHER_FILE_HEADERS:
        raise _unsupported_file()
    if header == _COMPOUND:
        raise UnreadableTable(
            Message(
                "The file is protected by a password or in the old xls format. Save it as an Excel workbook (xlsx)"
                " without a password, or as CSV."
            )
        )
    remarks: list[ShownMessage] = []
    read_rows = read_workbook if header == _ZIP else _read_csv
    rows = ((number, [_clean_cell(cell) for cell in cells]) for number, cells in read_rows(path.read_bytes(), remarks))
    return _build_table(rows, remarks)


def _build_table(rows: Iterator[tuple[int, list[str]]], remarks: list[ShownMessage]) -> UploadedTable:
    filled = ((number, cells) for number, cells in rows if any(cells))
    _, headings = next(filled, (0, []))
    if not headings:
        raise UnreadableTable(Message("The file is empty. The first row must have the column headings."))
    if len(headings) > MAX_COLUMNS:
        raise UnreadableTable(
            Message("The file has more than {limit} columns. Remove the columns you don't need.", limit=MAX_COLUMNS)
        )
    kept: list[tuple[int, list[str]]] = []
    for number, cells in filled:
        if len(kept) == MAX_ROWS:
            raise too_many_rows()
        if any(cells[len(headings) :]):
            raise UnreadableTable(
                Message("Row {row} has more cells than the headings. Give each column a heading.", row=number)
            )
        kept.append((number, (cells + [""] * len(headings))[: len(headings)]))
    if not kept:
        raise UnreadableTable(Message("The file has headings but no rows."))
    return UploadedTable(headings, kept, remarks)


def _unsupported_file() -> UnreadableTable:
    return UnreadableTable(Message("The file is not CSV or an Excel workbook (xlsx). Save it as one of these."))


def _read_csv(content: bytes, remarks: list[ShownMessage]) -> Iterator[tuple[int, list[str]]]:
    text = _decode(content, remarks)
    if "\0" in text:
        raise _unsupported_file()
    first, _, rest = text.partition("\n")
    # Excel can write the separator on a line of its own.
    declared = re.fullmatch(r"sep=(.)\r?", first)
    separator = declared[1] if declared else _find_separator(text)
    lines = csv.reader(StringIO(rest if declared else text, newline=""), delimiter=separator, strict=True)
    # Counted as in a spreadsheet: a cell of several lines is still one row.
    number = 1 if declared else 0
    try:
        for cells in lines:
            number += 1
            if number > _MAX_LINES:
                raise UnreadableTable(
                    Message(
                        "The file has more than {limit} lines. Delete empty lines, or split the file.",
                        limit=DecimalNumber(str(_MAX_LINES)),
                    )
                )
            if max(map(len, cells), default=0) > LONGEST_CELL:
                raise cell_too_long(number)
            yield number, cells
    except csv.Error:
        raise UnreadableTable(
            Message(
                "Row {row} can't be read: its quotes don't match, or a cell is much too long. Save the file as CSV"
                " again.",
                row=number + 1,
            )
        ) from None


def _decode(content: bytes, remarks: list[ShownMessage]) -> str:
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise UnreadableTable(
                Message("The file is damaged: its text doesn't match its encoding. Save it as CSV again.")
            ) from None
    remarks.append(
        Message(
            "The file is not in UTF-8 and was read as Windows-1252. Check that letters such as é and ü are right. If"
            " not, save it as CSV UTF-8."
        )
    )
    return content.decode("cp1252", "replace")


def _find_separator(text: str) -> str:
    """Return the separator of the cells: the candidate that occurs most often in the headings."""
    headings = re.search(r"\S[^\r\n]*", text)
    outside = re.sub(r'"[^"]*"', "", headings[0]) if headings else ""
    return max(_SEPARATORS, key=outside.count)


def _clean_cell(cell: str) -> str:
    return cell.replace("\r\n", "\n").strip()
