"""Tables of every kind that people bring along: read as they were meant, or refused in words."""

import tracemalloc
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from mainstay.infrastructure.tables import MAX_COLUMNS, MAX_ROWS, UnreadableTable, UploadedTable, read_table
from support import hostile
from support.attachments import PDF, make_office_file, make_zip
from support.images import draw_image
from support.workbooks import make_cell, make_sheet_rows, make_workbook

HEADINGS = ["Name", "City"]
ROWS = [(2, ["Müller & Söhne", "Köln"]), (3, ["Calder; Ltd", "Halifax"])]
TEXT = 'Name,City\r\nMüller & Söhne,Köln\r\n"Calder; Ltd",Halifax\r\n'


def read_bytes(tmp_path: Path, content: bytes) -> UploadedTable:
    path = tmp_path / "brought along"
    path.write_bytes(content)
    return read_table(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_csv_is_read_in_whatever_encoding_it_is_written(tmp_path: Path, encoding: str) -> None:
    found = read_bytes(tmp_path, TEXT.encode(encoding))
    assert (found.headings, found.rows) == (HEADINGS, ROWS)
    assert bool(found.remarks) == (encoding == "cp1252")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_csv_is_read_whatever_stands_between(tmp_path: Path, separator: str) -> None:
    text = f'Name{separator}City\n"a{separator}b"{separator}"say ""hi"""\n'
    assert read_bytes(tmp_path, text.encode()).rows == [(2, [f"a{separator}b", 'say "hi"'])]
    named = f"sep={separator}\nName{separator}City\na{separator}b\n"
    assert read_bytes(tmp_path, named.encode()).rows == [(3, ["a", "b"])]


def test_rows_keep_their_numbers_past_empty_ones_and_cells_of_several_lines(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, b'\n\nName,Notes\n\nA,"one\ntwo"\n , \nB,\n')
    assert (found.headings, found.rows) == (["Name", "Notes"], [(5, ["A", "one\ntwo"]), (7, ["B", ""])])


def test_a_workbook_is_read_with_what_its_formulas_came_to(tmp_path: Path) -> None:
    rows = (
        make_sheet_rows(["Name", "Number", "Rate"])
        + f'<row r="3">{make_cell("A3", "Anna", "A1")}{make_cell("B3", 42)}{make_cell("C3", 1.5)}</row>'
    )
    found = read_bytes(tmp_path, make_workbook(rows, sheets=2))
    assert (found.headings, found.rows) == (["Name", "Number", "Rate"], [(3, ["Anna", "42", "1.5"])])
    assert "only the first, Sheet 1" in str(found.remarks[0])


def _make_rows(count: int) -> list[list[object]]:
    rows: list[list[object]] = [[f"n{number}"] for number in range(count)]
    return [["Name"], *rows]


REFUSED = {
    "nothing": (b"", "is empty"),
    "blanks": (b"\n , \n", "is empty"),
    "headings alone": (b"Name,City\n", "headings but no rows"),
    "more cells than headings": (b"Name\na,b\n", "Row 2 has more cells"),
    "quotes that do not fit": (b'Name\n"a" b\n', "Row 2 can't be read"),
    "a quote that does not end": (b'Name\nx\n"a\n', "Row 3 can't be read"),
    "a cell that is far too long": (b"Name\n" + b"x" * 200_000, "Row 2 can't be read"),
    "a picture": (draw_image(), "is not CSV or an Excel"),
    "a PDF": (PDF, "is not CSV or an Excel"),
    "a page": (b"<!doctype html><table>", "is not CSV or an Excel"),
    "an old or protected workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "password or in the old xls"),
    "an archive": (make_zip(a_txt=b"a"), "damaged, or is not an Excel"),
    "half a workbook": (make_workbook(make_sheet_rows(["Name"], ["A"]))[:300], "damaged"),
    "a text": (make_office_file("word/document.xml"), "damaged, or is not an Excel"),
    "a sheet that is none": (make_workbook("<row"), "damaged"),
    "a sheet with declarations": (
        make_workbook(make_sheet_rows(["Name"], ["A"]), before='<!DOCTYPE a [<!ENTITY b "b">]>'),
        "damaged",
    ),
    "too many columns": (",".join(f"c{n}" for n in range(101)).encode() + b"\n1\n", "more than 100 columns"),
    "utf-16 cut short": (b"\xff\xfea", "damaged"),
    "100,000 rows of CSV": (b"Name\n" + b"a\n" * 100_000, "more than 2000 rows"),
    "a cell very far down": (make_workbook(make_sheet_rows(["A"]) + ('<row'
        f' r="9">{make_cell("A1048576", "x")}</row>')), "more than 2000"),
    "a cell very far to the right": (make_workbook(f'<row r="1">{make_cell("XFD1", "x")}</row>'), "after column 100"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_read_is_told_in_words(tmp_path: Path, what: str) -> None:
    content, message = REFUSED[what]
    with pytest.raises(UnreadableTable, match=message):
        read_bytes(tmp_path, content)


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "a long string that many cells name": (
        lambda: hostile.make_workbook_with_repeated_string(52_000, 3_000_000),
        "Row 1 has a cell of more than 32767 characters",
    ),
    "a string that many cells name": (
        lambda: hostile.make_workbook_with_repeated_string(52_000, 32_000),
        "more than 10 million characters",
    ),
    "a cell that is there many times": (
        lambda: hostile.make_workbook_with_repeated_cell(600_000),
        "much too large when unpacked",
    ),
    "many rows": (lambda: make_workbook(make_sheet_rows(*_make_rows(100_000))), "more than 2000 rows"),
    "many empty cells": (lambda: hostile.make_workbook_with_empty_cells(1_100_000), "much too large when unpacked"),
    "a long cell": (lambda: hostile.make_workbook_with_long_cell(32_768), "Row 2 has a cell of more than 32767"),
    "a row that is further down than its cell says": (
        hostile.make_workbook_with_row_behind_cell,
        "more than 2000 rows",
    ),
    "a row that is named as a cell": (hostile.make_workbook_with_row_named_as_cell, "damaged"),
    "styles with a long format": (
        lambda: hostile.make_workbook_with_long_formats(10_000, 10_000),
        "much too large when unpacked",
    ),
    "many strings": (lambda: hostile.make_workbook_with_strings(1_100_000), "much too large when unpacked"),
    "a directory of many parts": (lambda: hostile.make_archive_with_entries(2_000), "damaged"),
    "a directory with much beside the names": (lambda: hostile.make_archive_with_entries(10, added=16_000), "damaged"),
    "empty lines of CSV": (lambda: b"Name\nA\n" + b"\n" * 200_000, "more than 100000 lines"),
    "a long cell of CSV": (lambda: b"Name\nA\n" + b"x" * 32_768, "Row 3 has a cell of more than 32767"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_becomes_large_is_refused_before_it_is_read(tmp_path: Path, what: str) -> None:
    make, message = HOSTILE[what]
    with pytest.raises(UnreadableTable, match=message):
        read_bytes(tmp_path, make())


@pytest.mark.parametrize(
    "part",
    ["_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/sharedStrings.xml", "xl/styles.xml"],
)
def test_no_part_of_a_workbook_may_declare_anything(tmp_path: Path, part: str) -> None:
    assert read_bytes(tmp_path, hostile.make_workbook_with_declarations("")).rows == [(2, ["Anna"])]
    with pytest.raises(UnreadableTable, match="damaged"):
        read_bytes(tmp_path, hostile.make_workbook_with_declarations(part))


def test_cells_may_be_as_long_as_excel_lets_them_be(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, hostile.make_workbook_with_long_cell(32_767)).rows == [(2, ["x" * 32_767])]
    assert read_bytes(tmp_path, hostile.make_workbook_with_repeated_string(300, 32_767)).rows[-1][0] == 12


def test_only_the_first_sheet_that_is_shown_counts(tmp_path: Path) -> None:
    long = "".join(f"<row>{make_cell(f'A{number}', number)}</row>" for number in range(1, 5_000))
    other = f"<worksheet><sheetData>{long}</sheetData></worksheet>".encode()
    book = make_workbook(make_sheet_rows(["Name"], ["Anna"]), sheets=2, more={"xl/worksheets/sheet2.xml": other})
    assert read_bytes(tmp_path, book).rows == [(2, ["Anna"])]


def test_days_are_counted_as_the_workbook_says(tmp_path: Path) -> None:
    styles = b'<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
    rows = make_sheet_rows(["Day"]) + '<row r="2"><c r="A2" s="1"><v>45000</v></c></row>'
    made = make_workbook(rows, more={"xl/styles.xml": styles})
    assert read_bytes(tmp_path, made).rows == [(2, ["2023-03-15"])]
    later = BytesIO()
    with ZipFile(BytesIO(made)) as before, ZipFile(later, "w") as after:
        for name in before.namelist():
            after.writestr(name, before.read(name).replace(b"<sheets>", b'<workbookPr date1904="1"/><sheets>'))
    assert read_bytes(tmp_path, later.getvalue()).rows == [(2, ["2027-03-16"])]


def test_parts_are_found_where_the_relationships_say(tmp_path: Path) -> None:
    made = BytesIO()
    with ZipFile(BytesIO(make_workbook(make_sheet_rows(["Name"], ["Anna"])))) as before, ZipFile(made, "w") as after:
        for name in before.namelist():
            content = before.read(name).replace(b"worksheets/sheet1.xml", b"/XL/tables/one.xml")
            after.writestr(name.replace("worksheets/sheet1.xml", "tables/one.xml").replace("/", "\\"), content)
    assert read_bytes(tmp_path, made.getvalue()).rows == [(2, ["Anna"])]


def test_as_many_rows_and_columns_as_it_says_are_read(tmp_path: Path) -> None:
    assert len(read_bytes(tmp_path, b"Name\n" + b"a\n" * MAX_ROWS).rows) == MAX_ROWS
    assert len(read_bytes(tmp_path, make_workbook(make_sheet_rows(*_make_rows(MAX_ROWS)))).rows) == MAX_ROWS
    wide = ",".join(f"c{number}" for number in range(MAX_COLUMNS)).encode()
    assert len(read_bytes(tmp_path, wide + b"\n1\n").headings) == MAX_COLUMNS


def test_cells_that_are_only_formatted_count_for_nothing(tmp_path: Path) -> None:
    rows = make_sheet_rows(["Name"], ["A"]) + '<row r="1048576"><c r="A1048576" s="1"/><c r="XFD1048576"/></row>'
    assert read_bytes(tmp_path, make_workbook(rows)).rows == [(2, ["A"])]


def _make_bomb() -> bytes:
    return make_workbook(
        make_sheet_rows(["Name"]), more={"xl/sharedStrings.xml": b"<sst>" + b" " * 200_000_000 + b"</sst>"}
    )


def _understate_size(content: bytes, size: int) -> bytes:
    """The same, saying of its last part that it is smaller."""
    with ZipFile(BytesIO(content)) as archive:
        real = archive.infolist()[-1].file_size
    return content.replace(real.to_bytes(4, "little"), size.to_bytes(4, "little"))


def test_what_unfolds_without_end_is_refused_before_it_does(tmp_path: Path) -> None:
    bomb = _make_bomb()
    for content in (bomb, _understate_size(bomb, 1000)):
        path = tmp_path / "bomb"
        path.write_bytes(content)
        tracemalloc.start()
        with pytest.raises(UnreadableTable):
            read_table(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 50_000_000


def test_a_workbook_that_is_locked_as_an_archive_is_told_so(tmp_path: Path) -> None:
    locked = bytearray(make_workbook(make_sheet_rows(["Name"], ["A"])))
    at = locked.rindex(b"PK\x01\x02")
    locked[at + 8] |= 1
    with pytest.raises(UnreadableTable, match="protected by a password"):
        read_bytes(tmp_path, bytes(locked))
