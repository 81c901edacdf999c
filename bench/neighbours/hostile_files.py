"""Small files that cost much to read: two workbooks and a photo."""

from collections.abc import Iterator
from functools import cache
from io import BytesIO

from PIL import Image

from support.workbooks import make_workbook

_SHARED_CHARACTERS = 3_000_000
_SHARING_ROWS, _SHARING_COLUMNS = 520, 100
_REPEATS = 3_300_000
_PHOTO_SIZE = (8_000, 6_500)
_SCANS = 500
# Markers of a JPEG: the beginning of a scan, the end of the image, and what may stand within a scan.
_SCAN_MARKER, _END_MARKER, _MARKERS_INSIDE_SCAN = 0xDA, 0xD9, {0x00, *range(0xD0, 0xD8)}


@cache
def make_shared_string_workbook() -> bytes:
    """Make a workbook of about 100 KB in which 52,000 cells name one string of 3 MB."""
    cells = '<c t="s"><v>0</v></c>' * _SHARING_COLUMNS
    text = "a" * _SHARED_CHARACTERS
    strings = f'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>{text}</t></si></sst>'
    return make_workbook(f"<row>{cells}</row>" * _SHARING_ROWS, more={"xl/sharedStrings.xml": strings.encode()})


@cache
def make_repeated_cell_workbook() -> bytes:
    """Make a workbook in which one cell is written 3.3 million times."""
    cells = '<c r="A1"><v>1</v></c>' * _REPEATS
    return make_workbook(f'<row r="1">{cells}</row>')


@cache
def make_many_scans_photo() -> bytes:
    """Make a progressive JPEG of 52 megapixels and 242 KB in which one scan is repeated 500 times."""
    saved = BytesIO()
    Image.new("L", _PHOTO_SIZE, 128).save(saved, "JPEG", progressive=True, optimize=True)
    photo = saved.getvalue()
    *_, (begin, end) = _find_scans(photo)
    return photo[:-2] + photo[begin:end] * _SCANS + photo[-2:]


def make_all() -> None:
    """Make them now, so that this does not take the processor from what is measured."""
    make_shared_string_workbook()
    make_repeated_cell_workbook()
    make_many_scans_photo()


def _find_scans(photo: bytes) -> Iterator[tuple[int, int]]:
    at = 2
    while photo[at + 1] != _END_MARKER:
        begin, marker = at, photo[at + 1]
        at += 2 + int.from_bytes(photo[at + 2 : at + 4], "big")
        if marker == _SCAN_MARKER:
            while photo[at] != 0xFF or photo[at + 1] in _MARKERS_INSIDE_SCAN:
                at += 1
            yield begin, at
