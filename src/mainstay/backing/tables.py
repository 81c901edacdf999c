"""Tables that people bring along, as CSV or XLSX: read into texts within bounds, or refused in words."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from mainstay.backing.table_limits import (
    LONGEST_CELL,
    MOST_COLUMNS,
    MOST_ROWS,
    NotATable,
    cell_too_long,
    too_many_rows,
)
from mainstay.backing.workbooks import read_workbook

__all__ = ["MOST_BYTES", "MOST_COLUMNS", "MOST_ROWS", "NotATable", "Table", "read_table"]

MOST_BYTES = 10_000_000
# Lines of a text, also empty ones.
_MOST_LINES = 100_000
_SEPARATORS = ",;\t|"

_ZIP, _COMPOUND = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
# What looks like text, and is no table.
_OTHERS = {b"%PDF", b"<!do", b"<htm"}
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


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
    read = read_workbook if begins == _ZIP else _read_csv
    rows = ((number, [_one_line(cell) for cell in cells]) for number, cells in read(path.read_bytes(), remarks))
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
            raise too_many_rows()
        if any(cells[len(headings) :]):
            raise NotATable(f"Row {number} has more cells than there are headings. Give each column a heading.")
        kept.append((number, (cells + [""] * len(headings))[: len(headings)]))
    if not kept:
        raise NotATable("The file has headings and no rows below them.")
    return Table(headings, kept, remarks)


def _neither() -> NotATable:
    return NotATable("The file is neither CSV nor an Excel workbook (xlsx). Save it as one of these.")


def _read_csv(content: bytes, remarks: list[str]) -> Iterator[tuple[int, list[str]]]:
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
            if number > _MOST_LINES:
                raise NotATable(f"The file has more than {_MOST_LINES:,} lines. Delete the empty ones, or split it.")
            if max(map(len, cells), default=0) > LONGEST_CELL:
                raise cell_too_long(number)
            yield number, cells
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
    headings = re.search(r"\S[^\r\n]*", text)
    outside = re.sub(r'"[^"]*"', "", headings[0]) if headings else ""
    return max(_SEPARATORS, key=outside.count)


def _one_line(cell: str) -> str:
    return cell.replace("\r\n", "\n").strip()
