"""Files that are small and become large or slow when they are read."""

import struct
import zlib
from io import BytesIO
from random import Random
from zipfile import ZipFile

from PIL import Image

from support.images import make_png, make_png_header
from support.workbooks import make_sheet_rows, make_workbook

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_TABLE = make_sheet_rows(["Name"], ["Anna"])
_PIXELS = (b"IDAT", zlib.compress(b"\0\0"))
_END_CHUNK = (b"IEND", b"")


def make_workbook_with_repeated_string(cells: int, length: int) -> bytes:
    """Make a workbook with one long string that so many cells name, 26 in a row."""
    named = [f'<c r="{chr(65 + at % 26)}{at // 26 + 1}" t="s"><v>0</v></c>' for at in range(cells)]
    rows = [f'<row r="{at // 26 + 1}">{"".join(named[at : at + 26])}</row>' for at in range(0, cells, 26)]
    strings = f'<sst xmlns="{_MAIN}"><si><t>{"x" * length}</t></si></sst>'
    return make_workbook("".join(rows), more={"xl/sharedStrings.xml": strings.encode()})


def make_workbook_with_repeated_cell(times: int) -> bytes:
    """Make a workbook with the same cell so many times."""
    cell = '<c r="A3"><v>1</v></c>'
    return make_workbook(f'{_TABLE}<row r="3">{cell * times}</row>')


def make_workbook_with_empty_cells(count: int) -> bytes:
    """Make a workbook with so many cells that are only formatted."""
    return make_workbook(f'{_TABLE}<row r="3">{"<c/>" * count}</row>')


def make_workbook_with_long_cell(length: int) -> bytes:
    """Make a workbook with one cell of so many characters."""
    return make_workbook(make_sheet_rows(["Name"], ["x" * length]))


def make_workbook_with_row_behind_cell() -> bytes:
    """Make a workbook with a cell in the last row, which follows a cell that says it is in the second row."""
    return make_workbook(
        '<row r="1"><c r="A1"><v>1</v></c><c r="CV1"><v>1</v></c></row>'
        '<row r="1048570"><c r="A2"><v>2</v></c></row><row><c><v>3</v></c></row>'
    )


def make_workbook_with_row_named_as_cell() -> bytes:
    """Make a workbook whose last row has a letter before its number."""
    return make_workbook('<row r="1"><c><v>1</v></c></row><row r="A1048576"><c><v>2</v></c></row>')


def make_workbook_with_long_formats(styles: int, length: int) -> bytes:
    """Make a workbook with so many styles, all with one number format of this length."""
    style = '<xf numFmtId="200"/>'
    styles_part = (
        f'<styleSheet xmlns="{_MAIN}"><numFmts><numFmt numFmtId="200" formatCode="{"#" * length}"/></numFmts>'
        f"<cellXfs>{style * styles}</cellXfs></styleSheet>"
    )
    return make_workbook(_TABLE, more={"xl/styles.xml": styles_part.encode()})


def make_workbook_with_strings(count: int) -> bytes:
    """Make a workbook with so many empty shared strings."""
    strings = f'<sst xmlns="{_MAIN}">{"<si/>" * count}</sst>'
    return make_workbook(_TABLE, more={"xl/sharedStrings.xml": strings.encode()})


def make_workbook_with_declarations(part: str) -> bytes:
    """Make a workbook in which this part declares something."""
    buffer = BytesIO()
    whole = make_workbook(_TABLE, more={"xl/styles.xml": b"<styleSheet/>", "xl/sharedStrings.xml": b"<sst/>"})
    with ZipFile(BytesIO(whole)) as before, ZipFile(buffer, "w") as after:
        for name in before.namelist():
            declaration = b'<!DOCTYPE a [<!ENTITY b "b">]>' if name == part else b""
            after.writestr(name, declaration + before.read(name))
    return buffer.getvalue()


def make_archive_with_entries(count: int, added: int = 0) -> bytes:
    """Make an archive whose directory names so many parts, each with so many empty fields added to its name."""
    fields = struct.pack("<HH", 0x9999, 0) * added
    entry = struct.pack("<4s8xHHIIIHHH12x", b"PK\x01\x02", 0, 0, 0, 0, 0, 1, len(fields), 0) + b"a" + fields
    first = b"PK\x03\x04" + bytes(26)
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count & 0xFFFF, count & 0xFFFF, count * len(entry), 30, 0)
    return first + entry * count + end


def make_jpeg_with_repeated_scan(width: int, height: int, scans: int, mode: str = "L") -> bytes:
    """Make a progressive JPEG of one colour whose last scan is in it so many times more."""
    saved = BytesIO()
    Image.new(mode, (width, height), "grey").save(saved, "JPEG", progressive=True)
    content = saved.getvalue()
    scan = content[content.rindex(b"\xff\xda") : -2]
    return content[:-2] + scan * scans + content[-2:]


def make_jpeg_with_segments(count: int, marker: int, data: bytes = b"") -> bytes:
    """Make a JPEG with so many segments of this kind before its picture."""
    saved = BytesIO()
    Image.new("RGB", (40, 30), "white").save(saved, "JPEG")
    segment = struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data
    return saved.getvalue()[:2] + segment * count + saved.getvalue()[2:]


def make_jpeg_with_fill(count: int) -> bytes:
    """Make a JPEG with so many fill bytes before its first segment."""
    saved = BytesIO()
    Image.new("RGB", (40, 30), "white").save(saved, "JPEG")
    return saved.getvalue()[:2] + b"\xff" * count + saved.getvalue()[2:]


def make_png_with_chunks(count: int, kind: bytes, data: bytes = b"") -> bytes:
    """Make a PNG with so many chunks of this kind before its picture."""
    one = make_png((kind, data))[8:]
    return make_png(make_png_header(1, 1)) + one * count + make_png(_PIXELS, _END_CHUNK)[8:]


def make_png_of_two_shades(side: int) -> bytes:
    """Make a PNG whose dots are of two shades that no program can predict: it takes longest to pack."""
    shades = bytes(value & 1 for value in range(256))
    pixels = Random(1).randbytes(side * side * 4).translate(shades)
    saved = BytesIO()
    Image.frombytes("RGBA", (side, side), pixels).save(saved, "PNG", compress_level=1)
    return saved.getvalue()
